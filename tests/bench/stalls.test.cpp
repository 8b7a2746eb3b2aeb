// The benchmark as a real program with real processes: it runs, writes its results, and leaves nothing behind. Speed is
// not tested here.
#include "program_run.hpp"

#include "stalls/subjects.hpp"

#include <map>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class stalls : public program_run {
protected:
  stalls() : program_run(STALLS_PROGRAM) {}
};

TEST_F(stalls, a_quick_run_has_a_line_of_json_for_each_subject_and_quantity) {
  EXPECT_EQ(run({"--quick", "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  std::map<std::string, std::map<std::string, double>> values; // By subject and quantity.
  for (const auto& line : results("stalls"))
    values[line.at("subject").get<std::string>()][line.at("case").get<std::string>()] = line.at("median").get<double>();
  ASSERT_THAT(values, SizeIs(stalls_subjects().size()));
  for (const auto& [subject, of] : values) {
    EXPECT_THAT(of, SizeIs(3)) << subject;
    EXPECT_GE(of.at(request_p99_name), of.at(request_p50_name)) << subject;
  }
  EXPECT_THAT(errors(), IsEmpty()); // No message was refused.
}

TEST_F(stalls, limits_are_looked_at_unless_the_run_is_quick) {
  EXPECT_EQ(run({"--rounds", "2", "--milliseconds", "10", "--subjects", "beside-50us"}), exited_with(0)) << errors();
  EXPECT_THAT(output(), HasSubstr("limit "));
}

} // namespace
} // namespace bench::tests
