// Integers in as few bytes as possible.
#include <troupe/base/varint.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace troupe;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const auto value : values)
    bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

std::vector<std::byte> written(std::uint64_t value) {
  std::vector<std::byte> bytes;
  write_varint(value, [&](std::byte each) { bytes.push_back(each); });
  return bytes;
}

template <varint_spelling Allowed>
std::pair<varint_fault, std::uint64_t> read(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  const auto fault = read_varint<Allowed>(value, [&](std::byte& next) {
    if (bytes.empty())
      return false;
    next = bytes[0];
    bytes = bytes.subspan(1);
    return true;
  });
  return {fault, value};
}

template <varint_spelling Allowed>
varint_fault fault_of(std::initializer_list<int> bytes) {
  return read<Allowed>(bytes_of(bytes)).first;
}

constexpr auto shortest = varint_spelling::shortest;
constexpr auto any = varint_spelling::any;

TEST(varint, comes_back_as_it_was) {
  for (const auto value :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{16383},
        std::uint64_t{16384}, std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max()}) {
    const auto bytes = written(value);
    EXPECT_EQ(read<shortest>(bytes), std::pair(varint_fault::none, value));
    EXPECT_EQ(read<any>(bytes), std::pair(varint_fault::none, value));
  }
}

TEST(varint, is_written_with_the_lowest_seven_bits_first) {
  EXPECT_EQ(written(0), bytes_of({0}));
  EXPECT_EQ(written(300), bytes_of({0xac, 0x02}));
  EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()),
            bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}));
  EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()).size(), varint_bytes_max);
}

TEST(varint, that_ends_early_is_refused) {
  EXPECT_EQ(fault_of<shortest>({}), varint_fault::cut);
  EXPECT_EQ(fault_of<any>({0x80}), varint_fault::cut);
}

TEST(varint, in_more_bytes_than_it_needs_is_refused_where_each_number_has_one_form) {
  EXPECT_EQ(fault_of<shortest>({0x81, 0x00}), varint_fault::too_long);
  EXPECT_EQ(read<any>(bytes_of({0x81, 0x00})), std::pair(varint_fault::none, std::uint64_t{1}));
}

TEST(varint, of_more_than_64_bits_is_refused) {
  EXPECT_EQ(fault_of<shortest>({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}), varint_fault::too_large);
  EXPECT_EQ(fault_of<any>({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}), varint_fault::too_large);
}

} // namespace
