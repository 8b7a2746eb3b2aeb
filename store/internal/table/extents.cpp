#include <troupe/store/internal/table/extents.hpp>

#include <boost/intrusive/treap_algorithms.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::store::internal {

namespace {

/// Tells Boost.Intrusive how nodes in shared memory are linked.
struct extent_traits {
  using node = extent_node;
  using node_ptr = boost::interprocess::offset_ptr<extent_node>;
  using const_node_ptr = boost::interprocess::offset_ptr<const extent_node>;

  static node_ptr get_parent(const const_node_ptr& n) { return n->parent; }
  static void set_parent(const node_ptr& n, const node_ptr& parent) { n->parent = parent; }
  static node_ptr get_left(const const_node_ptr& n) { return n->left; }
  static void set_left(const node_ptr& n, const node_ptr& left) { n->left = left; }
  static node_ptr get_right(const const_node_ptr& n) { return n->right; }
  static void set_right(const node_ptr& n, const node_ptr& right) { n->right = right; }
};

using tree = boost::intrusive::treap_algorithms<extent_traits>;
using node_ptr = extent_traits::node_ptr;
using const_node_ptr = extent_traits::const_node_ptr;

constexpr auto lower_offset = [](const const_node_ptr& a, const const_node_ptr& b) { return a->offset < b->offset; };

/// Longer pieces first. Equal pieces are ordered by a scrambled offset, so that many of them do not form a chain.
constexpr auto longer = [](const const_node_ptr& a, const const_node_ptr& b) {
  if (a->length != b->length)
    return a->length > b->length;
  return a->offset * 0x9e3779b97f4a7c15u > b->offset * 0x9e3779b97f4a7c15u;
};

} // namespace

void extent_map::clear() {
  auto& header = view_.header();
  tree::init_header(node_ptr(&header.extents));
  header.nodes_used = 0;
  header.first_free_node = no_row;
  header.data_top = 0;
}

std::optional<std::uint64_t> extent_map::allocate(std::uint64_t length) {
  assert(length > 0);
  assert(length % alignment_bytes == 0);
  auto& header = view_.header();
  if (auto* found = first_fit(length)) {
    const auto offset = found->offset;
    const auto rest = found->length - length;
    erase(*found);
    if (rest > 0)
      insert(offset + length, rest);
    return offset;
  }
  if (header.capacity_bytes - header.data_top < length)
    return std::nullopt;
  const auto offset = header.data_top;
  header.data_top += length;
  return offset;
}

void extent_map::release(std::uint64_t offset, std::uint64_t length) {
  assert(length > 0);
  assert(offset + length <= view_.header().data_top);
  auto* next = first_not_before(offset);
  extent_node* before = nullptr;
  const auto header = node_ptr(&view_.header().extents);
  if (header->parent) { // The tree is not empty.
    auto at = next == nullptr ? header->right : node_ptr(next);
    if (next != nullptr)
      at = node_ptr(next) == header->left ? node_ptr() : tree::prev_node(at);
    before = at.get();
  }
  if (next != nullptr && next->offset == offset + length) {
    length += next->length;
    erase(*next);
  }
  if (before != nullptr && before->offset + before->length == offset) {
    offset = before->offset;
    length += before->length;
    erase(*before);
  }
  if (offset + length == view_.header().data_top)
    view_.header().data_top = offset;
  else
    insert(offset, length);
}

void extent_map::occupy(std::uint64_t offset, std::uint64_t length) {
  auto& header = view_.header();
  assert(offset >= header.data_top);
  if (offset > header.data_top)
    insert(header.data_top, offset - header.data_top);
  header.data_top = offset + length;
}

std::uint64_t extent_map::longest() const {
  const auto& header = view_.header();
  const auto rest = header.capacity_bytes - header.data_top;
  return header.extents.parent ? std::max(rest, header.extents.parent->length) : rest;
}

// There are always enough nodes. Every free piece in a node lies directly before an object, and there are as many nodes
// as committed object rows.
extent_node& extent_map::take_node() {
  auto& header = view_.header();
  if (header.first_free_node != no_row) {
    auto& node = view_.node(header.first_free_node);
    header.first_free_node = node.next_free;
    return node;
  }
  assert(header.nodes_used < header.objects.committed.load());
  return view_.node(header.nodes_used++);
}

void extent_map::return_node(extent_node& node) {
  node.next_free = view_.header().first_free_node;
  view_.header().first_free_node = view_.index_of(node);
}

void extent_map::insert(std::uint64_t offset, std::uint64_t length) {
  auto& node = take_node();
  node.offset = offset;
  node.length = length;
  tree::init(node_ptr(&node));
  tree::insert_equal_upper_bound(node_ptr(&view_.header().extents), node_ptr(&node), lower_offset, longer);
}

void extent_map::erase(extent_node& node) {
  tree::erase(node_ptr(&view_.header().extents), node_ptr(&node), longer);
  return_node(node);
}

extent_node* extent_map::first_fit(std::uint64_t length) const {
  auto at = view_.header().extents.parent;
  if (!at || at->length < length)
    return nullptr;
  while (at->left && at->left->length >= length)
    at = at->left;
  return at.get();
}

extent_node* extent_map::first_not_before(std::uint64_t offset) const {
  extent_node* found = nullptr;
  for (auto at = view_.header().extents.parent; at;) {
    if (at->offset >= offset) {
      found = at.get();
      at = at->left;
    } else {
      at = at->right;
    }
  }
  return found;
}

extent_node* extent_map::next_of(extent_node* node) const {
  const auto header = node_ptr(&view_.header().extents);
  const auto next = tree::next_node(node_ptr(node));
  return next == header ? nullptr : next.get();
}

} // namespace troupe::store::internal
