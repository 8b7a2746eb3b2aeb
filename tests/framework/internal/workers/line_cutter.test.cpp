#include <troupe/framework/internal/workers/line_cutter.hpp>

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using lines = std::vector<std::string>;

lines cut(const std::string& bytes, std::size_t at_once) {
  lines got;
  line_cutter cutter;
  const auto receive = [&](std::string_view line) { got.emplace_back(line); };
  for (std::size_t at = 0; at < bytes.size(); at += at_once)
    cutter.take(std::string_view{bytes}.substr(at, at_once), receive);
  cutter.finish(receive);
  return got;
}

TEST(a_line_cutter, gives_the_same_lines_however_the_bytes_come) {
  constexpr auto max = line_cutter::line_bytes_max;
  const std::string full(max, 'f'), rest = "rest";
  const auto bytes = "one\n\ntwo\r\n" + full + '\n' + full + rest + "\nlast";
  const lines expected{"one", "", "two", full, full, rest, "last"};
  for (const auto at_once : {1uz, 2uz, 7uz, max - 1, max, max + 1, 100'000uz})
    EXPECT_EQ(cut(bytes, at_once), expected) << at_once;
}

TEST(a_line_cutter, cuts_a_line_without_end_into_pieces) {
  constexpr auto max = line_cutter::line_bytes_max;
  const auto got = cut(std::string(3 * max + 1, 'x'), 1000);
  ASSERT_EQ(got.size(), 4u);
  EXPECT_EQ(got[2].size(), max);
  EXPECT_EQ(got[3], "x");
}

TEST(a_line_cutter, gives_nothing_for_nothing) {
  EXPECT_EQ(cut("", 1), lines{});
  EXPECT_EQ(cut("\n", 1), lines{""});
}

} // namespace
} // namespace troupe::internal
