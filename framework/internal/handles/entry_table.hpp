// The rows of what a node has handles to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/entry.hpp>
#include <troupe/framework/internal/handles/event_clock.hpp>
#include <troupe/framework/internal/handles/local_objects.hpp>

namespace troupe::internal::handles {

/// Numbers the objects that a node has handles to; each has its row as long as something wants it.
///
/// Within an event no row goes: what may have become unwanted, lost or unanswerable is touched, and looked at when the
/// event ends.
class entry_table {
public:
  entry_table(local_objects& objects, const event_clock& clock) : objects_(objects), clock_(clock) {}
  entry_table(const entry_table&) = delete;
  entry_table& operator=(const entry_table&) = delete;

  [[nodiscard]] reference make(entry_state state);
  /// One more reference to an object of this host, which is held from now on.
  /// Requires: something keeps the object at this moment.
  [[nodiscard]] reference refer_to(const object_id& place);
  /// Null where it is free.
  [[nodiscard]] entry* find(reference what);
  [[nodiscard]] const entry* find(reference what) const;
  /// Requires: it is not free; so below.
  [[nodiscard]] entry& at(reference what);
  [[nodiscard]] const entry& at(reference what) const;
  /// Follows where entries have moved. The result is not `moved`.
  [[nodiscard]] reference resolve(reference what) const;
  void enter(reference what, entry_state next); // The only writer of entry::state.

  // -- what wants them

  void refer(reference what) { ++at(what).references; }
  void unrefer(reference what);
  void depend(reference what) { ++at(what).dependents; }
  void undepend(reference what);
  /// Has it looked at when the event ends. To be called wherever something that an entry needs may have gone.
  void touch(reference what);
  /// The next of those; it may be free by now.
  [[nodiscard]] std::optional<reference> take_touched();
  [[nodiscard]] bool has_touched() const noexcept { return !touched_.empty(); }

  // -- where they are

  /// The entry is `target` from now on, whose one reference of the caller becomes a dependent.
  void move(reference what, reference target);
  /// Those that have moved to it.
  [[nodiscard]] std::vector<reference> moved_to(reference target) const;

  /// Nothing wants the entry any more, and it has let go of all else.
  void free(reference what);

  // -- looking at all of them

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(rows_.size()); }
  /// In use or not.
  [[nodiscard]] const entry& row(std::uint32_t index) const { return rows_[index]; }
  [[nodiscard]] reference reference_of(std::uint32_t index) const { return {index, rows_[index].generation}; }
  template <class Visitor>
  void for_each(Visitor visit) const { // Of those in use.
    for (std::uint32_t index = 0; index < size(); ++index)
      if (rows_[index].state != entry_state::free)
        visit(reference_of(index), rows_[index]);
  }
  /// The first invariant that does not hold; empty when all do.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  void shrink();

  local_objects& objects_;
  const event_clock& clock_;
  std::deque<entry> rows_;                // A deque, since entries are made while others are being looked at.
  std::set<std::uint32_t> free_;          // The first is used next, so that what lasts gathers at the beginning.
  std::uint32_t first_generation_ = 1;    // Greater than that of any row that is gone.
  std::vector<reference> touched_;        // The last is looked at first.
  std::map<object_id, reference> places_; // Of local objects; replicas are not looked for.
  std::set<std::pair<reference, reference>> moved_to_; // First where to.
};

} // namespace troupe::internal::handles
