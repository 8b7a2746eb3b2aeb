// Splits a fuzzer's input into the parts of a payload. join() does the reverse, and makes the seeds.
//
//     bytes         are
//     1             number of parts before the last one, modulo 16; divided by 16, the number of the decoded type
//     for each      2 bytes little-endian: its length, at most the rest of the input; then its bytes
//     the rest      the last part
//
// Decoders read most of the last part: bytes can be inserted into it and removed from it without making any length
// wrong. Every input has a meaning.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <troupe/serializers/frame.hpp>

namespace fuzz {

inline constexpr std::size_t parts_max = 16;

/// The number that selects a type, of any size.
inline std::size_t chosen(std::span<const std::byte> input) {
  return input.empty() ? 0 : std::to_integer<std::size_t>(input[0]) / parts_max;
}

/// Returns at least one part.
inline std::vector<std::span<const std::byte>> split(std::span<const std::byte> input) {
  std::vector<std::span<const std::byte>> parts;
  if (!input.empty()) {
    auto before_last = std::to_integer<std::size_t>(input[0]) % parts_max;
    input = input.subspan(1);
    for (; before_last > 0 && input.size() >= 2; --before_last) {
      const auto length = std::to_integer<std::size_t>(input[0]) + 256 * std::to_integer<std::size_t>(input[1]);
      input = input.subspan(2);
      parts.push_back(input.first(std::min(length, input.size())));
      input = input.subspan(parts.back().size());
    }
  }
  parts.push_back(input);
  return parts;
}

/// Requires: at least one part and at most parts_max; each but the last is below 64 KiB.
inline std::vector<std::byte> join(std::span<const std::span<const std::byte>> parts, std::size_t type = 0) {
  std::vector<std::byte> input{static_cast<std::byte>(parts.size() - 1 + parts_max * type)};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i + 1 < parts.size()) {
      input.push_back(static_cast<std::byte>(parts[i].size()));
      input.push_back(static_cast<std::byte>(parts[i].size() >> 8));
    }
    input.insert(input.end(), parts[i].begin(), parts[i].end());
  }
  return input;
}

/// The body first, then a frame for each other part. Every second one of those is unaligned, like a slice. Each is in a
/// block of its own size, so that a read past the end is detected.
inline std::vector<troupe::frame> frames_of(std::span<const std::byte> body,
                                            std::span<const std::span<const std::byte>> others) {
  std::vector<troupe::frame> frames{troupe::frame::copy_of(body)};
  for (std::size_t i = 0; i < others.size(); ++i) {
    std::vector<std::byte> bytes(i % 2);
    bytes.insert(bytes.end(), others[i].begin(), others[i].end());
    frames.push_back(troupe::frame::copy_of(bytes).slice(i % 2, others[i].size()));
  }
  return frames;
}

} // namespace fuzz
