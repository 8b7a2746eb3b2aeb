// Goal: the numbers are those of the algorithm's authors, since they lie in files and on wires.
#include <array>
#include <cstddef>

#include <gtest/gtest.h>

#include <troupe/base/fnv1a.hpp>

namespace troupe::tests {
namespace {

TEST(fnv1a, has_the_values_of_its_authors) {
  static_assert(detail::fnv1a("") == 0xcbf29ce484222325);
  EXPECT_EQ(detail::fnv1a("a"), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(detail::fnv1a("foobar"), 0x85944171f73967e8);
}

TEST(fnv1a, is_the_same_for_bytes_and_text) {
  constexpr std::array bytes{std::byte{0xff}, std::byte{0}, std::byte{'x'}};
  EXPECT_EQ(detail::fnv1a(std::span<const std::byte>{bytes}), detail::fnv1a({"\xff\0x", 3}));
}

} // namespace
} // namespace troupe::tests
