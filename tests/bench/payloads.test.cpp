// The benchmark as a real program with real processes: it runs, writes its results, and leaves nothing behind. Speed is
// not tested here.
#include "payloads/subjects.hpp"
#include "peers/large_values.hpp"
#include "program_run.hpp"

#include <signal.h>

#include <algorithm>
#include <set>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class payloads : public program_run {
protected:
  payloads() : program_run(PAYLOADS_PROGRAM) {}
};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& each : payload_subjects())
    all.push_back(each.name);
  return all;
}

class payloads_of : public payloads, public testing::WithParamInterface<std::string> {};

TEST_P(payloads_of, a_quick_run_has_a_line_of_json_for_each_size_or_says_why_not) {
  EXPECT_EQ(run({"--quick", "--subjects", GetParam(), "--json", json().string()}), exited_with(0))
      << output() << errors();
  expect_nothing_left();
  const auto is_absent = output().find(GetParam() + " not available: not built: ") != std::string::npos;
  std::set<std::string> quantities;
  for (const auto& line : results("payloads"))
    quantities.insert(line.at("case").get<std::string>());
  EXPECT_EQ(quantities, is_absent ? std::set<std::string>{}
                                  : (std::set<std::string>{"64 KiB there and answered", "1 MiB there and answered"}))
      << output();
  EXPECT_THAT(errors(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(all, payloads_of, testing::ValuesIn(names()), [](const auto& subject) {
  auto name = subject.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_F(payloads, control_c_ends_all_processes) {
  start({"--subjects", "raw-asio-unix", "--rounds", "1000"});
  EXPECT_THAT(both_ends(), SizeIs(2));
  process_->signal(SIGINT);
  EXPECT_EQ(end(), exited_with(128 + SIGINT));
  expect_nothing_left();
}

TEST_F(payloads, a_store_is_gone_with_the_run_even_when_its_users_were_killed) {
  start({"--subjects", "troupe-store", "--rounds", "1000", "--bytes", "1048576"});
  for (const auto end : both_ends())
    ::kill(end, SIGKILL);
  EXPECT_EQ(end(), exited_with(1));
  EXPECT_THAT(output(), HasSubstr("troupe-store failed: "));
  expect_nothing_left();
}

TEST(large_values, say_which_they_are) {
  large_value value{1'000};
  value.number(7);
  EXPECT_EQ(number_of_large(value.bytes()), 7u);
  value.number(8);
  EXPECT_EQ(number_of_large(value.bytes()), 8u);
  large_value smallest{large_value::bytes_min};
  smallest.number(9);
  EXPECT_EQ(number_of_large(smallest.bytes()), 9u);
}

TEST(large_values_DeathTest, that_are_damaged_end_the_process) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  large_value value{1'000};
  value.number(7);
  auto shorter = value.bytes();
  shorter.pop_back();
  EXPECT_EXIT(number_of_large(shorter), testing::ExitedWithCode(3), "999 bytes is not what was sent");
  auto changed = value.bytes();
  changed.back() = 'x';
  EXPECT_EXIT(number_of_large(changed), testing::ExitedWithCode(3), "is not what was sent");
  EXPECT_EXIT(number_of_large({}), testing::ExitedWithCode(3), "0 bytes is not what was sent");
}

} // namespace
} // namespace bench::tests
