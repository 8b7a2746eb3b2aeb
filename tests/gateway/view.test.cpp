// Goal: the view: its documents, its cache, who may look and act, and the page's files.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../framework/log_lines.hpp"
#include "open_gateway.hpp"

#include <troupe/framework/gateway/internal/view/kept_activity.hpp>
#include <troupe/framework/gateway/internal/view/own_node.hpp>
#include <troupe/framework/gateway/internal/view/page_files.hpp>
#include <troupe/framework/gateway/internal/view/view_desk.hpp>
#include <troupe/framework/gateway/internal/view/view_document.hpp>
#include <troupe/framework/gateway/internal/words/routes.hpp>
#include <troupe/framework/node_report.hpp>
#include <troupe/serializers/serialize.hpp>

namespace troupe::tests {
namespace {

using namespace web;
using json = nlohmann::json;

link_report some_link(std::uint64_t number) {
  link_report made{.number = number, .peer = "kettle", .transport = "unix", .is_dialed = true, .compression = "none"};
  made.serializers = {"typed", "msgpack"};
  made.stats.messages_sent = 7;
  made.stats.socket_bytes_sent = 700;
  made.stats.window_bytes = 4096;
  made.stats.refused_by_policy = 5;
  made.stats.large_frame_bytes_here = 6;
  made.stats.by_type = {{"msgpack", "tea", {2, 20, {}}, {}},
                        {"typed", "cup", {3, 300, {}}, {1, 10, {}}},
                        {"typed", "spoon", {4, 40, {}}, {}}};
  made.stats.latencies.round_trip = {.count = 2,
                                     .sum = std::chrono::nanoseconds(300),
                                     .p50 = std::chrono::nanoseconds(100),
                                     .buckets = {{std::chrono::nanoseconds(128), 2}}};
  return made;
}

view_snapshot snapshot_with(std::size_t links) {
  view_snapshot made;
  auto& node = made.nodes.emplace_back(viewed_node{.key = "n1"});
  node.report.name = "cup";
  node.report.process = 42;
  node.report_age_ms = 1500;
  for (std::size_t i = 1; i <= links; ++i)
    node.report.links.push_back(some_link(i));
  return made;
}

TEST(a_view_document, has_the_figures_of_each_link_and_its_families) {
  const auto state = json::parse(view_document().state(snapshot_with(2), true, 1234));
  EXPECT_EQ(state["at_ms"], 1234);
  EXPECT_EQ(state["takes_orders"], true);
  EXPECT_TRUE(state["cluster"].is_null());
  const auto& node = state["nodes"].at(0);
  EXPECT_EQ(node["key"], "n1");
  EXPECT_EQ(node["state"], "open");
  EXPECT_EQ(node["process"], 42);
  const auto& link = node["links"].at(1);
  EXPECT_EQ(link["number"], 2);
  EXPECT_EQ(link["dialed"], true);
  EXPECT_EQ(link["stats"]["messages_sent"], 7);
  EXPECT_EQ(link["stats"]["window_bytes"], 4096);
  EXPECT_EQ(link["stats"]["refused_by_policy"], 5);
  EXPECT_EQ(link["stats"]["large_frame_bytes_here"], 6);
  EXPECT_TRUE(link["features"].is_array());
  EXPECT_EQ(node["report_age_ms"], 1500);
  EXPECT_EQ(link["families"].size(), 2U);
  EXPECT_EQ(link["families"].at(1)["family"], "typed");
  EXPECT_EQ(link["families"].at(1)["bytes_sent"], 340);
  EXPECT_EQ(link["latencies"].size(), 1U);
  EXPECT_EQ(link["latencies"].at(0)["p50_ns"], 100);
  EXPECT_TRUE(link["latencies"].at(0)["buckets"].empty());
}

TEST(a_view_document, has_types_and_buckets_in_the_details_of_a_link_only) {
  const auto seen = snapshot_with(2);
  const auto link = json::parse(view_document().link(seen, "n1", 2));
  EXPECT_EQ(link["families"].size(), 3U);
  EXPECT_EQ(link["families"].at(2)["type"], "spoon");
  EXPECT_EQ(link["latencies"].at(0)["buckets"], json::parse("[[128,2]]"));
  EXPECT_EQ(view_document().link(seen, "n1", 3), "");
  EXPECT_EQ(view_document().link(seen, "n2", 2), "");
}

TEST(a_view_document, leaves_out_and_counts_what_is_beyond_its_bounds) {
  const auto state = json::parse(view_document().state(snapshot_with(view_document::links_max + 5), false, 0));
  EXPECT_EQ(state["nodes"].at(0)["links"].size(), view_document::links_max);
  EXPECT_EQ(state["nodes"].at(0)["links_left_off"], 5);
  memory_summary kept{.objects_left_off = 3, .bytes_left_off = 30};
  kept.objects.assign(view_document::objects_max + 2, {.object = "o", .size_bytes = 10});
  kept.objects.front().holders.resize(view_document::holders_max + 1);
  const auto memory = json::parse(view_document().memory(kept, 0));
  EXPECT_EQ(memory["summary"]["objects"].size(), view_document::objects_max);
  EXPECT_EQ(memory["summary"]["objects_left_off"], 5);
  EXPECT_EQ(memory["summary"]["bytes_left_off"], 50);
  EXPECT_EQ(memory["summary"]["objects"].at(0)["holders"].size(), view_document::holders_max);
}

TEST(a_view_document, has_no_links_of_commands_and_other_views) {
  auto seen = snapshot_with(2);
  seen.nodes.front().report.links.front().peer = "troupe command 77";
  seen.nodes.front().report.links.front().is_dialed = false;
  const auto state = json::parse(view_document().state(seen, false, 0));
  ASSERT_EQ(state["nodes"].at(0)["links"].size(), 1U);
  EXPECT_EQ(state["nodes"].at(0)["links"].at(0)["peer"], "kettle");
  EXPECT_EQ(state["nodes"].at(0)["links_left_off"], 0);
  viewed_activity told{.key = "n1"};
  told.now.lost_links = {{.number = 6, .peer = "troupe command 77"}, {.number = 7, .peer = "kettle"}};
  EXPECT_EQ(json::parse(view_document().activity({told}, 0))["nodes"].at(0)["lost_links"].size(), 1U);
}

TEST(a_view_document, cuts_and_cleans_the_names_of_peers) {
  auto seen = snapshot_with(1);
  auto& node = seen.nodes.front();
  node.report.name = "<script>alert(1)</script>";
  node.report.links.front().peer = "\u202etxt.exe\x01\xff";
  node.problem = std::string(10'000, 'x');
  const auto text = view_document().state(seen, false, 0);
  EXPECT_LT(text.size(), 5'000U);
  const auto state = json::parse(text); // It is UTF-8.
  EXPECT_EQ(state["nodes"].at(0)["name"], "<script>alert(1)</script>");
  EXPECT_EQ(state["nodes"].at(0)["links"].at(0)["peer"], "?txt.exe??");
  EXPECT_LE(state["nodes"].at(0)["problem"].get<std::string>().size(), 500U);
}

TEST(a_view_document, reads_orders_and_says_what_is_wrong_with_them) {
  const view_document documents;
  const auto order =
      documents.order(R"({"node":"n1","order":{"what":"reconfigure_link","number":3,"serializers":["json"]}})");
  ASSERT_TRUE(order) << order.error();
  EXPECT_EQ(order->order.what, order_kind::reconfigure_link);
  EXPECT_EQ(order->order.number, 3U);
  EXPECT_EQ(order->order.serializers, std::vector<std::string>{"json"});
  for (const auto* const wrong : {"", "{", "[]", R"({"order":{"what":"explode"}})", R"({"order":{"number":-1}})",
                                  R"({"order":{"number":"x"}})", R"({} {})"})
    EXPECT_FALSE(documents.order(wrong)) << wrong;
}

TEST(a_view_document, refuses_an_order_that_is_misspelled_and_names_the_field) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"node":"n1","order":{"waht":"close_link","number":1}})", "waht"},
      {R"({"node":"n1","order":{"number":1}})", "\"what\""},
      {R"({"node":"n1","order":{"what":0,"number":1}})", "\"what\" must be a text"},
      {R"({"node":"n1","order":{"what":null,"number":1}})", "\"what\" must be a text"},
      {R"({"node":"n1","order":{"what":"none","number":1}})", "\"what\" is \"none\""},
      {R"({"node":"n1","order":{"what":"close","number":1}})", "\"what\" is \"close\""},
      {R"({"node":"n1","order":{"what":"close_link","number":1,"force":true}})", "force"},
      {R"({"node":"n1","order":{"what":"close_link","number":1,"number":2}})", "number"},
      {R"({"node":"n1","order":{"what":"close_link"}})", "\"number\""},
      {R"({"node":"n1","order":{"what":"release_out_of_band"}})", "\"object\""},
      {R"({"node":"n1","order":{"what":"close_link","number":1},"extra":1})", "extra"},
      {R"({"node":7,"order":{"what":"close_link","number":1}})", "\"node\" must be a text"},
      {R"({"order":{"what":"close_link","number":1}})", "\"node\""},
      {R"({"node":"n1"})", "\"what\""},
      {R"({"node":"n1","order":[]})", "\"order\" must be an object"}};
  EXPECT_EQ(node_order{}.what, order_kind::none); // Also in C++, an order that was left empty does nothing.
  for (const auto& [wrong, named] : cases) {
    const auto order = view_document().order(wrong);
    ASSERT_FALSE(order) << wrong;
    EXPECT_NE(order.error().find(named), std::string::npos) << wrong << ": " << order.error();
  }
}

