// Counting the words of one block, and adding up the counts of blocks.
#include <troupe/samples/wordcount/counts.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace wordcount::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using ranking = std::vector<std::pair<std::uint64_t, std::string>>;

ranking ranked(const word_totals& totals, std::size_t count) {
  ranking result;
  for (const auto* entry : totals.most_frequent(count))
    result.emplace_back(entry->count, entry->word());
  return result;
}

block_counts counted(std::string_view text) {
  word_table table;
  return count_words(0, text, table);
}

class totals : public testing::Test {
protected:
  void add(std::string_view text) {
    // The text does not outlive this call, so totals must copy words.
    const auto added = sum_.add(counted(std::string{text}));
    ASSERT_TRUE(added) << added.error();
  }

  word_totals sum_;
};

TEST_F(totals, add_up_over_blocks) {
  add("the cat and the dog");
  add("the end");
  EXPECT_EQ(ranked(sum_, 2), (ranking{{3, "the"}, {1, "and"}}));
  EXPECT_EQ(sum_.words(), 7u);
  EXPECT_EQ(sum_.distinct().size(), 5u);
}

TEST_F(totals, keep_case_digits_and_underscores) {
  add("Word word WORD w0rd _word word_");
  EXPECT_EQ(sum_.distinct().size(), 6u);
}

TEST_F(totals, rank_ties_in_byte_order) {
  add("b a _ Z 9 aa ab longer_than_eight_b longer_than_eight_a longer_t");
  EXPECT_EQ(ranked(sum_, 99), (ranking{{1, "9"},
                                       {1, "Z"},
                                       {1, "_"},
                                       {1, "a"},
                                       {1, "aa"},
                                       {1, "ab"},
                                       {1, "b"},
                                       {1, "longer_t"},
                                       {1, "longer_than_eight_a"},
                                       {1, "longer_than_eight_b"}}));
}

TEST_F(totals, of_nothing_are_empty) {
  add("");
  add(" \n\t-");
  EXPECT_EQ(sum_.words(), 0u);
  EXPECT_TRUE(ranked(sum_, 20).empty());
}

// The table first compares a word's first and last eight bytes and its length.
TEST_F(totals, tell_words_apart_that_differ_in_the_middle_only) {
  add("12345678x12345678 12345678y12345678 12345678x12345678");
  add("1234567x12345678 1234567y12345678");
  EXPECT_EQ(
      ranked(sum_, 99),
      (ranking{{2, "12345678x12345678"}, {1, "12345678y12345678"}, {1, "1234567x12345678"}, {1, "1234567y12345678"}}));
}

TEST_F(totals, tell_words_of_every_length_apart) {
  std::string text;
  for (std::size_t size = 1; size <= 40; ++size)
    text += std::string(size, 'a') + ' ' + std::string(size, 'a') + ' ' + std::string(size - 1, 'a') + "b ";
  add(text);
  EXPECT_EQ(sum_.distinct().size(), 80u);
  EXPECT_EQ(sum_.words(), 120u);
}

TEST_F(totals, have_room_for_a_9_MiB_word) {
  const std::string word(9 << 20, 'w');
  add("x " + word);
  add(word + " y " + word.substr(1) + "v");
  EXPECT_EQ(ranked(sum_, 1), (ranking{{2, word}}));
  EXPECT_EQ(sum_.distinct().size(), 4u);
}

TEST_F(totals, agree_with_a_map_on_many_random_words) {
  std::mt19937 random{7};
  std::map<std::string, std::uint64_t> expected;
  for (int block = 0; block < 20; ++block) {
    std::string text;
    for (int i = 0; i < 20'000; ++i) {
      const auto word = "w" + std::to_string(random() % 50'000) + std::string(random() % 20, 'x');
      ++expected[word];
      text += word + " ";
    }
    add(text);
  }
  ASSERT_EQ(sum_.distinct().size(), expected.size());
  for (const auto& entry : sum_.distinct())
    ASSERT_EQ(entry.count, expected[std::string{entry.word()}]) << entry.word();
}

TEST(answers, are_refused_whole_when_their_arrays_do_not_fit_together) {
  const auto answer = [](std::string_view text, std::vector<std::uint64_t> sizes, std::vector<std::uint64_t> counts) {
    return block_counts{0, troupe::array<char>::copy_of({text.data(), text.size()}), troupe::array{std::move(sizes)},
                        troupe::array{std::move(counts)}};
  };
  word_totals sum;
  EXPECT_FALSE(sum.add(answer("abc", {1, 2}, {1})));
  EXPECT_FALSE(sum.add(answer("abc", {1, 1}, {1, 1})));
  EXPECT_FALSE(sum.add(answer("abc", {1, 3}, {1, 1})));
  EXPECT_FALSE(sum.add(answer("abc", {0, 3}, {1, 1})));
  EXPECT_FALSE(sum.add(answer("abc", {2, ~std::uint64_t{0}}, {1, 1})));
  EXPECT_EQ(sum.words(), 0u);
  EXPECT_TRUE(sum.add(answer("abc", {1, 2}, {5, 6})));
  EXPECT_EQ(ranked(sum, 9), (ranking{{6, "bc"}, {5, "a"}}));
}

} // namespace
} // namespace wordcount::tests
