// The benchmark as a real program with real processes. Speed is not tested here.
#include "program_run.hpp"

#include "healing/subjects.hpp"

#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::SizeIs;

class healing : public program_run {
protected:
  healing() : program_run(HEALING_PROGRAM) {}
};

TEST_F(healing, a_quick_run_has_a_line_of_json_for_each_subject_and_quantity) {
  EXPECT_EQ(run({"--quick", "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  std::map<std::pair<std::string, std::string>, double> values; // By subject and quantity.
  for (const auto& line : results("healing"))
    values[{line.at("subject").get<std::string>(), line.at("case").get<std::string>()}] =
        line.at("median").get<double>();
  std::size_t expected = 0;
  for (const auto& subject : healing_subjects())
    for (const auto& step : subject.steps)
      for (const auto& quantity : step.quantities) {
        ++expected;
        EXPECT_TRUE(values.contains({subject.name, quantity.name})) << subject.name << ", " << quantity.name;
      }
  EXPECT_THAT(values, SizeIs(expected));
  const auto back_off = 100.0; // The default, in milliseconds.
  EXPECT_GE((values[{"death-back-off-default", served_again_p50_name}]), back_off);
}

TEST_F(healing, a_killed_run_leaves_no_worker) {
  start({"--subjects", "death-back-off-1ms", "--deaths", "1000"});
  ASSERT_TRUE(eventually([&] { return processes().size() >= 2; })); // The near end and its worker.
  process_->kill();
  EXPECT_TRUE(eventually([&] { return processes().empty(); }));
}

} // namespace
} // namespace bench::tests
