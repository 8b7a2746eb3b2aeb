// `troupe bench --sample` as a real command. The time is short: the figures mean nothing here.
#include "command_support.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace troupe::tests {

namespace {

using testing::HasSubstr;

/// A sample and the contract of its type, in a folder of the test.
class sample_command : public testing::Test {
protected:
  sample_command() {
    std::filesystem::create_directory(folder_);
    std::ofstream{path("order.json")} << R"({"customer": "Ada", "prices": [1.5, 2]})";
    std::ofstream{path("shop.contract")} << "troupe contract 1\n"
                                            "type \"shop.order\": struct\n"
                                            "  .customer: text\n"
                                            "  .prices: numbers f64\n"
                                            "  .remark: optional text\n";
  }
  ~sample_command() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& file) const { return folder_ + '/' + file; }
  [[nodiscard]] std::string words(const std::string& more) const {
    return "bench --quick --sample " + path("order.json") + " --contract " + path("shop.contract") + ' ' + more;
  }
  [[nodiscard]] output bench(const std::string& words) const { return run_line(TROUPE_PROGRAM " " + words); }

private:
  const std::string folder_ = testing::TempDir() + "troupe-sample-" + std::to_string(::getpid());
};

TEST_F(sample_command, compares_families_and_compressions_without_the_program) {
  const auto read = run_json(words("--compression none,lz4 --over unix,tcp,store"));
  EXPECT_EQ(read["kind"], "comparison");
  EXPECT_EQ(read["type"], "shop.order");
  std::map<std::string, double> bytes;
  for (const auto& row : read["rows"]) {
    EXPECT_FALSE(row.contains("failure")) << row;
    EXPECT_GT(row["round_trip_ns"]["median"], 0);
    bytes[row["family"]] = row["bytes"];
  }
  EXPECT_EQ(read["rows"].size(), 3 * (2 * 2 + 1));
  // Form, fingerprint; "Ada"; two numbers; no remark.
  EXPECT_EQ(bytes["typed"], 5 + 4 + 17 + 1);
  EXPECT_EQ(bytes["json"], std::string(R"({"customer":"Ada","prices":[1.5,2.0],"remark":null})").size());
  EXPECT_THAT(read["advice"].get<std::string>(), HasSubstr("times need the program"));
}

TEST_F(sample_command, says_which_families_need_the_program) {
  const auto made = bench(words("--family typed,cereal --over unix"));
  EXPECT_EQ(made.status, 0) << made.text;
  EXPECT_THAT(made.text, HasSubstr("cereal over unix: needs the program"));
  EXPECT_THAT(made.text, testing::ContainsRegex("\ntyped +none +27 B +- +- "));
}

TEST_F(sample_command, refuses_what_cannot_be_compared_and_says_why) {
  const auto expect_refused = [this](const std::string& arguments, const std::string& why) {
    const auto made = bench(arguments);
    EXPECT_EQ(made.status, 2) << made.text;
    EXPECT_THAT(made.text, HasSubstr(why));
  };
  expect_refused("bench --sample " + path("order.json"), "--sample needs the contract of its type (--contract)");
  expect_refused(words("--type shop.ordr"), "the contract has no type 'shop.ordr'");
  expect_refused("bench --sample " + path("none.json") + " --contract " + path("shop.contract"), "none.json");
  expect_refused("bench --sample " + path("order.json") + " --contract " + path("shop.contract")
                     + " --to unix://@nobody",
                 "without --serve and --to");
  std::ofstream{path("order.json")} << R"({"customer": 7})";
  expect_refused(words(""), ".customer: expected text, found a number");
}

} // namespace

} // namespace troupe::tests