/// A source that counts how often it is asked.
struct counting_source final : view_source {
  view_snapshot look(std::chrono::milliseconds) override {
    ++looks;
    return snapshot_with(1);
  }
  memory_summary memory(std::chrono::milliseconds) override {
    ++memories;
    return {};
  }
  bool takes_orders() const override { return is_willing; }
  std::expected<void, node_error> act(const view_order& given, const std::string& by,
                                      std::chrono::milliseconds) override {
    orders.push_back(by + " " + given.node + " " + std::to_string(given.order.number));
    if (given.order.number == 404)
      return std::unexpected{node_error{node_errc::not_found, "there is no link 404"}};
    return {};
  }

  std::atomic<int> looks{0};
  std::atomic<int> memories{0};
  bool is_willing = true;
  std::vector<std::string> orders;
};

TEST(a_view_desk, asks_the_source_once_in_a_second_for_any_number_of_viewers) {
  const auto source = std::make_shared<counting_source>();
  view_desk::clock::time_point now{std::chrono::hours(1)};
  view_desk desk{source, [&] { return now; }};
  EXPECT_EQ(source->looks, 0);
  const auto first = desk.state();
  for (int viewer = 0; viewer < 100; ++viewer) {
    EXPECT_EQ(desk.state(), first);
    EXPECT_TRUE(desk.link("n1", 1));
    EXPECT_TRUE(desk.memory());
  }
  EXPECT_EQ(source->looks, 1);
  EXPECT_EQ(source->memories, 1);
  now += view_desk::fresh_for;
  EXPECT_NE(desk.state(), first);
  EXPECT_EQ(source->looks, 2);
}

