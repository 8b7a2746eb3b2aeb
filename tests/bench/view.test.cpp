// The benchmark as a real program with real processes: it runs, writes its results, and leaves nothing behind. Speed is
// not tested here.
#include "program_run.hpp"

#include "view/subjects.hpp"

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::SizeIs;

class view : public program_run {
protected:
  view() : program_run(VIEW_PROGRAM) {}
};

TEST_F(view, a_quick_run_has_a_line_of_json_for_each_subject) {
  EXPECT_EQ(run({"--quick", "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  EXPECT_THAT(results("view"), SizeIs(view_subjects.size()));
}

} // namespace
} // namespace bench::tests
