// The benchmark as a real program with real processes: it runs, writes its results, and leaves nothing behind. Speed is
// not tested here.
#include "program_run.hpp"

#include "gateway/subjects.hpp"

#include <map>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::SizeIs;

class gateway : public program_run {
protected:
  gateway() : program_run(GATEWAY_PROGRAM) {}
};

TEST_F(gateway, a_quick_run_has_a_line_of_json_for_each_subject_and_quantity) {
  EXPECT_EQ(run({"--quick", "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  std::map<std::string, int> lines; // By subject.
  for (const auto& line : results("gateway"))
    ++lines[line.at("subject").get<std::string>()];
  ASSERT_THAT(lines, SizeIs(gateway_subjects().size()));
  for (const auto& [subject, count] : lines)
    EXPECT_EQ(count, 3) << subject;
}

} // namespace
} // namespace bench::tests
