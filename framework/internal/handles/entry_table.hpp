// The table of objects to which a node has handles.
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

/// Numbers the objects to which a node has handles. Each has a row as long as it is wanted.
///
/// No row is freed within an event. A row that may have become unwanted, lost or unanswerable is touched, and examined
/// when the event ends.
class entry_table {
public:
  entry_table(local_objects& objects, const event_clock& clock) : objects_(objects), clock_(clock) {}
  entry_table(const entry_table&) = delete;
  entry_table& operator=(const entry_table&) = delete;

  [[nodiscard]] reference make(entry_state state);
  /// Adds a reference to an object of this host, which is held from now on. Requires: something keeps the object alive
  /// at this moment.
  [[nodiscard]] reference refer_to(const object_id& place);
  /// Null if the entry is free.
  [[nodiscard]] entry* find(reference what);
  [[nodiscard]] const entry* find(reference what) const;
  /// Requires: the entry is not free. The members below that change an entry require the same.
  [[nodiscard]] entry& at(reference what);
  [[nodiscard]] const entry& at(reference what) const;
  /// Follows moved entries. The result is not `moved`.
  [[nodiscard]] reference resolve(reference what) const;
  void enter(reference what, entry_state next); // The only writer of entry::state.

  // -- references and dependents

  void refer(reference what) { ++at(what).references; }
  void unrefer(reference what);
  void depend(reference what) { ++at(what).dependents; }
  void undepend(reference what);
  /// Has the entry examined when the event ends. Must be called whenever something that the entry needs may have gone.
  void touch(reference what);
  /// Takes the next touched entry, which may be free by now.
  [[nodiscard]] std::optional<reference> take_touched();
  [[nodiscard]] bool has_touched() const noexcept { return !touched_.empty(); }

  // -- moving

  /// The entry becomes `target`; the caller's one reference to `target` becomes a dependent.
  void move(reference what, reference target);
  /// The entries that have moved to `target`.
  [[nodiscard]] std::vector<reference> moved_to(reference target) const;

  /// Frees the row. Requires: the entry is not wanted, and has released everything else.
  void free(reference what);

  // -- iteration

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(rows_.size()); }
  /// The row, in use or free.
  [[nodiscard]] const entry& row(std::uint32_t index) const { return rows_[index]; }
  [[nodiscard]] reference reference_of(std::uint32_t index) const { return {index, rows_[index].generation}; }
  template <class Visitor>
  void for_each(Visitor visit) const { // Visits rows in use.
    for (std::uint32_t index = 0; index < size(); ++index)
      if (rows_[index].state != entry_state::free)
        visit(reference_of(index), rows_[index]);
  }
  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  void shrink();

  local_objects& objects_;
  const event_clock& clock_;
  std::deque<entry> rows_;                // A deque, since entries are made while references to others are in use.
  std::set<std::uint32_t> free_;          // The lowest is used first, so that long-lived rows gather at the beginning.
  std::uint32_t first_generation_ = 1;    // Greater than the generation of any removed row.
  std::vector<reference> touched_;        // Examined from the back.
  std::map<object_id, reference> places_; // Of local objects only; replicas are not looked up.
  std::set<std::pair<reference, reference>> moved_to_; // (target, moved entry).
};

} // namespace troupe::internal::handles