letter_activity letter(std::uint64_t number) {
  return {.number = number, .peer = "kettle", .reason = "link_down"};
}

TEST(kept_activity, adds_new_letters_and_spans_to_the_old_ones_of_the_same_node) {
  kept_activity kept;
  kept.take({{.key = "n1", .now = {.letters = {letter(1), letter(2)}, .letters_lost = 1, .spans = {{.number = 7}}}}});
  kept.take({{.key = "n1", .now = {.letters = {letter(3)}, .letters_lost = 2}},
             {.key = "n2", .now = {.letters = {letter(1)}}}});
  ASSERT_EQ(kept.all().size(), 2U);
  const auto& first = kept.all().front().now;
  ASSERT_EQ(first.letters.size(), 3U);
  EXPECT_EQ(first.letters.front().number, 1U);
  EXPECT_EQ(first.letters.back().number, 3U);
  EXPECT_EQ(first.letters_lost, 3U);
  EXPECT_EQ(first.spans.size(), 1U);
  EXPECT_EQ(kept.all().back().now.letters.size(), 1U);
  kept.take({{.key = "n2"}});
  ASSERT_EQ(kept.all().size(), 1U);
  EXPECT_EQ(kept.all().front().now.letters.size(), 1U);
}

TEST(kept_activity, has_the_newest_up_to_its_bounds) {
  kept_activity kept;
  for (std::uint64_t number = 1; number <= 2 * kept_activity::letters_max; ++number)
    kept.take({{.key = "n1", .now = {.letters = {letter(number)}}}});
  ASSERT_EQ(kept.all().front().now.letters.size(), kept_activity::letters_max);
  EXPECT_EQ(kept.all().front().now.letters.back().number, 2 * kept_activity::letters_max);
  std::vector<span_activity> spans(kept_activity::spans_max + 5);
  kept.take({{.key = "n1", .now = {.spans = std::move(spans)}}});
  kept.take({{.key = "n1", .now = {.spans = {{.number = 9}}}}});
  EXPECT_EQ(kept.all().front().now.spans.size(), kept_activity::spans_max);
  EXPECT_EQ(kept.all().front().now.spans.back().number, 9U);
}

