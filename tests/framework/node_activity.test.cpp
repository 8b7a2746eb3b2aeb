// Goal: a node tells what happens in it, bounded, and only to peers that may ask; a node that nobody asks keeps
// nothing.
#include <troupe/framework/node_activity.hpp>

#include <algorithm>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <troupe/framework/dead_letter.hpp>
#include <troupe/framework/internal/caf_port/actors/inspector.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/node_report.hpp>
#include <troupe/framework/tracing.hpp>

#include "span_collector.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

struct counter_state {
  int count = 0;
};

caf::behavior counter(caf::stateful_actor<counter_state>* self) {
  self->set_default_handler(caf::drop);
  return {[self](int more) { return self->state.count += more; }};
}

class taker final : public caf::event_based_actor {
public:
  using caf::event_based_actor::event_based_actor;
  caf::behavior make_behavior() override {
    set_default_handler(caf::drop);
    return {[](int value) { return value; }, [](const guest_list&) {}};
  }
};

class activity : public two_nodes {
protected:
  activity() {
    near_options_.store = std::nullopt;
    far_options_.store = std::nullopt;
    far_options_.accepted_links.allow_report = true;
  }
  ~activity() override { let_go(); }

  /// What far tells.
  node_activity told(const activity_query& query = {}) {
    auto answer = link_->activity(query);
    EXPECT_TRUE(answer) << answer.error().message();
    return answer.value_or(node_activity{});
  }
  static std::optional<actor_activity> named(const node_activity& of, std::string_view name) {
    const auto found = std::ranges::find(of.actors, name, &actor_activity::name);
    return found != of.actors.end() ? std::optional{*found} : std::nullopt;
  }

  /// An actor of far whose handler waits until let_go().
  caf::actor spawn_slow() {
    return far().system.spawn<caf::detached>([go_on = go_on_.get_future().share()](caf::event_based_actor* self) {
      self->set_default_handler(caf::drop);
      return caf::behavior{[go_on](const std::string&) { go_on.wait(); }};
    });
  }
  void let_go() {
    if (!std::exchange(may_go_on_, true))
      go_on_.set_value();
  }

private:
  std::promise<void> go_on_;
  bool may_go_on_ = false;
};

// -- the identity of links

class link_ids : public two_nodes, public testing::WithParamInterface<std::string> {
protected:
  /// The identities that a node reports, by the number of its link.
  static std::map<std::uint64_t, std::string> ids_of(const node& of) {
    std::map<std::uint64_t, std::string> found;
    for (const auto& each : of.report({}).links)
      found.emplace(each.number, each.link_id);
    return found;
  }
};

TEST_P(link_ids, are_the_same_at_both_ends_and_differ_between_links_of_the_same_nodes) {
  far_options_.listen = {GetParam().starts_with("tcp") ? GetParam() : GetParam() + unique_name("ids")};
  far();
  std::vector<link> links;
  for (int i = 0; i < 3; ++i)
    links.push_back(near().home->connect(address_).value());
  EXPECT_TRUE(eventually([&] { return ids_of(*far().home).size() == 3; }));
  std::set<std::string> here, there;
  for (const auto& [number, id] : ids_of(*near().home))
    here.insert(id);
  for (const auto& [number, id] : ids_of(*far().home))
    there.insert(id);
  EXPECT_EQ(here, there);
  EXPECT_EQ(here.size(), 3U);
  for (const auto& each : here)
    EXPECT_EQ(each.size(), 32U) << each;
}

INSTANTIATE_TEST_SUITE_P(over_each_transport, link_ids, testing::Values("unix://@", "tcp://127.0.0.1:0", "inproc://"),
                         [](const auto& of) { return of.param.substr(0, of.param.find(':')); });

// -- actors

TEST_F(activity, names_the_published_actors_with_their_classes_and_links) {
  const auto plain = publish("taker", far().system.spawn<taker>());
  publish("counter", far().system.spawn(counter));
  connect();
  const auto handle = find("taker");
  const auto seen = told();
  EXPECT_EQ(seen.name, "far");
  EXPECT_EQ(seen.process, static_cast<std::uint32_t>(::getpid()));
  const auto found = named(seen, "taker");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->actor, plain.id());
  EXPECT_NE(found->kind.find("taker"), std::string::npos) << found->kind;
  EXPECT_EQ(found->links.size(), 1u);
  const auto state = named(seen, "counter");
  ASSERT_TRUE(state);
  EXPECT_NE(state->kind.find("counter_state"), std::string::npos) << state->kind;
  EXPECT_EQ(state->kind.find("stateful_actor"), std::string::npos) << state->kind;
  EXPECT_TRUE(state->links.empty()) << "no peer has found it";
  EXPECT_EQ(seen.actors.size(), 2u) << "the node's own helpers are not listed";
}

