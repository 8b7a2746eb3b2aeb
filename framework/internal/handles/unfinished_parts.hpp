// This node's own objects that capture objects that are not here yet.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/books.hpp>

namespace troupe::internal::handles {

/// Some objects are put before all objects that they capture are here. For each of them, keeps references to the
/// captured objects, so that the object can be finished when they have come.
class unfinished_parts {
public:
  explicit unfinished_parts(books& of) : actions_(of.actions), entries_(of.entries) {}

  /// Adds such an object, with one reference to it.
  [[nodiscard]] reference add(std::uint64_t size_bytes, std::span<const reference> captured);
  /// The object is here, lost, or no longer wanted.
  void forget_parts(reference what);

  [[nodiscard]] bool contains(reference what) const;
  /// The total size of the objects.
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// Why one of the captured objects is lost; null if none is.
  [[nodiscard]] const fetch_error* lost_part(reference what) const;
  /// Has the objects that capture `part` examined when the event ends.
  void touch_outer_of(reference part);

  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  action_list& actions_;
  entry_table& entries_;
  std::set<std::pair<reference, reference>> part_of_; // (part, object that captures it).
  std::uint64_t size_bytes_ = 0;
};

} // namespace troupe::internal::handles