TEST(a_view_document, tells_what_happens_in_a_node_with_clean_names) {
  viewed_activity told{.key = "n1"};
  told.now.name = "cup";
  told.now.actors.push_back({.name = "bell\x07", .actor = 3, .waiting_messages = 2});
  told.now.supervisors.push_back(
      {.actor = 4, .strategy = "one_for_one", .children = {{.name = "w\xff", .state = "running"}}});
  told.now.letters.push_back(letter(1));
  told.now.letters.back().types = {"tea\n"};
  told.now.spans.push_back({.number = 5, .trace = "ab", .error = std::string(1'000, 'e')});
  told.now.lost_links.push_back({.number = 6, .peer = "kettle", .text = "gone"});
  const auto document = json::parse(view_document().activity({told}, 77));
  const auto& node = document["nodes"].at(0);
  EXPECT_EQ(document["at_ms"], 77);
  EXPECT_EQ(node["key"], "n1");
  EXPECT_EQ(node["actors"].at(0)["name"], "bell?");
  EXPECT_EQ(node["supervisors"].at(0)["children"].at(0)["name"], "w?");
  EXPECT_EQ(node["letters"].at(0)["types"], json({"tea?"}));
  EXPECT_LE(node["spans"].at(0)["error"].get<std::string>().size(), 500U);
  EXPECT_EQ(node["lost_links"].at(0)["text"], "gone");
}

TEST(a_view_desk, looks_again_after_an_order) {
  const auto source = std::make_shared<counting_source>();
  view_desk desk{source};
  static_cast<void>(desk.state());
  EXPECT_TRUE(desk.act(R"({"node":"n1","order":{"what":"close_link","number":1}})", "boss"));
  static_cast<void>(desk.state());
  EXPECT_EQ(source->looks, 2);
  EXPECT_EQ(source->orders, std::vector<std::string>{"boss n1 1"});
  const auto unknown = desk.act(R"({"node":"n1","order":{"what":"close_link","number":404}})", "boss");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().status, 404U);
  source->is_willing = false;
  const auto refused = desk.act(R"({"node":"n1","order":{"what":"close_link","number":1}})", "boss");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, 403U);
  EXPECT_EQ(source->orders.size(), 2U);
}

TEST(a_view_desk, logs_an_order_with_the_names_of_the_node_and_the_peer_and_with_what_changes) {
  view_desk desk{std::make_shared<counting_source>()};
  static_cast<void>(desk.state());
  const log_lines log{log_level::warning};
  EXPECT_TRUE(desk.act(R"({"node":"n1","order":{"what":"reconfigure_link","number":1,"serializers":["json","msgpack"],)"
                       R"("compression":"lz4"}})",
                       "boss"));
  EXPECT_FALSE(desk.act(R"({"node":"n1","order":{"what":"close_link","number":404}})", "boss"));
  EXPECT_EQ(log.with("warning: view: the token \"boss\" has ordered: reconfigure link 1 to kettle of node cup (process "
                     "42), sends json,msgpack instead of typed,msgpack, compression lz4 instead of none; done"),
            1U)
      << log.text();
  EXPECT_EQ(log.with("close link 404 of node cup (process 42); refused: "), 1U) << log.text();
}

TEST(a_view_desk, names_its_run_so_that_a_page_sees_that_the_program_was_started_again) {
  const auto run_of = [](view_desk& desk) { return json::parse(*desk.state())["run"].get<std::string>(); };
  view_desk first{std::make_shared<counting_source>()};
  view_desk second{std::make_shared<counting_source>()};
  EXPECT_EQ(run_of(first), run_of(first));
  EXPECT_GE(run_of(first).size(), 32U);
  EXPECT_NE(run_of(first), run_of(second));
}

TEST(the_files_of_the_page, are_those_of_its_folder_byte_by_byte) {
  std::set<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator(TROUPE_PAGE_FOLDER)) {
    names.insert(each.path().filename());
    const auto* const file = find_page_file(each.path().filename().string());
    ASSERT_NE(file, nullptr) << each.path();
    std::ostringstream bytes;
    bytes << std::ifstream(each.path()).rdbuf();
    EXPECT_EQ(file->bytes, bytes.str()) << each.path();
  }
  EXPECT_EQ(page_files().size(), names.size());
  EXPECT_EQ(find_page_file(""), find_page_file("index.html"));
  EXPECT_EQ(find_page_file("nothing.js"), nullptr);
}

