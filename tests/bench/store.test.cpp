// The benchmark as a real program: it runs, writes its results, and leaves nothing behind. Speed is not tested here.
#include "program_run.hpp"
#include "store/limits.hpp"

#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class store : public program_run {
protected:
  store() : program_run(STORE_PROGRAM) {}

  [[nodiscard]] std::string disk() const { return (folder_ / "disk").string(); }
};

TEST_F(store, a_quick_run_has_a_line_of_json_for_each_quantity_and_its_limit) {
  EXPECT_EQ(run({"--quick", "--spill-directory", disk(), "--json", json().string()}), exited_with(0))
      << output() << errors();
  expect_nothing_left();
  std::map<std::string, std::set<std::string>> subjects; // By quantity.
  for (const auto& line : results("store"))
    subjects[line.at("case").get<std::string>()].insert(line.at("subject").get<std::string>());
  EXPECT_THAT(subjects, SizeIs(16));
  for (const auto* quantity : {"put 1 MiB", "put 1 KiB", "find, pin, release", "spill", "restore"})
    EXPECT_EQ(subjects[quantity], (std::set<std::string>{"limit", "troupe-store"})) << quantity;
  EXPECT_THAT(errors(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(disk()));
}

TEST_F(store, only_the_cases_asked_for_run) {
  EXPECT_EQ(run({"--quick", "--cases", "find"}), exited_with(0)) << errors();
  EXPECT_THAT(output(), HasSubstr("find, pin, release"));
  EXPECT_THAT(output(), Not(HasSubstr("put")));
  EXPECT_EQ(run({"--cases", "nothing"}), exited_with(2));
}

TEST(store_limits, are_ratios_to_the_limit_or_values) {
  const auto checked = [](double put, double small, double hand_over) {
    std::ostringstream said;
    const std::vector<row> rows{
        {{"put 1 KiB by two processes at once / by one", "times"}, "troupe-store", 0.9, 1, 1, {}},
        {{"put 1 MiB", "GB/s"}, "troupe-store", 9, 9, 9, {{"limit", put}}},
        {{"put 1 KiB", "ns"}, "troupe-store", 90, 90, 90, {{"limit", small}}},
        {{"until another process sees the largest / 64 KiB", "times"}, "troupe-store", hand_over, 1, 1, {}},
        {{"find, pin, release", "ns"}, "troupe-store", 90, 90, 90, {{"limit", 3}}},
        {{"spill", "GB/s"}, "troupe-store", 9, 9, 9, {{"limit", 0.8}}},
        {{"restore", "GB/s"}, "troupe-store", 9, 9, 9, {{"limit", 0.8}}},
        {{"recover 2,000 objects", "ms"}, "troupe-store", 500, 500, 500, {}},
        {{"find while reaping, p99.9", "us"}, "troupe-store", 1'000, 1'000, 1'000, {}},
        {{"put 1 MiB", "GB/s"}, "limit", 10, 10, 10, {}}};
    const auto is_met = check_store_limits(rows, said);
    return std::pair{is_met, said.str()};
  };
  EXPECT_TRUE(checked(0.9, 3, 1.2).first);
  EXPECT_FALSE(checked(0.89, 3, 1.2).first);
  EXPECT_FALSE(checked(0.9, 3.1, 1.2).first);
  EXPECT_FALSE(checked(0.9, 3, 1.3).first);
  EXPECT_THAT(checked(0.89, 3, 1).second, HasSubstr("limit missed: put 1 MiB at least 0.9 x limit, is 0.89"));
}

TEST(store_limits, what_was_not_measured_is_not_met) {
  std::ostringstream said;
  EXPECT_FALSE(check_store_limits({}, said));
  EXPECT_THAT(said.str(), HasSubstr("limit not checked: put 1 KiB by two\n"));
  EXPECT_FALSE(check_store_limits({{{"spill", "GB/s"}, "troupe-store", 9, 9, 9, {{"limit", 1}}}}, said));
}

} // namespace
} // namespace bench::tests
