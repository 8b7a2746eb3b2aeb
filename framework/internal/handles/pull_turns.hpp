// Turns of the pulls from one source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include <troupe/framework/internal/handles/actions.hpp>

namespace troupe::internal::handles {

/// Limits the pulls from one source. If the source is too busy, the limit shrinks; later it grows again.
class pull_turns {
public:
  explicit pull_turns(std::size_t allowed) : allowed_(allowed), room_for_(allowed) {}

  /// Queues a pull. Pulls with lower turns begin first.
  void queue(std::uint64_t turn, reference what) { queued_.emplace(turn, what); }
  void leave(std::uint64_t turn) { queued_.erase(turn); }
  /// The next pull to begin, which counts from now on. Returns nullopt if none may begin now.
  [[nodiscard]] std::optional<reference> next();
  /// A pull that has begun no longer counts.
  void end() { --asked_; }

  /// The source was too busy for one more pull. Limits the pulls to those that it has now, at least 1.
  void was_busy();
  /// A pull has brought its bytes. Raises the limit by one, at most to `allowed`.
  void went_well();
  /// If the limit is used up, doubles it, at most to `allowed`, because the running pulls may wait for something slow.
  void try_more();
  /// Whether pulls are queued that try_more() could let begin.
  [[nodiscard]] bool is_held_back() const noexcept { return !queued_.empty() && room_for_ < allowed_; }

  [[nodiscard]] std::size_t asked() const noexcept { return asked_; }
  [[nodiscard]] bool empty() const noexcept { return queued_.empty() && asked_ == 0; }
  [[nodiscard]] bool is_queued(std::uint64_t turn) const { return queued_.contains(turn); }
  /// Whether next() returns a pull.
  [[nodiscard]] bool has_next() const noexcept { return asked_ < room_for_ && !queued_.empty(); }
  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  const std::size_t allowed_;
  std::map<std::uint64_t, reference> queued_; // By turn.
  std::size_t asked_ = 0;
  std::size_t room_for_;
};

} // namespace troupe::internal::handles
