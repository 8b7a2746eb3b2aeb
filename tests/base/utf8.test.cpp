// Goal: valid UTF-8 is accepted, and nothing else is.
#include <troupe/base/utf8.hpp>

#include <string>

#include <gtest/gtest.h>

namespace troupe {
namespace {

TEST(utf8, characters_of_each_length_are_read_and_written) {
  for (const char32_t code :
       {U'\0', U'a', U'\x7f', U'\x80', U'\x7ff', U'\x800', U'\xd7ff', U'\xe000', U'\xffff', U'\x10000', U'\x10ffff'}) {
    char bytes[utf8_bytes_max] = {};
    const auto* const end = write_utf8(code, bytes);
    const std::string text(bytes, static_cast<std::size_t>(end - bytes));
    const auto found = first_character(text + "rest");
    EXPECT_EQ(found.bytes, text.size()) << static_cast<std::uint32_t>(code);
    EXPECT_EQ(found.code, code);
    EXPECT_TRUE(is_utf8(text));
    EXPECT_FALSE(text.size() > 1 && is_utf8(text.substr(0, text.size() - 1)));
  }
}

TEST(utf8, longer_spellings_surrogates_and_what_lies_beyond_are_none) {
  for (const std::string text : {"\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80",
                                 "\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\x80", "\xc3("}) {
    EXPECT_EQ(first_character(text).bytes, 0U) << testing::PrintToString(text);
    EXPECT_FALSE(is_utf8("plain text before " + text));
    EXPECT_FALSE(is_utf8(text + " plain text behind"));
  }
}

TEST(utf8, no_text_is_utf8) {
  EXPECT_TRUE(is_utf8(""));
}

} // namespace
} // namespace troupe