TEST(the_files_of_the_page, have_no_markup_from_data_and_no_address_of_another_site) {
  for (const auto& file : page_files()) {
    for (const auto* const wrong :
         {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "https://"})
      EXPECT_EQ(file.bytes.find(wrong), std::string_view::npos) << file.name << ": " << wrong;
    const std::string_view svg_name = "http://www.w3.org/2000/svg";
    for (auto at = file.bytes.find("http://"); at != std::string_view::npos; at = file.bytes.find("http://", at + 1))
      EXPECT_EQ(file.bytes.substr(at, svg_name.size()), svg_name) << file.name;
  }
}

TEST(the_routes_of_the_view, are_told_apart) {
  const auto what = [](std::string_view method, std::string_view target) {
    const auto found = find_route(method, target, false);
    return found ? static_cast<int>(found->what) : -static_cast<int>(found.error().status);
  };
  const auto is = [](action which) { return static_cast<int>(which); };
  EXPECT_EQ(what("GET", "/view"), is(action::show_page));
  EXPECT_EQ(what("HEAD", "/view/main.js"), is(action::show_page));
  EXPECT_EQ(what("GET", "/view/state"), is(action::view_state));
  EXPECT_EQ(what("GET", "/view/memory"), is(action::view_memory));
  EXPECT_EQ(what("GET", "/view/activity"), is(action::view_activity));
  EXPECT_EQ(what("POST", "/view/act"), is(action::view_act));
  EXPECT_EQ(what("OPTIONS", "/view/act"), is(action::ask_leave));
  EXPECT_EQ(what("GET", "/view/act"), -405);
  EXPECT_EQ(what("POST", "/view/state"), -405);
  EXPECT_EQ(what("POST", "/view"), -405);
  EXPECT_EQ(what("GET", "/view/state?token=1"), -400);
  EXPECT_EQ(what("GET", "/view/../tokens"), -404);
  EXPECT_EQ(what("GET", "/view/a/b"), -404);
  EXPECT_EQ(what("GET", "/viewer"), -404);
  const auto link = find_route("GET", "/view/links/n1/18", false);
  ASSERT_TRUE(link);
  EXPECT_EQ(link->name, "n1");
  EXPECT_EQ(link->number, 18U);
  for (const auto* const wrong : {"/view/links/n1/", "/view/links/n1/x", "/view/links/n1/1x", "/view/links/n1",
                                  "/view/links//1", "/view/links/n1/99999999999999999999"})
    EXPECT_EQ(what("GET", wrong), -404) << wrong;
}

