// Cutting files into blocks: between words, at the ends of files, and while files change.
#include <algorithm>
#include <troupe/samples/wordcount/block_reader.hpp>

#include "scratch_folder.hpp"

#include <troupe/samples/wordcount/words.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace wordcount::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using word_counts = std::map<std::string, std::uint64_t>;

void count_into(word_counts& sum, std::string_view text) {
  for_each_word(text, [&sum](std::string_view word) { ++sum[std::string{word}]; });
}

class reading : public testing::Test {
protected:
  block_reader open(std::size_t block_bytes) {
    auto walk = folder_walk::open(folder_.path().string(),
                                  [this](const std::string& problem) { problems_.push_back(problem); });
    if (!walk)
      throw std::runtime_error(walk.error());
    return block_reader{*std::move(walk), block_bytes};
  }

  /// Returns the next block in a new buffer, or an empty string at the end.
  static std::string next(block_reader& reader) {
    while (!reader.done()) {
      std::string room(reader.wanted_bytes(), '?');
      if (const auto size = reader.fill(room); size > 0)
        return room.substr(0, size);
    }
    return {};
  }

  static std::vector<std::string> rest(block_reader& reader) {
    std::vector<std::string> blocks;
    for (auto block = next(reader); !block.empty(); block = next(reader))
      blocks.push_back(std::move(block));
    return blocks;
  }

  std::vector<std::string> blocks(std::size_t block_bytes) {
    auto reader = open(block_bytes);
    return rest(reader);
  }

  scratch_folder folder_;
  std::vector<std::string> problems_;
};

TEST_F(reading, an_empty_folder_has_no_block) {
  EXPECT_THAT(blocks(16), IsEmpty());
}

TEST_F(reading, small_files_share_a_block_and_their_words_stay_apart) {
  folder_.write("a", "one");
  folder_.write("b", "two\n");
  folder_.write("c", "three");
  EXPECT_THAT(blocks(100), ElementsAre("one\ntwo\nthree\n"));
}

TEST_F(reading, empty_files_add_nothing) {
  folder_.write("a", "");
  folder_.write("b", "x");
  folder_.write("c", "");
  folder_.write("d", "");
  folder_.write("e", "y");
  EXPECT_THAT(blocks(100), ElementsAre("x\ny\n"));
}

TEST_F(reading, blocks_end_between_words) {
  folder_.write("a", "alpha beta gamma");
  EXPECT_THAT(blocks(8), ElementsAre("alpha ", "beta ", "gamma\n"));
}

TEST_F(reading, a_word_that_ends_with_its_block_is_whole) {
  folder_.write("a", "1234567 12345678");
  EXPECT_THAT(blocks(8), ElementsAre("1234567 ", "12345678\n"));
}

TEST_F(reading, a_word_longer_than_a_block_is_one_word) {
  folder_.write("a", "ab " + std::string(1000, 'x') + " cd");
  word_counts sum;
  for (const auto& block : blocks(16))
    count_into(sum, block);
  EXPECT_EQ(sum, (word_counts{{"ab", 1}, {std::string(1000, 'x'), 1}, {"cd", 1}}));
}

TEST_F(reading, a_9_MiB_word_is_one_word) {
  const std::string word(9 << 20, 'w');
  folder_.write("a", "before");
  folder_.write("b", word);
  folder_.write("c", word + " after");
  auto reader = open(4 << 20);
  word_counts sum;
  std::size_t longest = 0;
  for (const auto& block : rest(reader)) {
    count_into(sum, block);
    longest = std::max(longest, block.size());
  }
  EXPECT_EQ(sum, (word_counts{{"before", 1}, {word, 2}, {"after", 1}}));
  EXPECT_LT(longest, 12u << 20) << "the room should grow with the word and no further";
  EXPECT_EQ(reader.totals().bytes, 2 * word.size() + 12);
}

TEST_F(reading, bytes_of_any_value_separate_words) {
  folder_.write("a", std::string{"a\0b\xff_c\xc3\xa4"
                                 "d-e",
                                 11});
  word_counts sum;
  for (const auto& block : blocks(100))
    count_into(sum, block);
  EXPECT_EQ(sum, (word_counts{{"a", 1}, {"b", 1}, {"_c", 1}, {"d", 1}, {"e", 1}}));
}

// Goal: for any files and block sizes, each word of each file is seen once and whole.
// Method: the test uses random small files and all small block sizes, and compares the result with counting file by
// file.
TEST_F(reading, blocks_of_any_size_hold_the_same_words) {
  std::mt19937 random{42};
  word_counts expected;
  for (int file = 0; file < 40; ++file) {
    std::string text;
    const auto size = random() % 120;
    for (std::size_t i = 0; i < size; ++i)
      text += "ab_0 \n-\xe9"[random() % 8];
    folder_.write(std::to_string(file % 7) + "/" + std::to_string(file), text);
    count_into(expected, text);
  }
  for (std::size_t block_bytes = 1; block_bytes < 80; ++block_bytes) {
    word_counts sum;
    for (const auto& block : blocks(block_bytes))
      count_into(sum, block);
    ASSERT_EQ(sum, expected) << "blocks of " << block_bytes << " bytes";
  }
}

