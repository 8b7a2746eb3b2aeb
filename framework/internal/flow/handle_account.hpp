// The bytes behind handles that were sent and are not consumed. Each object counts once, however often it is mentioned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include <troupe/store/object_id.hpp>

namespace troupe::internal {

// An object has the id of its own store. For an object of another store, the node's own references give ids, with store
// 0. The id of all zeros names no object.
[[nodiscard]] inline bool is_named(const store::object_id& which) noexcept {
  return which != store::object_id{};
}

/// Objects behind handles to several receivers of a link. The link counts each object once.
class shared_objects {
public:
  /// Adds a receiver of the object. Returns by how much the link's count grows: 0 unless this is the first receiver.
  std::uint64_t add(const store::object_id& which, std::uint64_t bytes);
  /// Removes a receiver. Returns by how much the link's count shrinks: 0 unless this was the last receiver.
  std::uint64_t remove(const store::object_id& which);

  /// Whether the object counts with at least `bytes`.
  [[nodiscard]] bool has(const store::object_id& which, std::uint64_t bytes) const;

  void clear() { objects_.clear(); }

private:
  struct entry {
    std::size_t receivers = 0;
    std::uint64_t bytes = 0;
  };

  std::unordered_map<store::object_id, entry> objects_;
};

/// The bytes behind handles that were sent to one receiver. An object counts from the first message that mentions it
/// until the last such message is consumed. The peer tells how many bytes were consumed, but not of which objects, so
/// they are assumed to be those that were sent first. If the receiver consumes in another order, an object may count
/// twice, or not at all while a later message mentions it. The sum is always what the peer has not consumed.
///
/// Pure. Threads: one.
class handle_account {
public:
  /// `of_link` has the objects that already count for the link.
  explicit handle_account(shared_objects& of_link) : of_link_(of_link) {}

  /// Whether the object counts with at least `bytes`.
  [[nodiscard]] bool has(const store::object_id& which, std::uint64_t bytes) const;

  /// Adds bytes of a single message. Returns by how much the link's count grows.
  std::uint64_t add(std::uint64_t bytes);
  /// Adds an object. Returns by how much the link's count grows. If the object already counts with fewer bytes, all of
  /// `bytes` count as the message's own.
  std::uint64_t add(const store::object_id& which, std::uint64_t bytes);

  /// Subtracts consumed bytes. Requires: no more than `bytes()`. Returns by how much the link's count shrinks.
  std::uint64_t consume(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
  struct entry {
    store::object_id which; // Empty: messages' own bytes.
    std::uint64_t left = 0;
  };

  shared_objects& of_link_;
  std::deque<entry> entries_;                                   // In the order of sending.
  std::unordered_map<store::object_id, std::uint64_t> counted_; // The bytes with which each object counts.
  std::uint64_t bytes_ = 0;
};

} // namespace troupe::internal
