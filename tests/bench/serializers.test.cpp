// The benchmark as a real program: it runs, writes its results, and leaves nothing behind. Speed is not tested here.
#include "program_run.hpp"
#include "serializers/coders.hpp"
#include "serializers/limits.hpp"

#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class serializers : public program_run {
protected:
  serializers() : program_run(SERIALIZERS_PROGRAM) {}
};

TEST_F(serializers, a_quick_run_has_a_line_of_json_for_each_subject_and_quantity) {
  EXPECT_EQ(run({"--quick", "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  std::map<std::string, std::set<std::string>> subjects; // By quantity.
  for (const auto& line : results("serializers"))
    subjects[line.at("case").get<std::string>()].insert(line.at("subject").get<std::string>());
  for (const auto* quantity : {"encode", "decode", "size"}) {
    const auto& with_it = subjects["struct of eight fields, " + std::string{quantity}];
    for (const auto& name : coder_names())
      EXPECT_EQ(with_it.contains(name), make_coder(name) != nullptr) << quantity << " by " << name;
  }
  EXPECT_EQ(subjects["doubles, decode to a vector of 1 MiB"], (std::set<std::string>{"memcpy", "troupe-typed"}));
  EXPECT_THAT(errors(), IsEmpty());
}

TEST_F(serializers, only_the_subjects_asked_for_run) {
  EXPECT_EQ(run({"--quick", "--subjects", "cereal"}), exited_with(0)) << errors();
  EXPECT_THAT(output(), HasSubstr("cereal"));
  EXPECT_THAT(output(), Not(HasSubstr("troupe-typed")));
  EXPECT_EQ(run({"--subjects", "nothing"}), exited_with(2));
}

TEST(serializer_coders, all_give_back_what_they_were_given) {
  for (const auto& name : coder_names()) {
    const auto coder = make_coder(name);
    if (coder == nullptr)
      continue;
    sample read;
    ASSERT_TRUE(coder->encode(a_sample())) << name;
    ASSERT_TRUE(coder->decode(read)) << name;
    EXPECT_EQ(read, a_sample()) << name;
    EXPECT_GT(coder->size_bytes(), 40u) << name;
  }
}

TEST(serializer_limits, are_ratios_to_a_peer_or_values) {
  const auto is_met = [](double to_cereal, double growth) {
    std::ostringstream said;
    const quantity encode{"struct of eight fields, encode", "ns"};
    const quantity decode{"struct of eight fields, decode", "ns"};
    const std::vector<row> rows{
        {encode, "troupe-typed", 9, 9, 9, {{"cereal", to_cereal}, {"protobuf", 1}}},
        {decode, "troupe-typed", 9, 9, 9, {{"cereal", 0.2}, {"protobuf", 1}}},
        {encode, "troupe-msgpack", 9, 9, 9, {{"msgpack-by-hand", 1.5}}},
        {decode, "troupe-msgpack", 9, 9, 9, {{"msgpack-by-hand", 1.5}}},
        {{"doubles, encode of the largest / of the smallest", "times"}, "troupe-typed", growth, 1, 1, {}},
        {{"doubles, decode to a view of the largest / of the smallest", "times"}, "troupe-typed", 1, 1, 1, {}},
        {{"doubles, decode to a vector of 8 MB", "us"}, "troupe-typed", 9, 9, 9, {{"memcpy", 1.2}}},
        {encode, "cereal", 90, 90, 90, {}}};
    return check_serializer_limits(rows, said);
  };
  EXPECT_TRUE(is_met(0.2, 1.5));
  EXPECT_FALSE(is_met(0.21, 1.5));
  EXPECT_FALSE(is_met(0.2, 1.6));
}

TEST(serializer_limits, what_was_not_measured_is_not_met) {
  std::ostringstream said;
  EXPECT_FALSE(check_serializer_limits({}, said));
  EXPECT_THAT(said.str(), HasSubstr("limit not checked: troupe-typed, struct of eight fields, encode at most 0.2 x "
                                    "cereal\n"));
}

} // namespace
} // namespace bench::tests
