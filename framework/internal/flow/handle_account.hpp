// What lies behind handles that were sent and are not consumed: each object once, however often it is mentioned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include <troupe/store/object_id.hpp>

namespace troupe::internal {

// Objects have the ids of the store in which they lie; those of other stores are known by the node's own references, in
// ids of store 0. An id of all zeros is that of nothing.
[[nodiscard]] inline bool is_named(const store::object_id& which) noexcept {
  return which != store::object_id{};
}

/// Objects that lie behind handles to more than one receiver of a link: the link counts each once.
class shared_objects {
public:
  /// One more receiver's. Gives what the link counts more: nothing, unless it is the first.
  std::uint64_t add(const store::object_id& which, std::uint64_t bytes);
  /// One fewer. Gives what the link counts less: nothing, unless it was the last.
  std::uint64_t remove(const store::object_id& which);

  /// True where the object counts with `bytes` or more.
  [[nodiscard]] bool has(const store::object_id& which, std::uint64_t bytes) const;

  void clear() { objects_.clear(); }

private:
  struct entry {
    std::size_t receivers = 0;
    std::uint64_t bytes = 0;
  };

  std::unordered_map<store::object_id, entry> objects_;
};

/// What lies behind handles that one receiver was sent. An object counts from the first message that mentions it until
/// the last one that does has been consumed. The peer says how many bytes were consumed, not which: they are taken to be
/// those that were sent first. Where the receiver consumes in another order, an object may count twice, or not while a
/// later message mentions it; the sum is always what the peer has not consumed.
///
/// Pure. Threads: one.
class handle_account {
public:
  /// Of which objects count for the link already.
  explicit handle_account(shared_objects& of_link) : of_link_(of_link) {}

  /// True where the object counts with `bytes` or more.
  [[nodiscard]] bool has(const store::object_id& which, std::uint64_t bytes) const;

  /// Bytes that belong to one message alone. Gives what the link counts more.
  std::uint64_t add(std::uint64_t bytes);
  /// Of an object. Gives what the link counts more. Where less of it counts already, these are bytes of their own.
  std::uint64_t add(const store::object_id& which, std::uint64_t bytes);

  /// So much was consumed. Requires: no more than `bytes()`. Gives what the link counts less.
  std::uint64_t consume(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
  struct entry {
    store::object_id which; // Nothing: bytes of messages' own.
    std::uint64_t left = 0;
  };

  shared_objects& of_link_;
  std::deque<entry> entries_; // As they were sent.
  std::unordered_map<store::object_id, std::uint64_t> counted_; // So many bytes.
  std::uint64_t bytes_ = 0;
};

} // namespace troupe::internal
