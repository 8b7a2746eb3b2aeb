// Large values that show whether they arrived whole and which value each is.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <span>
#include <vector>

#include "peers/small_messages.hpp"

namespace bench {

/// Bytes in the sender's own memory: a number, the size, filling, and the number again.
class large_value {
public:
  static constexpr std::size_t bytes_min = 3 * sizeof(std::uint64_t);

  /// Requires: `size_bytes` is at least `bytes_min`.
  explicit large_value(std::size_t size_bytes) : bytes_(size_bytes, 'v') { write(sizeof(std::uint64_t), size_bytes); }

  /// Makes it the value with this number.
  void number(std::uint64_t number) {
    write(0, number);
    write(bytes_.size() - sizeof number, number);
  }

  [[nodiscard]] const std::vector<char>& bytes() const { return bytes_; }

private:
  void write(std::size_t at, std::uint64_t word) {
    assert(at + sizeof word <= bytes_.size());
    std::memcpy(bytes_.data() + at, &word, sizeof word);
  }

  std::vector<char> bytes_;
};

/// The number of a received value, with which the far end answers. If the value is damaged, ends the process, because
/// its result would mean nothing.
inline std::uint64_t number_of_large(std::span<const char> bytes) {
  std::uint64_t words[3] = {0, 0, 1};
  if (bytes.size() >= large_value::bytes_min) {
    std::memcpy(words, bytes.data(), 2 * sizeof words[0]);
    std::memcpy(words + 2, bytes.data() + bytes.size() - sizeof words[0], sizeof words[0]);
  }
  if (words[0] != words[2] || words[1] != bytes.size()) {
    std::cerr << "a large value of " << bytes.size() << " bytes is not what was sent\n";
    std::_Exit(3);
  }
  return words[0];
}

/// Implements near_end::hand_over for peers whose far end answers with a value's number: `give` hands one value over
/// and returns the answer.
template <class Give>
std::vector<seconds> time_large_values(std::uint64_t count, std::size_t size_bytes, const Give& give) {
  large_value value{size_bytes};
  std::vector<seconds> took;
  for (std::uint64_t i = 0; i < count; ++i) {
    value.number(i);
    const auto began = bench_clock::now();
    const std::uint64_t answer = give(value.bytes());
    took.emplace_back(bench_clock::now() - began);
    if (answer != i) {
      std::cerr << "large value " << answer << " was answered instead of " << i << '\n';
      std::_Exit(3);
    }
  }
  return took;
}

} // namespace bench
