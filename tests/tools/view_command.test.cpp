// `troupe view`, beside active nodes. tests/view/ has its page in a browser.
#include "view_process.hpp"

#include "../eventually.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace troupe::tests {

namespace {

TEST(view_command, serves_the_page_and_the_nodes_of_this_user_to_its_own_token) {
  program hall{own_options("hall")};
  program kitchen{own_options("kitchen")};
  const auto link = kitchen.home.connect(hall.home.addresses()[0]).value();
  view_process view;
  EXPECT_TRUE(view.url().starts_with("http://127.0.0.1:")) << view.text();
  EXPECT_TRUE(view.url().ends_with("/view")) << view.text();
  EXPECT_GE(view.token().size(), 32U);
  EXPECT_EQ(view.get("/view", "").status, 200);
  EXPECT_EQ(view.get("/view/state", "").status, 401);
  EXPECT_EQ(view.get("/view/state", std::string(40, 'x')).status, 401);
  const auto shown = view.node(named("kitchen"));
  ASSERT_FALSE(shown.is_null());
  EXPECT_EQ(shown["state"], "open");
  EXPECT_EQ(shown["links"].size(), 1U) << shown; // Without that of the command.
  EXPECT_EQ(shown["links"].at(0)["peer"], named("hall"));
  const auto detail =
      view.document("/view/links/" + shown["key"].get<std::string>() + "/" + shown["links"].at(0)["number"].dump());
  EXPECT_EQ(detail["peer"], named("hall"));
  EXPECT_EQ(view.end(), 0);
}

TEST(view_command, tells_which_ends_belong_together_of_links_that_two_nodes_have_made_at_once) {
  program hall{own_options("hall")};
  program kitchen{own_options("kitchen")};
  std::vector<troupe::link> links;
  for (int i = 0; i < 2; ++i)
    links.push_back(kitchen.home.connect(hall.home.addresses()[0]).value());
  const auto adder = hall.system.spawn([]() -> caf::behavior { return {[](int) {}}; });
  ASSERT_TRUE(hall.home.publish("adder", adder));
  caf::scoped_actor self{kitchen.system};
  self->send(links[1].find("adder").value(), 1); // One link is told from the other by what it has carried.
  const view_process view;
  std::map<std::string, std::pair<int, int>> carried; // By identity: sent by the kitchen, received by the hall.
  EXPECT_TRUE(eventually([&] {
    carried.clear();
    const auto here = view.node(named("kitchen"));
    const auto there = view.node(named("hall"));
    for (const auto& link : here["links"])
      carried[link["link_id"]].first = link["stats"]["messages_sent"];
    for (const auto& link : there["links"])
      carried[link["link_id"]].second = link["stats"]["messages_received"];
    return std::ranges::any_of(carried, [](const auto& each) { return each.second == std::pair{1, 1}; });
  }));
  EXPECT_EQ(carried.size(), 2U);
  for (const auto& [id, numbers] : carried)
    EXPECT_EQ(numbers.first, numbers.second) << id;
}

TEST(view_command, shows_what_is_kept_in_the_stores) {
  program hall{own_options("hall")};
  const auto kept = hall.home.put(doubles(std::vector<double>(1'000))).value();
  const view_process view;
  const auto state = view.node(named("hall"));
  ASSERT_FALSE(state.is_null());
  const auto memory = view.document("/view/memory");
  EXPECT_TRUE(std::ranges::any_of(memory["summary"]["objects"], [](const auto& each) {
    return each["size_bytes"] >= 8'000;
  })) << memory;
}

TEST(view_command, shows_a_node_that_has_ended_as_lost) {
  auto hall = std::make_unique<program>(own_options("hall"));
  const view_process view;
  ASSERT_FALSE(view.node(named("hall")).is_null());
  hall.reset();
  EXPECT_TRUE(eventually([&] { return view.node(named("hall"))["state"] == "lost"; }));
  EXPECT_EQ(view.node(named("hall"))["problem"], "the process has ended");
}

TEST(view_command, tells_of_the_actors_of_a_node_and_of_links_that_are_lost) {
  program hall{own_options("hall")};
  const auto adder = hall.system.spawn([]() -> caf::behavior { return {[](int x) { return x + 1; }}; });
  ASSERT_TRUE(hall.home.publish("adder", adder));
  const view_process view;
  const auto key = view.node(named("hall"))["key"];
  const auto told = [&] {
    const auto document = view.document("/view/activity");
    for (const auto& each : document["nodes"])
      if (each["key"] == key)
        return each;
    return nlohmann::json{};
  };
  const auto before = told();
  ASSERT_FALSE(before.is_null());
  EXPECT_EQ(before["problem"], "");
  EXPECT_TRUE(std::ranges::any_of(before["actors"], [](const auto& each) { return each["name"] == "adder"; }))
      << before;
  {
    program kitchen{own_options("kitchen")};
    ASSERT_TRUE(kitchen.home.connect(hall.home.addresses()[0]));
  }
  EXPECT_TRUE(eventually([&] {
    const auto lost = told()["lost_links"];
    return std::ranges::any_of(lost, [](const auto& each) { return each["peer"] == named("kitchen"); });
  }));
}

TEST(view_command, gives_orders_only_if_it_was_told_to_allow_them) {
  program hall{own_options("hall")};
  program kitchen{own_options("kitchen")};
  const auto link = kitchen.home.connect(hall.home.addresses()[0]).value();
  const auto order_to = [&](const view_process& view) {
    const auto node = view.node(named("kitchen"));
    return nlohmann::json{{"node", node["key"]},
                          {"order", {{"what", "close_link"}, {"number", node["links"].at(0)["number"]}}}}
        .dump();
  };
  const view_process looking;
  EXPECT_EQ(looking.post("/view/act", order_to(looking)).status, 403);
  EXPECT_TRUE(link.is_open());
  const view_process acting{{"--allow-actions"}};
  EXPECT_EQ(acting.post("/view/act", R"({"node":"nobody","order":{"what":"close_link","number":1}})").status, 404);
  EXPECT_EQ(acting.post("/view/act", R"({"node":"nobody","order":{"waht":"close_link","number":1}})").status, 400);
  const auto done = acting.post("/view/act", order_to(acting));
  EXPECT_EQ(done.status, 200) << done.body;
  EXPECT_TRUE(eventually([&] { return !link.is_open(); }));
}

TEST(view_command, never_sends_an_order_to_the_node_that_came_after_the_one_that_was_meant) {
  auto options = own_options("hall");
  options.accepted_links.allow_report = true;
  options.accepted_links.allow_orders = true;
  const auto address = "unix://@" + named("one-address");
  options.listen = {address};
  auto hall = std::make_unique<program>(options);
  const view_process view{{"--allow-actions", address}};
  const auto before = view.node(named("hall"))["key"].get<std::string>();
  hall.reset();
  hall = std::make_unique<program>(options); // In the same process, at the same address, with the same name.
  program guest{own_options("guest")};
  const auto kept = guest.home.connect(address).value();
  nlohmann::json shown;
  ASSERT_TRUE(eventually([&] {
    const auto state = view.document("/view/state");
    for (const auto& each : state["nodes"])
      if (each["state"] == "open")
        shown = each;
    return !shown.is_null() && shown["key"] != before && !shown["links"].empty();
  })) << shown;
  for (int number = 0; number < 40; ++number) {
    const auto answer = view.post("/view/act", R"({"node":")" + before + R"(","order":{"what":"close_link","number":)"
                                                   + std::to_string(number) + "}}");
    EXPECT_EQ(answer.status, 404) << answer.body;
  }
  EXPECT_TRUE(kept.is_open());
  const auto state = view.document("/view/state"); // The earlier one is shown as ended.
  EXPECT_TRUE(std::ranges::any_of(state["nodes"], [&](const auto& each) {
    return each["key"] == before && each["state"] == "lost";
  })) << state;
}

TEST(view_command, gives_a_node_the_same_key_in_each_run_and_different_keys_to_different_nodes) {
  program hall{own_options("hall")};
  program kitchen{own_options("kitchen")};
  const view_process first;
  const view_process second;
  EXPECT_EQ(first.node(named("hall"))["key"], second.node(named("hall"))["key"]);
  EXPECT_NE(first.node(named("hall"))["key"], second.node(named("kitchen"))["key"]);
  EXPECT_NE(first.document("/view/state")["run"], second.document("/view/state")["run"]);
}

TEST(view_command, does_not_show_the_links_of_another_view) {
  program hall{own_options("hall")};
  const view_process first;
  ASSERT_FALSE(first.node(named("hall")).is_null());
  const view_process second;
  EXPECT_EQ(second.node(named("hall"))["links"].size(), 0U);
  EXPECT_EQ(first.node(named("hall"))["links"].size(), 0U);
}

TEST(view_command, shows_given_addresses_only_and_says_why_one_does_not_answer) {
  auto options = own_options("hall");
  options.accepted_links.allow_report = true;
  program hall{options};
  program kitchen{own_options("kitchen")};
  const view_process view{{hall.home.addresses()[0], "unix://@nobody-" + std::to_string(::getpid())}};
  const auto nodes = view.document("/view/state")["nodes"];
  ASSERT_EQ(nodes.size(), 2U);
  for (const auto& each : nodes) {
    EXPECT_NE(each["name"], named("kitchen"));
    EXPECT_EQ(each["state"], each["name"] == named("hall") ? "open" : "silent");
    EXPECT_EQ(each["problem"] == "", each["name"] == named("hall"));
  }
}

TEST(view_command, takes_the_tokens_of_a_file_that_nobody_else_can_read) {
  const auto path = folder() + "/tokens";
  const std::string token(32, 'k');
  std::ofstream(path) << "boss " << token << " view\n";
  ::chmod(path.c_str(), 0644);
  const auto open_to_all = run("view --token-file " + path);
  EXPECT_EQ(open_to_all.status, 1);
  expect_contains(open_to_all.text, "chmod 600");
  ::chmod(path.c_str(), 0600);
  {
    const view_process view{{"--token-file", path}};
    EXPECT_EQ(view.token(), "");
    EXPECT_EQ(view.get("/view/state", token).status, 200);
  }
  ::unlink(path.c_str());
}

TEST(view_command, refuses_what_it_cannot_do) {
  const auto bogus = run("view bogus");
  EXPECT_EQ(bogus.status, 2);
  expect_contains(bogus.text, "bogus");
  EXPECT_EQ(run("view --port 70000").status, 2);
  EXPECT_EQ(run("view --token-file /nonexistent").status, 2);
  const auto unknown = run("view --directory nonsense");
  EXPECT_EQ(unknown.status, 2);
  expect_contains(unknown.text, "nonsense");
}

} // namespace

} // namespace troupe::tests
