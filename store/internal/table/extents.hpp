// Free room in the data file: lowest address first, so that touched pages are used again before cold ones.
//
// A tree ordered by offset in which the longest piece is on top of each subtree (a treap with the length as its
// priority), so that the lowest piece that is long enough is found on one way down. All of it is derived.
#pragma once

#include <troupe/store/internal/table/table_held.hpp>

#include <optional>

namespace troupe::store::internal {

/// Gives out pieces of the data file. Requires for every call: lengths are multiples of alignment_bytes and not 0.
class extent_map {
public:
  explicit extent_map(table_held held) : view_(held.view()) {}

  /// Forgets everything: all of the data file is free.
  void clear();

  /// Takes the lowest piece of that length. Gives its offset, or nothing when no piece is long enough.
  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t length);

  /// Gives a piece back. Requires: it was allocated.
  void release(std::uint64_t offset, std::uint64_t length);

  /// Rebuilding: the extent [offset, offset + length) is in use, and all before it was named already.
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