const std::string viewer_token = "viewer-0123456789abcdef0123456789abcdef";
const std::string boss_token = "boss-0123456789abcdef0123456789abcdef";

class a_view : public open_gateway {
protected:
  a_view() {
    tokens_.write("full " + full_token + " call:* schema\nviewer " + viewer_token + " view\nboss " + boss_token
                  + " view act\n");
  }
  http_answer get(const std::string& target, const std::string& token) {
    return answer_to(request("GET", target, "", "", token));
  }
  http_answer act(const std::string& order, const std::string& token) {
    return answer_to(request("POST", "/view/act", order, "", token));
  }

  const std::shared_ptr<counting_source> source_ = std::make_shared<counting_source>();
};

TEST_F(a_view, is_not_there_unless_the_program_serves_it) {
  for (const auto* const target : {"/view", "/view/main.js", "/view/state", "/view/memory", "/view/links/n1/1"})
    EXPECT_EQ(get(target, viewer_token).status, 404) << target;
  EXPECT_EQ(act("{}", boss_token).status, 404);
}

TEST_F(a_view, gives_its_page_to_everybody_and_its_figures_to_tokens_with_the_right) {
  gateway().serve_view(source_);
  const auto page = get("/view", "");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, find_page_file("index.html")->bytes);
  EXPECT_EQ(get("/view/main.js", "").status, 200);
  EXPECT_EQ(get("/view/none.js", "").status, 404);
  EXPECT_EQ(source_->looks, 0);
  for (const auto* const target : {"/view/state", "/view/memory", "/view/links/n1/1"}) {
    EXPECT_EQ(get(target, "").status, 401) << target;
    EXPECT_EQ(get(target, full_token).status, 403) << target;
    EXPECT_EQ(get(target, viewer_token).status, 200) << target;
  }
  EXPECT_EQ(get("/view/links/n1/7", viewer_token).status, 404);
  EXPECT_EQ(json::parse(get("/view/state", viewer_token).body)["nodes"].at(0)["name"], "cup");
}

TEST_F(a_view, has_a_strict_policy_on_every_file) {
  gateway().serve_view(source_);
  for (const auto& file : page_files()) {
    const auto answer = get("/view/" + std::string(file.name), "");
    EXPECT_EQ(answer.status, 200) << file.name;
    EXPECT_EQ(answer.head.at("content-type"), file.content_type);
    const auto& policy = answer.head.at("content-security-policy");
    for (const auto* const rule : {"default-src 'none'", "script-src 'self';", "style-src 'self';",
                                   "connect-src 'self';", "frame-ancestors 'none'"})
      EXPECT_NE(policy.find(rule), std::string::npos) << policy;
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    EXPECT_EQ(answer.head.at("x-content-type-options"), "nosniff");
    EXPECT_EQ(answer.head.at("cache-control"), "no-store");
  }
  const auto head = answer_to(request("HEAD", "/view", "", "", ""), false);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
}

TEST_F(a_view, takes_orders_from_tokens_with_the_right_only) {
  gateway().serve_view(source_);
  const std::string order = R"({"node":"n1","order":{"what":"close_link","number":5}})";
  EXPECT_EQ(act(order, "").status, 401);
  EXPECT_EQ(act(order, viewer_token).status, 403);
  EXPECT_EQ(act(order, full_token).status, 403);
  EXPECT_TRUE(source_->orders.empty());
  EXPECT_EQ(act(order, boss_token).status, 200);
  EXPECT_EQ(source_->orders, std::vector<std::string>{"boss n1 5"});
  EXPECT_EQ(act("{", boss_token).status, 400);
  EXPECT_EQ(get("/view/state", boss_token).head.count("troupe-view-act"), 1U);
  EXPECT_EQ(get("/view/state", viewer_token).head.count("troupe-view-act"), 0U);
  const auto foreign = answer_to(request("POST", "/view/act", order, "Origin: http://evil.example\r\n", boss_token));
  EXPECT_EQ(foreign.status, 403);
  EXPECT_EQ(source_->orders.size(), 1U);
}

