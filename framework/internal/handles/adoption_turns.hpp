// Turns of the adoptions that one peer is asked for.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal::handles {

/// Several peers may have offered adoptions from one peer. Lets these offerers take turns, and limits how many
/// adoptions are asked at a time.
class adoption_turns {
public:
  struct bounds {
    std::size_t asked = 1024;           // In all.
    std::size_t asked_of_offerer = 128; // Of one offerer's link, so that no offerer takes all places.
  };

  explicit adoption_turns(bounds allowed) : allowed_(allowed) {}

  /// Queues the entry, offered over the link `offerer`.
  void queue(reference what, link_number offerer);
  /// Requires: the entry is queued.
  void leave(reference what, link_number offerer);

  struct turn {
    reference what;
    link_number offerer = 0;
  };
  /// Takes the next queued entry, which counts as asked from now on. Returns nullopt if none may be asked now.
  [[nodiscard]] std::optional<turn> next();
  /// An asked adoption has its answer, or was given up.
  void end(link_number offerer);

  [[nodiscard]] bool is_queued(reference what, link_number offerer) const;
  [[nodiscard]] std::vector<reference> queued() const;
  [[nodiscard]] std::size_t asked() const noexcept { return asked_; }
  /// Whether nothing is queued and nothing is asked.
  [[nodiscard]] bool empty() const noexcept { return offerers_.empty(); }
  /// Whether next() returns a turn.
  [[nodiscard]] bool has_next() const noexcept { return asked_ < allowed_.asked && !ready_.empty(); }
  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  struct row {
    std::size_t asked = 0;
    std::set<reference> queued;
  };

  void see(link_number offerer); // Called whenever the offerer's row changes.

  const bounds allowed_;
  std::map<link_number, row> offerers_;
  std::set<link_number> ready_; // Offerers that have entries queued and may have more asked.
  link_number last_ = 0;        // The offerer that had the last turn.
  std::size_t asked_ = 0;
};

} // namespace troupe::internal::handles
