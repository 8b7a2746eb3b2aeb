#include <troupe/base/text.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace troupe {
namespace {

TEST(one_line, keeps_what_is_harmless) {
  EXPECT_EQ(one_line("kitchen \"3\" \\ ", 100), "kitchen \"3\" \\ ");
  EXPECT_EQ(one_line("Küche 厨房 🍳", 100), "Küche 厨房 🍳");
  EXPECT_EQ(one_line("", 100), "");
}

TEST(one_line, replaces_what_ends_lines_or_steers_a_terminal) {
  EXPECT_EQ(one_line("a\nb\rc\td\x1b[2J\x7f", 100), "a?b?c?d?[2J?");
  EXPECT_EQ(one_line(std::string_view{"a\0b", 3}, 100), "a?b");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "2J \xe2\x80\xa8 \xe2\x80\xae \xe2\x81\xa6",
                     100),
            "?2J ? ? ?"); // A C1 control, a line separator, two that change the writing direction.
}

TEST(one_line, replaces_each_byte_that_is_no_utf8) {
  EXPECT_EQ(one_line("a\xff\xfe", 100), "a??");
  EXPECT_EQ(one_line("\xc0\xaf", 100), "??");           // Overlong.
  EXPECT_EQ(one_line("\xed\xa0\x80", 100), "???");      // A surrogate.
  EXPECT_EQ(one_line("\xf4\x90\x80\x80", 100), "????"); // Beyond the last code point.
  EXPECT_EQ(one_line("\xe5\x8e", 100), "??");           // Cut short.
}

TEST(one_line, cuts_between_characters) {
  EXPECT_EQ(one_line("12345678", 8), "12345678");
  EXPECT_EQ(one_line("123456789", 8), "1234 ...");
  EXPECT_EQ(one_line("123üüü", 8), "123 ...");
  EXPECT_EQ(one_line(std::string(1'000'000, 'x'), 4096).size(), 4096u);
}

TEST(on_one_line, cuts_nothing) {
  EXPECT_EQ(on_one_line(std::string(100'000, 'x')).size(), 100'000u);
  EXPECT_EQ(on_one_line("gr\xc3\xbc\xc3\x9f\ndich"), "gr\xc3\xbc\xc3\x9f?dich");
}

} // namespace
} // namespace troupe
