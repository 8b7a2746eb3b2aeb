// The command line: accepted and refused arguments.
#include <troupe/samples/wordcount/options.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wordcount::tests {
namespace {

using testing::ElementsAre;
using words = std::vector<std::string>;

std::expected<options, int> parse(const words& arguments) {
  std::vector<const char*> argv{"wordcount"};
  for (const auto& argument : arguments)
    argv.push_back(argument.c_str());
  const troupe::family_set families;
  return read_options(static_cast<int>(argv.size()), argv.data(), families);
}

/// Returns the exit status and the error text for arguments that are refused.
std::pair<int, std::string> refused(const words& arguments) {
  testing::internal::CaptureStderr();
  const auto parsed = parse(arguments);
  auto said = testing::internal::GetCapturedStderr();
  return {parsed ? 0 : parsed.error(), std::move(said)};
}

TEST(arguments, have_defaults) {
  const auto parsed = parse({});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->folder, "/usr/include");
  EXPECT_GE(parsed->workers, 1u);
  EXPECT_EQ(parsed->over, transport::unix_socket);
  EXPECT_THAT(parsed->families_of(1), ElementsAre("typed", "msgpack"));
  EXPECT_EQ(parsed->top, 20u);
  EXPECT_FALSE(parsed->output);
  EXPECT_FALSE(parsed->assignment);
}

TEST(arguments, all_given_are_all_understood) {
  const auto parsed = parse({"--workers", "3", "--families", "typed", "--worker-families", "2=msgpack",
                             "--worker-families", "3=msgpack,typed", "--top", "5", "--output", "counts.tsv", "/etc"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->folder, "/etc");
  EXPECT_EQ(parsed->workers, 3u);
  EXPECT_THAT(parsed->families_of(1), ElementsAre("typed"));
  EXPECT_THAT(parsed->families_of(2), ElementsAre("msgpack"));
  EXPECT_THAT(parsed->families_of(3), ElementsAre("msgpack", "typed"));
  EXPECT_EQ(parsed->top, 5u);
  EXPECT_EQ(parsed->output, "counts.tsv");
}

TEST(arguments, an_option_takes_nothing_that_follows_its_value) {
  const auto parsed = parse({"--workers", "2", "--worker-families", "2=msgpack", "/etc"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->folder, "/etc");
}

TEST(arguments, name_the_transport) {
  for (const auto& [name, meant] : {std::pair{"unix", transport::unix_socket}, std::pair{"tcp", transport::tcp}}) {
    const auto parsed = parse({"--transport", name});
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->over, meant);
    EXPECT_EQ(to_string(parsed->over), name);
  }
}

TEST(arguments, of_a_worker_come_back_as_its_assignment) {
  const auto job = parse({"--workers", "3", "--worker-families", "2=msgpack", "--fault", "2=4:fail"});
  ASSERT_TRUE(job);
  const auto parsed = parse(worker_arguments(*job, {2, "a-store"}));
  ASSERT_TRUE(parsed);
  ASSERT_TRUE(parsed->assignment);
  EXPECT_EQ(parsed->assignment->number, 2u);
  EXPECT_EQ(parsed->assignment->store, "a-store");
  EXPECT_THAT(parsed->families, ElementsAre("msgpack"));
  EXPECT_EQ(parsed->faults.at(2).block, 4u);
}

struct bad_arguments {
  words given;
  std::string said;

  friend void PrintTo(const bad_arguments& shown, std::ostream* to) { *to << testing::PrintToString(shown.given); }
};

class refused_arguments : public testing::TestWithParam<bad_arguments> {};

TEST_P(refused_arguments, are_named_and_end_with_status_2) {
  const auto [status, said] = refused(GetParam().given);
  EXPECT_EQ(status, 2);
  EXPECT_THAT(said, testing::HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    each, refused_arguments,
    testing::Values(bad_arguments{{"--workers", "0"}, "--workers"}, bad_arguments{{"--workers", "201"}, "--workers"},
                    bad_arguments{{"--workers", "many"}, "--workers"}, bad_arguments{{"--top", "-1"}, "--top"},
                    bad_arguments{{"--transport", "pipe"}, "there is no transport 'pipe'; known are unix, tcp"},
                    bad_arguments{{"--transport", "TCP"}, "there is no transport 'TCP'; known are unix, tcp"},
                    bad_arguments{{"--transport", ""}, "--transport: there is no transport ''; known are unix, tcp"},
                    bad_arguments{{"--transport"}, "--transport"},
                    bad_arguments{{"--families", "xml"}, "there is no family 'xml'; known are typed, msgpack"},
                    bad_arguments{{"--families", ""}, "--families"}, bad_arguments{{"--output", ""}, "--output"},
                    bad_arguments{{"--workers", "2", "--worker-families", "3=typed"}, "there are workers 1 to 2"},
                    bad_arguments{{"--worker-families", "1"}, "NUMBER=..."},
                    bad_arguments{{"--worker-families", "x=typed"}, "does not begin with a worker's number"},
                    bad_arguments{{"--worker-families", "1=typed", "--worker-families", "1=msgpack"}, "twice"},
                    bad_arguments{{"--no-such-option"}, "--no-such-option"}, bad_arguments{{"one", "two"}, "two"}));

} // namespace
} // namespace wordcount::tests
