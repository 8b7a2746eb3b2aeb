// Objects of this node's own that capture what is not here.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/books.hpp>

namespace troupe::internal::handles {

/// Keeps what an object captures that is put before all of that is here, so that it can be finished when that has come.
class unfinished_parts {
public:
  explicit unfinished_parts(books& of) : actions_(of.actions), entries_(of.entries) {}

  /// One reference to it.
  [[nodiscard]] reference add(std::uint64_t size_bytes, std::span<const reference> captured);
  /// It is here, lost, or not wanted any more.
  void forget_parts(reference what);

  [[nodiscard]] bool contains(reference what) const;
  /// Of all that it keeps.
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// Of which one is lost: why it is.
  [[nodiscard]] const fetch_error* lost_part(reference what) const;
  /// Those that capture it are looked at when the event ends.
  void touch_outer_of(reference part);

  /// The first invariant that does not hold; empty when all do.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  action_list& actions_;
  entry_table& entries_;
  std::set<std::pair<reference, reference>> part_of_; // First the part.
  std::uint64_t size_bytes_ = 0;
};

} // namespace troupe::internal::handles
