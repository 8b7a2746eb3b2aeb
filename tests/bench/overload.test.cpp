// The benchmark as a real program with real processes. Speed is not tested here.
#include "program_run.hpp"

#include "overload/subjects.hpp"

#include <map>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::SizeIs;

class overload : public program_run {
protected:
  overload() : program_run(OVERLOAD_PROGRAM) {}
};

TEST_F(overload, a_quick_run_has_a_line_of_json_for_each_subject_and_quantity) {
  EXPECT_EQ(run({"--quick", "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  std::map<std::string, std::map<std::string, double>> values; // By subject and quantity.
  for (const auto& line : results("overload"))
    values[line.at("subject").get<std::string>()][line.at("case").get<std::string>()] = line.at("median").get<double>();
  ASSERT_THAT(values, SizeIs(overload_subjects().size()));
  for (const auto& [subject, of] : values) {
    EXPECT_GT(of.at(offered_name), 0) << subject;
    EXPECT_LE(of.at(goodput_name), of.at(offered_name)) << subject;
  }
}

} // namespace
} // namespace bench::tests