TEST_F(a_view, shows_the_gateways_own_node_and_closes_its_links) {
  EXPECT_NE(own_node(*home().home, true).look({}).nodes.front().key,
            own_node(*home().home, true).look({}).nodes.front().key);
  gateway().serve_own_view(true);
  side other{{.name = "guest", .store = std::nullopt}};
  const auto address = "unix://@" + unique_name("view");
  ASSERT_TRUE(home().home->listen({address}));
  const auto link = other.home->connect(address);
  ASSERT_TRUE(link);
  json shown;
  ASSERT_TRUE(eventually([&] {
    shown = json::parse(get("/view/state", viewer_token).body);
    return !shown["nodes"].at(0)["links"].empty();
  }));
  EXPECT_EQ(shown["nodes"].at(0)["name"], "home");
  const auto& seen = shown["nodes"].at(0)["links"].at(0);
  EXPECT_EQ(seen["peer"], "guest");
  json order{{"node", shown["nodes"].at(0)["key"]},
             {"order", {{"what", "reconfigure_link"}, {"number", seen["number"]}, {"serializers", {"msgpack"}}}}};
  EXPECT_EQ(act(order.dump(), boss_token).status, 200);
  EXPECT_EQ(json::parse(get("/view/state", viewer_token).body)["nodes"].at(0)["links"].at(0)["serializers"],
            json({"msgpack"}));
  order["order"]["compression"] = "gzip";
  EXPECT_EQ(act(order.dump(), boss_token).status, 422);
  order["order"].erase("compression");
  order["order"]["number"] = 99;
  EXPECT_EQ(act(order.dump(), boss_token).status, 404);
  order["order"] = {{"what", "close_link"}, {"number", seen["number"]}};
  EXPECT_EQ(act(order.dump(), boss_token).status, 200);
  EXPECT_TRUE(eventually([&] { return !link->is_open(); }));
}

TEST_F(a_view, frees_an_out_of_band_pin_of_the_gateways_own_node_for_tokens_that_may_act_only) {
  gateway().serve_own_view(true);
  payload saved;
  {
    auto ref = home().home->put(array<double>(std::vector<double>(1'000, 0.5)));
    ASSERT_TRUE(ref) << ref.error().message();
    const allow_out_of_band_handles guard{*home().home};
    auto made = serialize(*ref, {}, home().types, home().families);
    ASSERT_TRUE(made) << made.error().message();
    saved = *std::move(made);
  }
  const auto read = [&] {
    return deserialize<object_ref<array<double>>>(saved, {}, home().types, home().families).value().get();
  };
  EXPECT_TRUE(read());
  json pinned;
  const auto memory = json::parse(get("/view/memory", viewer_token).body);
  for (const auto& each : memory["summary"]["objects"])
    for (const auto& holder : each["holders"])
      if (holder["reason"] == "out_of_band")
        pinned = each["object"];
  ASSERT_TRUE(pinned.is_string());
  const auto key = [&] { return json::parse(get("/view/state", viewer_token).body)["nodes"].at(0)["key"]; };
  json order{{"node", key()}, {"order", {{"what", "release_out_of_band"}, {"object", pinned}}}};
  EXPECT_EQ(act(order.dump(), viewer_token).status, 403);
  gateway().serve_own_view(false);
  EXPECT_EQ(act(order.dump(), boss_token).status, 403);
  EXPECT_TRUE(read()) << "nobody could free it";
  gateway().serve_own_view(true);
  order["node"] = key();
  const auto done = act(order.dump(), boss_token);
  EXPECT_EQ(done.status, 200) << done.body;
  const auto gone = read();
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), node_errc::object_freed);
  EXPECT_EQ(act(order.dump(), boss_token).status, 404) << "it is free already";
}

} // namespace
} // namespace troupe::tests