TEST_F(activity, counts_the_messages_that_an_actor_has_not_consumed) {
  publish("idle", far().system.spawn<taker>());
  publish("slow", spawn_slow());
  connect();
  static_cast<void>(find("idle"));
  const auto there = find("slow");
  for (int i = 0; i < 5; ++i)
    caf::anon_send(there, std::string(1'000, 'x'));
  node_activity seen;
  ASSERT_TRUE(eventually([&] {
    seen = told();
    return named(seen, "slow")->waiting_messages == 5;
  }));
  EXPECT_GE(named(seen, "slow")->waiting_bytes, 5'000u);
  EXPECT_EQ(named(seen, "idle")->waiting_messages, 0u);
  EXPECT_EQ(seen.actors.front().name, "slow") << "it has the most bytes waiting";
  let_go();
  EXPECT_TRUE(eventually([&] { return named(told(), "slow")->waiting_messages == 0; }));
}

TEST_F(activity, lists_a_thousand_actors_and_counts_the_others) {
  publish("slow", spawn_slow());
  connect();
  caf::anon_send(find("slow"), std::string{"x"});
  guest_list handles{"far", {}};
  for (int i = 0; i < 1'200; ++i)
    handles.guests.push_back(far().system.spawn<taker>());
  far()
      .home
      ->publish("giver", far().system.spawn([handles](caf::event_based_actor*) -> caf::behavior {
        return {[handles](int) { return handles; }};
      }))
      .value();
  auto given = ask<guest_list>(near().system, find("giver"), 1);
  ASSERT_TRUE(given) << text_of(given);
  node_activity seen;
  ASSERT_TRUE(eventually([&] {
    seen = told();
    return seen.actors.front().name == "slow" && seen.actors.front().waiting_messages == 1;
  }));
  EXPECT_EQ(seen.actors.size(), 1'000u);
  EXPECT_EQ(seen.actors_omitted, 202u);

  // Over a second link the peer gets the same actors.
  auto second = near().home->connect(address_).value();
  auto again = ask<guest_list>(near().system, second.find("giver").value(), 1);
  ASSERT_TRUE(again) << text_of(again);
  seen = told();
  EXPECT_LE(seen.actors_omitted, 203u) << "each actor counts once"; // Perhaps also the one that asked last.
  EXPECT_EQ(seen.actors.size(), 1'000u);
}

TEST_F(activity, leaves_out_what_the_query_leaves_out) {
  publish("taker", far().system.spawn<taker>());
  connect();
  const auto seen = told({.actors = false, .supervisors = false, .letters = false, .spans = false});
  EXPECT_TRUE(seen.actors.empty());
  EXPECT_FALSE(far().home->core()->letter_watch().is_watching());
  EXPECT_FALSE(far().home->core()->span_watch().is_watching());
}

// -- dead letters

TEST_F(activity, keeps_letters_from_the_first_query_on) {
  publish("taker", far().system.spawn<taker>());
  connect();
  const auto there = find("taker");
  link_->close();
  ASSERT_TRUE(eventually([&] { return !link_->is_open(); }));
  const auto number = link_->number();
  caf::anon_send(there, 1);
  EXPECT_TRUE(near().home->activity({}).letters.empty()) << "nobody had asked";
  caf::anon_send(there, 2);
  caf::anon_send(there, 3);
  const auto seen = near().home->activity({});
  ASSERT_EQ(seen.letters.size(), 2u);
  const auto& letter = seen.letters.front();
  EXPECT_EQ(letter.peer, "far");
  EXPECT_EQ(letter.link, number);
  EXPECT_FALSE(letter.has_arrived);
  EXPECT_FALSE(letter.is_request);
  EXPECT_EQ(letter.reason, "link_down");
  EXPECT_FALSE(letter.text.empty());
  EXPECT_EQ(letter.types, std::vector<std::string>{"i32"});
  EXPECT_GT(letter.at_ms, 1'600'000'000'000);
  const auto rest = near().home->activity({.letters_after = letter.number});
  ASSERT_EQ(rest.letters.size(), 1u);
  EXPECT_EQ(rest.letters[0].number, letter.number + 1);
  EXPECT_EQ(near().home->stats().dead_letters, 0u);
  EXPECT_EQ(near().home->stats().dead_letters_lost, 0u);
}

TEST_F(activity, keeps_a_bounded_number_of_letters) {
  publish("taker", far().system.spawn<taker>());
  connect();
  const auto there = find("taker");
  link_->close();
  ASSERT_TRUE(eventually([&] { return !link_->is_open(); }));
  static_cast<void>(near().home->activity({}));
  for (int i = 0; i < 300; ++i)
    caf::anon_send(there, i);
  const auto seen = near().home->activity({});
  EXPECT_EQ(seen.letters.size(), 256u);
  EXPECT_EQ(seen.letters_lost, 44u);
  EXPECT_EQ(seen.letters.back().number, 300u);
}

TEST_F(activity, leaves_the_program_its_letters_with_their_values) {
  publish("taker", far().system.spawn<taker>());
  connect();
  const auto there = find("taker");
  link_->close();
  ASSERT_TRUE(eventually([&] { return !link_->is_open(); }));
  std::promise<dead_letter> got;
  const auto undertaker = near().system.spawn([&got](caf::event_based_actor*) -> caf::behavior {
    return {[&got](const dead_letter& letter) { got.set_value(letter); }};
  });
  near().home->dead_letters(undertaker).value();
  static_cast<void>(near().home->activity({}));
  caf::anon_send(there, 7);
  auto letter = got.get_future();
  ASSERT_EQ(letter.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(letter.get().values.size(), 1u);
  EXPECT_EQ(near().home->activity({}).letters.size(), 1u);
  near().home->dead_letters(caf::actor{}).value();
  caf::anon_send(there, 8);
  EXPECT_EQ(near().home->activity({}).letters.size(), 2u) << "the program's end of interest does not end the watch";
}

// -- traces

TEST_F(activity, shows_the_spans_of_messages_that_are_sampled_anyway) {
  publish("taker", far().system.spawn<taker>());
  connect();
  const auto there = find("taker");
  const auto sampled =
      trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=7").value();
  const auto ask_with_context = [&] {
    with_context(sampled, [&] { EXPECT_EQ((ask<int>(near().system, there, 7)), 7); })();
  };
  ask_with_context();
  EXPECT_TRUE(told().spans.empty()) << "nobody had asked";
  static_cast<void>(near().home->activity({}));
  EXPECT_EQ((ask<int>(near().system, there, 7)), 7);
  ask_with_context();
  node_activity seen;
  ASSERT_TRUE(eventually([&] {
    seen = told();
    return !seen.spans.empty();
  }));
  ASSERT_EQ(seen.spans.size(), 1u) << "the request without a context is not sampled";
  const auto& served = seen.spans[0];
  EXPECT_EQ(served.trace, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(served.kind, "server");
  EXPECT_EQ(served.peer, "near");
  EXPECT_EQ(served.types, "i32");
  EXPECT_GE(served.handler_ns, 0);
  EXPECT_GE(served.duration_us, 0);
  EXPECT_GT(served.start_us, 1'600'000'000'000'000);
  ASSERT_TRUE(eventually([&] { return near().home->activity({}).spans.size() == 1; }));
  const auto asked = near().home->activity({}).spans[0];
  EXPECT_EQ(asked.kind, "client");
  EXPECT_EQ(asked.parent, "b7ad6b7169203331");
  EXPECT_EQ(asked.wire_ns, -1);
  EXPECT_EQ(served.parent, asked.id);
}

TEST_F(activity, leaves_the_program_its_spans) {
  publish("taker", far().system.spawn<taker>());
  connect();
  const auto sink = std::make_shared<span_collector>();
  far().home->record_spans(sink, 0).value();
  static_cast<void>(told());
  const auto sampled = trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").value();
  with_context(sampled, [&] { EXPECT_EQ((ask<int>(near().system, find("taker"), 7)), 7); })();
  EXPECT_TRUE(eventually([&] { return sink->all().size() == 1 && told().spans.size() == 1; }));
  far().home->record_spans(nullptr).value();
  with_context(sampled, [&] { EXPECT_EQ((ask<int>(near().system, find("taker"), 7)), 7); })();
  EXPECT_TRUE(eventually([&] { return told().spans.size() == 2; }));
  EXPECT_EQ(sink->all().size(), 1u);
}

// -- lost links

TEST_F(activity, remembers_the_last_links_that_ended) {
  std::uint64_t last = 0;
  for (int i = 0; i < 34; ++i) {
    connect();
    last = link_->number();
    link_->close();
  }
  ASSERT_TRUE(eventually([&] {
    const auto lost = near().home->activity({}).lost_links;
    return !lost.empty() && lost.back().number == last;
  }));
  const auto lost = near().home->activity({}).lost_links;
  EXPECT_EQ(lost.size(), 32u);
  EXPECT_EQ(lost.back().peer, "far");
  EXPECT_EQ(lost.back().address, address_);
  EXPECT_EQ(lost.back().reason, "link_down");
  EXPECT_NE(lost.back().text.find("closed by its user"), std::string::npos) << lost.back().text;
  EXPECT_GT(lost.back().at_ms, 1'600'000'000'000);
}

// -- who may ask, and how often

TEST_F(activity, is_refused_without_the_permission) {
  far_options_.accepted_links.allow_report = false;
  far_options_.accepted_links.allow_memory_summary = true;
  connect();
  const auto refused = link_->activity({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::not_allowed);
  EXPECT_NE(refused.error().message().find("allow_report"), std::string::npos) << refused.error().message();
}

TEST_F(activity, is_told_to_processes_of_the_user_whose_links_are_not_remembered) {
  publish("taker", far().system.spawn<taker>());
  const auto known = local_nodes();
  ASSERT_TRUE(known) << known.error().message();
  near_options_.local_queries = false;
  const auto mine = std::ranges::find(*known, static_cast<std::uint32_t>(::getpid()), &local_node::process);
  ASSERT_NE(mine, known->end());
  auto over = near().home->connect(mine->address, {.serializers = {"msgpack"}, .connect_timeout = 10s});
  ASSERT_TRUE(over) << over.error().message();
  const auto seen = over->activity({});
  ASSERT_TRUE(seen) << seen.error().message();
  EXPECT_TRUE(named(*seen, "taker"));
  over->close();
  ASSERT_TRUE(eventually([&] { return far().home->core()->links().all().empty(); }));
  EXPECT_TRUE(far().home->activity({}).lost_links.empty());
}

TEST_F(activity, is_not_known_to_older_peers) {
  far_types_ = [](type_registry& types) { types.add<activity_query>("test.another_name"); }; // So it lacks our name.
  connect();
  const auto unknown = link_->activity({});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), node_errc::unsupported) << unknown.error().message();
  EXPECT_NE(unknown.error().message().find("far runs Troupe"), std::string::npos) << unknown.error().message();
  EXPECT_TRUE(link_->report(10s, {})) << "other questions are answered";
}

// Goal: if a peer asks faster than it is answered, the number of answers that a node works on stays bounded.
TEST(inspectors, refuse_more_activity_queries_than_their_limit) {
  caf::actor_system_config config;
  config.set("scheduler.max-threads", 2 * internal::queries_per_link_max);
  caf::actor_system system{config};
  std::promise<void> go_on;
  const auto may_go_on = go_on.get_future().share();
  internal::query_answers answers;
  answers.activity = [may_go_on](const activity_query&) -> std::expected<node_activity, node_error> {
    may_go_on.wait();
    return node_activity{};
  };
  const auto asked = internal::spawn_inspector(system, std::move(answers));
  caf::scoped_actor asks{system};
  const auto ask_once = [&] { return asks->request(asked, 10s, activity_query{}); };
  std::vector<decltype(ask_once())> pending;
  for (std::size_t i = 0; i < internal::queries_per_link_max; ++i)
    pending.push_back(ask_once());
  node_error refusal{node_errc::task_failed, "it was answered"};
  ask_once().receive([](const node_activity&) {}, [&](const caf::error& why) { refusal = to_node_error(why); });
  EXPECT_EQ(refusal.code(), node_errc::link_busy);
  go_on.set_value();
  for (auto& each : pending)
    each.receive([](const node_activity&) {}, [](const caf::error& why) { ADD_FAILURE() << troupe::text_of(why); });
  asks->send_exit(asked, caf::exit_reason::user_shutdown);
}

} // namespace
} // namespace troupe::tests
