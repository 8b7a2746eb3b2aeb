// What lies behind handles that were sent and are not consumed: each object once, however often it is mentioned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include <troupe/framework/base/salted_hash.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::internal {

/// What an end knows an object by, as long as messages that mention it are under way. All zero: nothing.
struct object_key {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  friend bool operator==(const object_key&, const object_key&) = default;
  [[nodiscard]] explicit operator bool() const noexcept { return first != 0 || second != 0; }
};

/// Of one in the store. Others have keys that begin with 0, which no store is numbered.
[[nodiscard]] inline object_key key_of(const store::object_id& stored) {
  return {stored.store, std::uint64_t{stored.index} << 32 | stored.generation};
}

struct object_key_hash {
  std::size_t operator()(const object_key& key) const {
    constexpr detail::salted_hash hash;
    return hash(hash(key.first) ^ key.second);
  }
};

/// Objects that lie behind handles to more than one receiver of a link: the link counts each once.
class shared_objects {
public:
  /// One more receiver's. Gives what the link counts more: nothing, unless it is the first.
  std::uint64_t add(const object_key& which, std::uint64_t bytes);
  /// One fewer. Gives what the link counts less: nothing, unless it was the last.
  std::uint64_t remove(const object_key& which);

  /// True where the object counts with `bytes` or more.
  [[nodiscard]] bool has(const object_key& which, std::uint64_t bytes) const;

  void clear() { objects_.clear(); }

private:
  struct entry {
    std::size_t receivers = 0;
    std::uint64_t bytes = 0;
  };

  std::unordered_map<object_key, entry, object_key_hash> objects_;
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
  [[nodiscard]] bool has(const object_key& which, std::uint64_t bytes) const;

  /// Bytes that belong to one message alone. Gives what the link counts more.
  std::uint64_t add(std::uint64_t bytes);
  /// Of an object. Gives what the link counts more. Where less of it counts already, these are bytes of their own.
  std::uint64_t add(const object_key& which, std::uint64_t bytes);

  /// So much was consumed. Requires: no more than `bytes()`. Gives what the link counts less.
  std::uint64_t consume(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
  struct entry {
    object_key which; // Nothing: bytes of messages' own.
    std::uint64_t left = 0;
  };

  shared_objects& of_link_;
  std::deque<entry> entries_; // As they were sent.
  std::unordered_map<object_key, std::uint64_t, object_key_hash> counted_; // So many bytes.
  std::uint64_t bytes_ = 0;
};

} // namespace troupe::internal