TEST_F(reading, totals_count_files_and_their_bytes) {
  folder_.write("a/x", "12345");
  folder_.write("b", "123");
  folder_.write("c", "");
  auto reader = open(4);
  static_cast<void>(rest(reader));
  EXPECT_EQ(reader.totals().files, 3u);
  EXPECT_EQ(reader.totals().bytes, 8u);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(reading, a_file_that_shrinks_is_read_as_far_as_it_goes_and_reported) {
  const auto file = folder_.write("a", std::string(50, ' ') + "gone");
  auto reader = open(8);
  EXPECT_EQ(next(reader), std::string(8, ' '));
  std::filesystem::resize_file(file, 16);
  EXPECT_THAT(rest(reader), ElementsAre(std::string(8, ' ')));
  EXPECT_EQ(reader.problems().changed, 1u);
  EXPECT_THAT(problems_,
              ElementsAre(HasSubstr("changed while it was read: 54 bytes when it was opened, 16 were read")));
}

TEST_F(reading, a_file_that_grows_is_read_to_its_new_end_and_reported) {
  const auto file = folder_.write("a", "one two ");
  auto reader = open(4);
  EXPECT_EQ(next(reader), "one ");
  std::ofstream{file, std::ios::app} << "three";
  EXPECT_THAT(rest(reader), ElementsAre("two ", "three\n"));
  EXPECT_EQ(reader.problems().changed, 1u);
}

TEST_F(reading, a_file_that_vanishes_is_reported_and_left_out) {
  folder_.write("a", "first block ");
  folder_.write("b", "vanishes");
  folder_.write("c", "last");
  auto reader = open(6);
  EXPECT_EQ(next(reader), "first ");
  std::filesystem::remove(folder_.path() / "b");
  EXPECT_THAT(rest(reader), ElementsAre("block ", "last\n"));
  EXPECT_EQ(reader.problems().vanished, 1u);
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("/b vanished before it was read")));
}

TEST_F(reading, a_folder_that_vanishes_is_reported_and_left_out) {
  folder_.write("a", "first block ");
  folder_.write("b/c", "vanishes");
  folder_.write("d", "last");
  auto reader = open(6);
  EXPECT_EQ(next(reader), "first ");
  std::filesystem::remove_all(folder_.path() / "b");
  EXPECT_THAT(rest(reader), ElementsAre("block ", "last\n"));
  EXPECT_EQ(reader.problems().vanished, 1u);
}

// Opening a named pipe would wait for a writer, and following a link would leave the folder.
TEST_F(reading, what_takes_a_files_place_is_not_read) {
  folder_.write("a", "first block ");
  folder_.write("b", "becomes a pipe");
  folder_.write("c", "becomes a link");
  folder_.write("d", "becomes a folder");
  folder_.write("e/f", "becomes a file");
  folder_.write("g", "last");
  auto reader = open(6);
  EXPECT_EQ(next(reader), "first ");
  for (const auto* name : {"b", "c", "d", "e"})
    std::filesystem::remove_all(folder_.path() / name);
  ASSERT_EQ(::mkfifo((folder_.path() / "b").c_str(), 0600), 0);
  std::filesystem::create_symlink(folder_.path() / "a", folder_.path() / "c");
  folder_.write("d/file", "not listed when the folder was");
  folder_.write("e", "not a folder any more");
  EXPECT_THAT(rest(reader), ElementsAre("block ", "last\n"));
  EXPECT_EQ(reader.problems().vanished, 4u);
}

// Goal: a file that fails during reading is reported, and the job continues.
// Method: /proc/<pid>/mem is a regular file that cannot be read at its beginning.
TEST(unreadable_files, are_reported_and_the_others_are_read) {
  std::vector<std::string> problems;
  auto walk = folder_walk::open("/proc/self/task/" + std::to_string(::getpid()),
                                [&](const std::string& problem) { problems.push_back(problem); });
  ASSERT_TRUE(walk) << walk.error();
  block_reader reader{*std::move(walk), 1 << 20};
  std::vector<char> room(reader.wanted_bytes());
  const auto is_of_memory = [](const std::string& problem) { return problem.find("/mem: ") != std::string::npos; };
  // Stops here, because "pagemap", which is nearly endless, comes later.
  while (!reader.done() && std::ranges::none_of(problems, is_of_memory)) {
    room.resize(reader.wanted_bytes());
    static_cast<void>(reader.fill(room));
  }
  EXPECT_GE(reader.problems().unreadable, 1u);
  EXPECT_THAT(problems, testing::Contains(testing::ContainsRegex("cannot read /proc/self/task/[0-9]+/mem: ")));
  EXPECT_GT(reader.totals().bytes, 0u);
}

} // namespace
} // namespace wordcount::tests
