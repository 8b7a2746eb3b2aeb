// What one peer is asked to send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include <troupe/framework/internal/handles/actions.hpp>

namespace troupe::internal::handles {

/// Bounds the pulls from one source, to fewer where it has been too busy for more lately.
class pull_turns {
public:
  explicit pull_turns(std::size_t allowed) : allowed_(allowed), room_for_(allowed) {}

  /// Who has the lowest turn begins first.
  void queue(std::uint64_t turn, reference what) { queued_.emplace(turn, what); }
  void leave(std::uint64_t turn) { queued_.erase(turn); }
  /// Who begins, and counts from now on. Nothing while there is no room.
  [[nodiscard]] std::optional<reference> next();
  /// One of those who have begun does not count any more.
  void end() { --asked_; }

  /// The source had as many as it has now when it was too busy for one more.
  void was_busy();
  /// One has brought its bytes.
  void went_well();
  /// Twice as many are tried after a while, if all are in use: those under way may wait for something slow.
  void try_more();
  /// Whether somebody waits whom try_more() may help.
  [[nodiscard]] bool is_held_back() const noexcept { return !queued_.empty() && room_for_ < allowed_; }

  [[nodiscard]] std::size_t asked() const noexcept { return asked_; }
  [[nodiscard]] bool empty() const noexcept { return queued_.empty() && asked_ == 0; }
  [[nodiscard]] bool is_queued(std::uint64_t turn) const { return queued_.contains(turn); }
  /// Whether next() has one.
  [[nodiscard]] bool has_next() const noexcept { return asked_ < room_for_ && !queued_.empty(); }
  /// The first invariant that does not hold; empty when all do.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  const std::size_t allowed_;
  std::map<std::uint64_t, reference> queued_; // By turn.
  std::size_t asked_ = 0;
  std::size_t room_for_;
};

} // namespace troupe::internal::handles
