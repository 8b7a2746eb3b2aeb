// `troupe view`, beside members of a cluster.
#include "view_process.hpp"

#include "../cluster/host/temporary_state.hpp"
#include "../eventually.hpp"

#include <troupe/framework/cluster/cluster.hpp>

#include <caf/all.hpp>

#include <algorithm>
#include <optional>

namespace troupe::tests {

namespace {

/// A node that is a member of the cluster.
struct view_member {
  explicit view_member(const std::string& name)
      : at([&] {
          auto options = own_options(name);
          options.store = std::nullopt;
          return options;
        }()),
        in(cluster::join(at.home, {.directory = "host://shop"}).value()) {}

  program at;
  std::optional<cluster> in;
};

TEST(view_command, shows_the_members_of_a_cluster_with_their_work_and_each_node_once) {
  const temporary_state state;
  view_member one{"one"};
  view_member two{"two"};
  ASSERT_TRUE(
      one.in->publish("cart", one.at.system.spawn([]() -> caf::behavior { return {[](int x) { return x; }}; })));
  const view_process view{{"--directory", "host://shop"}};
  nlohmann::json shown;
  ASSERT_TRUE(eventually([&] {
    shown = view.document("/view/state");
    return shown["cluster"]["members"].size() == 2;
  })) << shown;
  EXPECT_EQ(shown["cluster"]["directory"], "host://shop");
  const auto& member = shown["cluster"]["members"].at(0);
  EXPECT_EQ(member["name"], named("one"));
  EXPECT_EQ(member["state"], "up");
  EXPECT_EQ(member["names"], nlohmann::json({"cart"}));
  for (const auto* const name : {"one", "two"})
    EXPECT_EQ(std::ranges::count_if(shown["nodes"], [&](const auto& each) { return each["name"] == named(name); }), 1)
        << shown["nodes"];
}

TEST(view_command, says_that_a_directory_does_not_exist) {
  const temporary_state state;
  const auto answer = run("view --directory host://nothing");
  EXPECT_EQ(answer.status, 2);
  expect_contains(answer.text, "the directory cannot be asked");
}

} // namespace

} // namespace troupe::tests
