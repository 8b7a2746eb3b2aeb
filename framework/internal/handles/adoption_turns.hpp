// What one peer is asked to let this node adopt.
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

/// Lets peers that have offered adoptions from one peer take turns in having them asked for, a few at a time.
class adoption_turns {
public:
  struct bounds {
    std::size_t asked = 1024;           // In all, and ...
    std::size_t asked_of_offerer = 128; // ... of what came over one link, so that no offerer takes all.
  };

  explicit adoption_turns(bounds allowed) : allowed_(allowed) {}

  /// It waits for its turn among what came over the link `offerer`.
  void queue(reference what, link_number offerer);
  /// Requires: it waits.
  void leave(reference what, link_number offerer);

  struct turn {
    reference what;
    link_number offerer = 0;
  };
  /// Whose turn it is, which counts as asked from now on. Nothing while there is no room.
  [[nodiscard]] std::optional<turn> next();
  /// One that was asked has its answer, or is given up.
  void end(link_number offerer);

  [[nodiscard]] bool is_queued(reference what, link_number offerer) const;
  [[nodiscard]] std::vector<reference> queued() const;
  [[nodiscard]] std::size_t asked() const noexcept { return asked_; }
  /// Nobody waits, and nothing is asked.
  [[nodiscard]] bool empty() const noexcept { return offerers_.empty(); }
  /// Whether next() has one.
  [[nodiscard]] bool has_next() const noexcept { return asked_ < allowed_.asked && !ready_.empty(); }
  /// The first invariant that does not hold; empty when all do.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  struct row {
    std::size_t asked = 0;
    std::set<reference> queued;
  };

  void see(link_number offerer); // To be called whenever its row changes.

  const bounds allowed_;
  std::map<link_number, row> offerers_;
  std::set<link_number> ready_; // Those that have something queued, and may ask for more.
  link_number last_ = 0;        // Whose turn it was.
  std::size_t asked_ = 0;
};

} // namespace troupe::internal::handles
