// Free room in the data file. The lowest addresses are allocated first, so that touched pages are reused before cold
// ones.
//
// The free pieces form a tree that is ordered by offset and has the longest piece on top of each subtree (a treap with
// the length as its priority). Thus one descent finds the lowest piece that is long enough. All of it is derived.
#pragma once

#include <troupe/store/internal/table/table_held.hpp>

#include <optional>

namespace troupe::store::internal {

/// Allocates pieces of the data file. Requires for every call: lengths are multiples of alignment_bytes and not 0.
class extent_map {
public:
  explicit extent_map(table_held held) : view_(held.view()) {}

  /// Makes the whole data file free.
  void clear();

  /// Allocates the lowest piece of that length. Returns its offset, or nullopt if no piece is long enough.
  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t length);

  /// Frees a piece. Requires: it was allocated.
  void release(std::uint64_t offset, std::uint64_t length);

  /// For rebuilding: marks [offset, offset + length) as in use. Requires: extents are passed in ascending order.
  void occupy(std::uint64_t offset, std::uint64_t length);

  /// Length of the longest free piece.
  [[nodiscard]] std::uint64_t longest() const;

  /// Calls `visit(offset, length)` for the free pieces in nodes, in order.
  template <class Visit>
  void for_each(Visit visit) const;

private:
  [[nodiscard]] extent_node& take_node();
  void return_node(extent_node& node);
  void insert(std::uint64_t offset, std::uint64_t length);
  void erase(extent_node& node);
  [[nodiscard]] extent_node* first_fit(std::uint64_t length) const;
  [[nodiscard]] extent_node* first_not_before(std::uint64_t offset) const;
  [[nodiscard]] extent_node* next_of(extent_node* node) const;

  control_view view_;
};

template <class Visit>
void extent_map::for_each(Visit visit) const {
  for (auto* node = first_not_before(0); node != nullptr; node = next_of(node))
    visit(node->offset, node->length);
}

} // namespace troupe::store::internal
