// What was logged already.
#include <troupe/framework/internal/words/said_once.hpp>

#include <string>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

TEST(said_once, takes_each_text_for_new_the_first_time) {
  said_once said;
  EXPECT_TRUE(said.is_new("no family of [typed] can carry 'a'"));
  EXPECT_FALSE(said.is_new("no family of [typed] can carry 'a'"));
  EXPECT_TRUE(said.is_new("no family of [typed] can carry 'b'"));
}

TEST(said_once, keeps_a_bounded_number_of_texts) {
  said_once said;
  for (std::size_t i = 0; i < said_once::texts_max; ++i)
    EXPECT_TRUE(said.is_new(std::to_string(i)));
  EXPECT_TRUE(said.is_new("one more"));
  EXPECT_TRUE(said.is_new("one more"));
  EXPECT_FALSE(said.is_new("0"));
}

} // namespace
} // namespace troupe::internal
