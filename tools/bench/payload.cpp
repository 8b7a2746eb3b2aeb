#include "bench/payload.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace troupe::tools {

namespace {

/// The finalizer of splitmix64: each bit of the result depends on all bits of `number`.
std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

/// Each '#' stands for a digit that differs from line to line.
constexpr std::string_view record = "2026-01-01T00:00:00.####Z sensor-## kitchen temperature=2#.# humidity=4# ok\n";

} // namespace

payload::payload(std::size_t size_bytes, const std::string& data)
    : size_bytes_(size_bytes), is_noise_(data == "noise") {
  constexpr std::size_t looks_max = 16;
  const auto looks = std::min(size_bytes, looks_max);
  for (std::size_t i = 0; i < looks; ++i) {
    const auto offset = looks < 2 ? 0 : (size_bytes - 1) / (looks - 1) * i;
    looked_at_.emplace_back(i + 1 == looks ? size_bytes - 1 : offset, 0);
  }
  for (auto& [offset, byte] : looked_at_)
    byte = byte_at(offset);
}

char payload::byte_at(std::size_t offset) const {
  if (is_noise_)
    return static_cast<char>(mixed(offset / 8) >> (offset % 8 * 8));
  const auto letter = record[offset % record.size()];
  return letter == '#' ? static_cast<char>('0' + mixed(offset) % 10) : letter;
}

std::vector<char> payload::bytes() const {
  std::vector<char> made(size_bytes_);
  for (std::size_t i = 0; i < made.size(); ++i)
    made[i] = byte_at(i);
  return made;
}

bool payload::is(std::span<const char> received) const {
  return received.size() == size_bytes_
         && std::ranges::all_of(looked_at_, [&](const auto& place) { return received[place.first] == place.second; });
}

} // namespace troupe::tools
