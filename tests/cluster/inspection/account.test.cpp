// Goal: a member that is asked says whom it reaches, and what is wrong.
#include <gtest/gtest.h>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/framework/cluster/internal/inspection/account_record.hpp>
#include <troupe/framework/cluster/internal/inspection/reach_probe.hpp>
#include <troupe/framework/cluster/internal/membership/addresses.hpp>
#include <troupe/framework/cluster/member_account.hpp>

#include "../../framework/two_nodes.hpp"
#include "../memory_directory.hpp"

namespace troupe::tests {
namespace {

using namespace membership;

class an_account : public testing::Test {
protected:
  struct asked_member {
    asked_member(const std::string& name, const std::shared_ptr<memory_world>& world)
        : at({.name = name, .listen = {"unix://@" + unique_name("asked")}, .store = std::nullopt}),
          in(cluster::join(*at.home, {.opened = std::make_shared<memory_directory>(world), .lease = 2s}).value()) {}

    side at;
    std::optional<cluster> in;
  };

  /// Asks over a new link.
  std::expected<member_account, node_error> ask(const asked_member& whom) {
    auto link = asker_.home->connect(whom.at.home->addresses().front());
    if (!link)
      return std::unexpected{link.error()};
    return ask_for_account(*link);
  }

  const std::shared_ptr<memory_world> world_ = std::make_shared<memory_world>();
  side asker_{{.name = "asker", .listen = {}, .store = std::nullopt}};
};

TEST_F(an_account, says_which_members_are_reached_and_why_others_are_not) {
  asked_member one{"one", world_};
  asked_member two{"two", world_};
  const auto lease = world_->grant();
  // An entry that leads to the node of another member, one that leads nowhere, and one that cannot be read.
  world_->put("members/thief",
              R"({"incarnation":")" + std::string(64, '0') + R"(","addresses":[")" + two.at.home->addresses().front()
                  + R"("],"host":")" + this_host() + R"("})",
              lease);
  world_->put("members/far", R"({"incarnation":"x","addresses":["unix://@x"],"host":"elsewhere"})", lease);
  world_->put("members/odd", "[]", lease);
  ASSERT_TRUE(eventually([&] { return one.in->members().size() == 4 && one.in->problems().size() == 1; }));
  const auto account = ask(one);
  ASSERT_TRUE(account) << account.error().message();
  EXPECT_EQ(account->member, "one");
  ASSERT_TRUE(account->clock);
  EXPECT_LT(std::chrono::abs(std::chrono::system_clock::now() - *account->clock), 60s);
  ASSERT_EQ(account->problems.size(), 1u);
  EXPECT_NE(account->problems.front().find("members/odd"), std::string::npos);
  ASSERT_EQ(account->reaches.size(), 3u); // Not itself.
  EXPECT_EQ(account->reaches[0].member, "far");
  EXPECT_EQ(account->reaches[0].why, "it has no address that leads from here to it");
  EXPECT_EQ(account->reaches[1].member, "thief");
  EXPECT_NE(account->reaches[1].why, "");
  EXPECT_EQ(account->reaches[2].member, "two");
  EXPECT_EQ(account->reaches[2].why, "");
}

TEST_F(an_account, is_not_given_by_a_node_that_has_left) {
  asked_member one{"one", world_};
  ASSERT_TRUE(ask(one));
  one.in.reset();
  EXPECT_EQ(ask(one).error().code(), node_errc::not_found);
}

TEST_F(an_account, reads_as_it_was_written_and_is_cut_to_its_bounds) {
  member_account written{.member = "one",
                         .is_draining = true,
                         .clock = std::chrono::sys_time<std::chrono::milliseconds>{1234567ms},
                         .problems = {"a", "b"},
                         .reaches = {{"two", true, "refused", 3ms}, {"three", false, "", 0ms}, {"four"}}};
  EXPECT_EQ(read_account_record(account_record(written)), written);
  written.problems.assign(1'000, std::string(5'000, 'x') + "\xff");
  written.reaches.assign(1'000, {std::string(5'000, 'y'), true, std::string(5'000, 'z'), 1h});
  const auto read = read_account_record(account_record(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->problems.size(), 100u);
  EXPECT_EQ(read->reaches.size(), 256u);
  EXPECT_EQ(read->reaches.front().member.size(), 1'024u);
}

TEST_F(an_account, that_is_forged_is_refused) {
  const auto long_text = '"' + std::string(2'000, 'x') + '"';
  const auto list = [](const std::string& of, std::size_t count) {
    std::string text = of;
    for (std::size_t i = 1; i < count; ++i)
      text += ',' + of;
    return '[' + text + ']';
  };
  EXPECT_TRUE(read_account_record(R"({"member":"a","problems":)" + list(R"("x")", 100) + '}'));
  EXPECT_FALSE(read_account_record(R"({"member":"a","problems":)" + list(R"("x")", 101) + '}'));
  EXPECT_TRUE(read_account_record(R"({"member":"a","reaches":)" + list(R"({"member":"b"})", 256) + '}'));
  EXPECT_FALSE(read_account_record(R"({"member":"a","reaches":)" + list(R"({"member":"b"})", 257) + '}'));
  for (const std::string& forged :
       {std::string{}, std::string{"[]"}, std::string{"{"}, std::string{R"({"member":1})"},
        R"({"member":)" + long_text + '}', std::string{R"({"member":"a","problems":{}})"},
        R"({"member":"a","problems":[)" + long_text + "]}", std::string{R"({"member":"a","reaches":[1]})"},
        std::string{R"({"member":"a","reaches":[{"why":"x"}]})"}, std::string(2'000'000, ' ')})
    EXPECT_EQ(read_account_record(forged), std::nullopt) << forged.substr(0, 60);
  const auto odd = read_account_record(R"({"member":"a","unix_ms":-9e99,"reaches":[{"member":"b","ms":-5}],"new":1})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->reaches.front().time, 0ms);
}

TEST(a_reach_probe, shares_one_round_among_all_who_ask_meanwhile) {
  std::atomic<int> rounds{0};
  std::atomic<int> answers{0};
  std::promise<void> go;
  const auto may_go = go.get_future().share();
  reach_probe probe{{.members =
                         [&] {
                           ++rounds;
                           return std::vector{cluster_member{.name = "a"}, cluster_member{.name = "b"}};
                         },
                     .dial =
                         [&](const cluster_member& of) {
                           may_go.wait();
                           return of.name == "a" ? std::string{} : std::string{"it is down"};
                         }}};
  const auto count = [&](const std::vector<member_reach>& outcome) {
    EXPECT_EQ(outcome.size(), 2u);
    EXPECT_EQ(outcome[1].why, "it is down");
    ++answers;
  };
  probe.ask(count);
  ASSERT_TRUE(eventually([&] { return rounds == 1; }));
  for (auto i = 0; i < 9; ++i)
    probe.ask(count);
  go.set_value();
  EXPECT_TRUE(eventually([&] { return answers == 10; }));
  EXPECT_EQ(rounds, 1);
}

} // namespace
} // namespace troupe::tests
