// The benchmark as a real program with real processes: it runs, writes its results, and leaves nothing behind. Speed is
// not tested here.
#include "program_run.hpp"

#include "ladder/rungs.hpp"

#include <map>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ladder : public program_run {
protected:
  ladder() : program_run(LADDER_PROGRAM) {}
};

TEST_F(ladder, a_quick_run_has_each_step_at_its_end_and_the_whole_at_both) {
  EXPECT_EQ(run({"--quick", "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  std::map<std::string, std::map<std::string, double>> values; // By subject and quantity.
  for (const auto& line : results("ladder"))
    values[line.at("subject").get<std::string>()][line.at("case").get<std::string>()] = line.at("median").get<double>();
  EXPECT_THAT(values, SizeIs(all_rungs().size() + 2));
  for (const auto& each : all_rungs())
    EXPECT_THAT(values[each.name], SizeIs(1)) << each.name;
  for (const auto* whole : {"troupe-unix", "troupe-shm"}) {
    ASSERT_THAT(values[whole], SizeIs(3)) << whole;
    for (const auto& [quantity, value] : values[whole])
      EXPECT_GT(value, 0) << whole << " " << quantity;
  }
  EXPECT_THAT(output(), HasSubstr("troupe-shm, receiving: "));
  EXPECT_THAT(errors(), IsEmpty());
}

TEST_F(ladder, steps_that_are_not_asked_for_are_left_out) {
  EXPECT_EQ(run({"--quick", "--subjects", "typed-encodes,typed-decodes"}), exited_with(0)) << errors();
  EXPECT_THAT(output(), HasSubstr("typed-decodes"));
  EXPECT_THAT(output(), Not(HasSubstr("caf-sends")));
}

} // namespace
} // namespace bench::tests
