// The benchmark as a real program: it runs, writes its results, and leaves nothing behind. Speed is not tested here.
#include "compression/cases.hpp"
#include "compression/data.hpp"
#include "program_run.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class compression : public program_run {
protected:
  compression() : program_run(COMPRESSION_PROGRAM) {}
};

TEST_F(compression, a_quick_run_has_a_line_of_json_for_each_mode_and_kind_of_data) {
  EXPECT_EQ(run({"--quick", "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  std::map<std::string, std::set<std::string>> subjects; // By quantity.
  for (const auto& line : results("compression"))
    subjects[line.at("case").get<std::string>()].insert(line.at("subject").get<std::string>());
  const auto all = compression_subjects();
  for (const auto& kind : data_kinds()) {
    EXPECT_EQ(subjects[kind + ", encode"], std::set<std::string>(all.begin(), all.end())) << kind;
    EXPECT_EQ(subjects[kind + ", decode"].size(), all.size()) << kind;
    EXPECT_EQ(subjects[kind + ", left"].size(), all.size() - 1) << kind;
  }
  EXPECT_EQ(subjects["text, pays below"], (std::set<std::string>{"automatic", "lz4", "zstd"}));
  EXPECT_THAT(subjects["noise, pays below"], IsEmpty());
  EXPECT_THAT(errors(), IsEmpty());
}

TEST_F(compression, only_what_was_asked_for_runs) {
  EXPECT_EQ(run({"--quick", "--subjects", "lz4", "--kinds", "zeros"}), exited_with(0)) << errors();
  EXPECT_THAT(output(), HasSubstr("zeros"));
  EXPECT_THAT(output(), Not(HasSubstr("noise")));
  EXPECT_THAT(output(), Not(HasSubstr("zstd")));
  EXPECT_EQ(run({"--subjects", "gzip"}), exited_with(2));
}

} // namespace
} // namespace bench::tests
