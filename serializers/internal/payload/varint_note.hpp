// Varints in the notes of payload headers.
#pragma once

#include <cstdint>
#include <span>

#include <troupe/base/varint.hpp>
#include <troupe/serializers/extend/encode_output.hpp>

namespace troupe::detail {

inline void append_varint(byte_buffer& to, std::uint64_t value) {
  write_varint(value, [&](std::byte each) { to.append(each); });
}

/// Takes a varint off the note. False if there is none, or if it does not fit into 64 bits.
inline bool take_varint(std::span<const std::byte>& from, std::uint64_t& value) {
  return read_varint<varint_spelling::any>(value,
                                           [&](std::byte& next) {
                                             if (from.empty())
                                               return false;
                                             next = from[0];
                                             from = from.subspan(1);
                                             return true;
                                           })
         == varint_fault::none;
}

} // namespace troupe::detail
