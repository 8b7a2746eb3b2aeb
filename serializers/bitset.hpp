// Serializes std::bitset. Include this header where such a type is registered. A bitset travels as its bytes, the
// lowest bits first.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <vector>

#include <troupe/base/sizes.hpp>
#include <troupe/serializers/codec.hpp>

/// Both ends need the same number of bits. Decoding another size, or set bits behind the last one, fails with
/// `malformed`.
template <std::size_t Count>
struct troupe::codec<std::bitset<Count>> {
  using form = std::vector<std::uint8_t>;
  static constexpr bool is_self_contained = true;
  static constexpr std::size_t bytes = (Count + 7) / 8;

  static std::size_t held_bytes(const std::bitset<Count>&) { return 0; }

  static std::expected<form, serialize_error> reduce(const std::bitset<Count>& value, const context&) {
    form made(bytes);
    for (std::size_t i = 0; i < Count; ++i)
      made[i / 8] = static_cast<std::uint8_t>(made[i / 8] | static_cast<unsigned>(value[i]) << i % 8);
    return made;
  }

  static std::expected<std::bitset<Count>, serialize_error> rebuild(form&& from, const context&) {
    if (from.size() != bytes || (Count % 8 != 0 && from.back() >> Count % 8 != 0))
      return std::unexpected(serialize_error(serialize_errc::malformed,
                                             "the bitset does not have the expected " + grouped(Count) + " bits"));
    std::bitset<Count> value;
    for (std::size_t i = 0; i < Count; ++i)
      value[i] = (from[i / 8] >> i % 8 & 1) != 0;
    return value;
  }
};
