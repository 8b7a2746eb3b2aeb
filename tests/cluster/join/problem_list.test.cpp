// Goal: a member says what is wrong, and only that.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <troupe/framework/cluster/internal/join/problem_list.hpp>

namespace troupe::tests {
namespace {

using membership::problem_list;

std::vector<std::string> texts(const problem_list& of) {
  std::vector<std::string> all;
  of.add_to(all);
  return all;
}

TEST(a_problem_list, has_the_last_problem_of_each_thing_until_it_is_solved) {
  problem_list list;
  list.note("one", "first");
  list.note("two", "other");
  list.note("one", "second");
  EXPECT_EQ(texts(list), (std::vector<std::string>{"one: second", "two: other"}));
  list.note("one", "");
  list.note("three", "");
  EXPECT_EQ(texts(list), (std::vector<std::string>{"two: other"}));
}

TEST(a_problem_list, is_bounded) {
  problem_list list;
  for (std::size_t i = 0; i <= problem_list::most; ++i)
    list.note(std::to_string(i), "wrong");
  EXPECT_EQ(texts(list).size(), problem_list::most);
  list.note("0", "still wrong");
  EXPECT_EQ(texts(list).front(), "0: still wrong");
}

} // namespace
} // namespace troupe::tests
