// The bytes of objects that a tape has.
#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <optional>
#include <string>

#include <troupe/framework/internal/tape/tape_format.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

/// Puts recorded objects together from their pieces, for the messages that follow them. The first ones are forgotten
/// when their bytes exceed the bound, so that a hostile tape needs no more memory.
///
/// Threads: one.
class recorded_objects {
public:
  explicit recorded_objects(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  void add(const tape_object& piece);
  /// The bytes of the object from `offset` on. Nullopt if not all of them are there.
  [[nodiscard]] std::optional<frame> find(std::uint64_t link, std::uint32_t index, std::uint32_t generation,
                                          std::uint64_t offset, std::uint64_t size_bytes) const;
  void forget(std::uint64_t link);

private:
  struct key {
    std::uint64_t link = 0;
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    std::uint64_t offset = 0; // Where its bytes begin in the object.
    auto operator<=>(const key&) const = default;
  };

  void erase(const key& what);
  void make_room(std::size_t bytes);

  const std::uint64_t bytes_max_;
  std::map<key, byte_vector> objects_;
  std::deque<key> order_; // Oldest first.
  std::uint64_t bytes_ = 0;
};

} // namespace troupe::internal
