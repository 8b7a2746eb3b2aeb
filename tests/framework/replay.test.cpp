// Tapes that are sent again.
#include <troupe/framework/replay.hpp>

#include <map>
#include <string>
#include <vector>

#include <troupe/framework/internal/tape/record_difference.hpp>
#include <troupe/serializers/cereal/cereal_type.hpp>

#include "internal/tape/tape_support.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

/// Neither end that replays has these types.
struct text_part {
  std::string title;
  std::vector<std::string> words;
};
TROUPE_DESCRIBE(text_part, title, words)

struct word_counts {
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t parts = 0;
};
TROUPE_DESCRIBE(word_counts, counts, parts)

using how_many_atom = caf::atom_constant<caf::atom("how-many")>;

/// Counts words, and answers with the counts so far. `bias` is added to each count that it tells.
caf::behavior counter(caf::stateful_actor<word_counts>* self, std::uint64_t bias) {
  const auto told = [=] {
    auto result = self->state;
    for (auto& [word, count] : result.counts)
      count += bias;
    return result;
  };
  return {[=](const text_part& part) {
            for (const auto& word : part.words)
              ++self->state.counts[word];
            ++self->state.parts;
            return told();
          },
          [=](how_many_atom, const std::string& word) { return self->state.counts[word] + bias; },
          [=](const std::string& word) { ++self->state.counts[word]; },
          [=](const caf::actor& other, int number) {
            self->send(other, number);
            return other != nullptr;
          }};
}

class replay_test : public two_nodes {
protected:
  replay_test() {
    near_options_.store = std::nullopt;
    far_options_.store = std::nullopt;
    far_types_ = near_types_ = [](type_registry& types) {
      types.add<text_part>("test.text_part");
      types.add<word_counts>("test.word_counts");
    };
  }

  /// Records a count of words: requests, one-way messages and answers.
  void record_counting(const std::string& family = "typed") {
    publish("counter", far().system.spawn(counter, std::uint64_t{0}));
    link_options options{.serializers = {family}, .deserializers = {"typed", "msgpack", "json"}};
    options.recording.file = file_;
    connect(options);
    const auto there = find("counter");
    for (int i = 0; i < 5; ++i) {
      (void)ask<word_counts>(near().system, there,
                             text_part{"part " + std::to_string(i), {"tea", "pot", i % 2 == 0 ? "cup" : "tea"}});
      caf::scoped_actor self{near().system};
      self->send(there, std::string{"milk"});
    }
    EXPECT_EQ(ask<std::uint64_t>(near().system, there, how_many_atom::value, std::string{"tea"}), 7u);
    end_both();
  }

  void end_both() {
    link_.reset();
    near_.reset();
    far_.reset();
  }

  /// A node that has none of the types, as the command has none.
  void open_replaying(const link_options& options = {.serializers = {"typed", "msgpack", "json"}}) {
    near_types_ = [](type_registry& types) { add_replay_types(types); };
    connect(options);
  }

  std::expected<replay_report, node_error> replay_with(const replay_options& options) {
    auto from = tape::open(file_).value();
    return replay(from, *link_, near().system, near().types, near().families, options);
  }

  const scratch_folder folder_;
  const std::string file_ = folder_.file("day.tape");
  const replay_options fast_{.speed = 0, .expect_answers = true};
};

TEST_F(replay_test, of_counted_words_gives_the_same_counts) {
  record_counting();
  const auto again = publish("counter", far().system.spawn(counter, std::uint64_t{0}));
  open_replaying();
  const auto report = replay_with(fast_);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->messages, 11u);
  EXPECT_EQ(report->requests, 6u);
  EXPECT_EQ(report->answers, 6u);
  EXPECT_EQ(report->same, 6u);
  EXPECT_TRUE(report->is_clean());
  EXPECT_TRUE(report->differences.empty());
  EXPECT_TRUE(report->skipped.empty());
  EXPECT_EQ(ask<std::uint64_t>(far().system, again, how_many_atom::value, std::string{"tea"}), 7u);
  EXPECT_EQ(ask<std::uint64_t>(far().system, again, how_many_atom::value, std::string{"milk"}), 5u);
}

TEST_F(replay_test, names_the_answers_of_a_changed_actor) {
  record_counting();
  publish("counter", far().system.spawn(counter, std::uint64_t{1}));
  open_replaying();
  const auto report = replay_with(fast_);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->different, 6u);
  EXPECT_FALSE(report->is_clean());
  ASSERT_EQ(report->differences.size(), 6u);
  EXPECT_EQ(report->differences[0].message, 1u);
  EXPECT_EQ(report->differences[0].actor, "counter");
  EXPECT_EQ(report->differences[0].what, ".counts.cup: 2 instead of 1");
  EXPECT_EQ(report->differences[5].what, "the value: 8 instead of 7");
}

TEST_F(replay_test, sends_by_other_families) {
  record_counting();
  for (const std::string family : {"msgpack", "json"}) {
    far_options_.accepted_links.serializers = {family};
    far_options_.accepted_links.deserializers = {family};
    publish("counter", far().system.spawn(counter, std::uint64_t{0}));
    open_replaying({.serializers = {family}});
    auto options = fast_;
    options.families = {family};
    const auto report = replay_with(options);
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->same, 6u) << family << (report->differences.empty() ? "" : report->differences[0].what);
    EXPECT_TRUE(report->is_clean());
    for (const auto& each : link_->stats().by_type)
      EXPECT_TRUE(each.sent.payloads == 0 || each.family == family) << each.family << ' ' << each.type;
    end_both();
  }
}

TEST_F(replay_test, of_a_family_that_needs_the_program_skips_the_messages_with_the_reason) {
  record_counting("msgpack");
  publish("counter", far().system.spawn(counter, std::uint64_t{0}));
  open_replaying();
  auto options = fast_;
  options.families = {"typed"};
  const auto report = replay_with(options);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->requests, 1u) << "atoms and texts are types of every program";
  ASSERT_FALSE(report->skipped.empty());
  EXPECT_NE(report->skipped.begin()->first.find("typed needs the program"), std::string::npos);
}

TEST_F(replay_test, to_other_names_sends_only_what_was_chosen) {
  record_counting();
  publish("second", far().system.spawn(counter, std::uint64_t{0}));
  open_replaying();
  auto options = fast_;
  options.actors = {{"counter", "second"}};
  auto report = replay_with(options);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->same, 6u);
  options.actors = {{"another", "second"}};
  report = replay_with(options);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->messages, 0u);
  EXPECT_EQ(report->skipped.at("the actor \"counter\" was not chosen"), 11u);
}

TEST_F(replay_test, to_an_actor_that_is_not_there_says_so) {
  record_counting();
  far();
  open_replaying();
  auto options = fast_;
  options.find_timeout = std::chrono::milliseconds{0};
  const auto report = replay_with(options);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->messages, 0u);
  ASSERT_EQ(report->skipped.size(), 1u);
  EXPECT_NE(report->skipped.begin()->first.find("the actor \"counter\" was not found"), std::string::npos);
  EXPECT_EQ(report->unasked, 6u);
  EXPECT_FALSE(report->is_clean());
}

TEST_F(replay_test, compares_the_types_of_answers_with_handles_only) {
  const auto publish_giver = [this] {
    publish("giver", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      return {[self](int) { return caf::actor{self}; }};
    }));
  };
  publish_giver();
  link_options recorded;
  recorded.recording.file = file_;
  connect(recorded);
  EXPECT_TRUE(ask<caf::actor>(near().system, find("giver"), 1));
  end_both();
  publish_giver();
  open_replaying();
  const auto report = replay_with(fast_);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->answers, 1u);
  EXPECT_EQ(report->different, 0u);
  EXPECT_EQ(report->uncompared, 1u);
}

TEST_F(replay_test, keeps_the_time_between_messages_by_the_given_speed) {
  publish("counter", far().system.spawn(counter, std::uint64_t{0}));
  link_options recorded;
  recorded.recording.file = file_;
  connect(recorded);
  const auto there = find("counter");
  (void)ask<word_counts>(near().system, there, text_part{});
  const auto pause_ends = std::chrono::steady_clock::now() + 200ms; // It is to be on the tape.
  EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() >= pause_ends; }));
  (void)ask<word_counts>(near().system, there, text_part{});
  end_both();
  publish("counter", far().system.spawn(counter, std::uint64_t{0}));
  open_replaying();
  for (const auto& [speed, least] : {std::pair{1.0, 200ms}, {2.0, 100ms}}) {
    const auto began = std::chrono::steady_clock::now();
    auto options = fast_;
    options.speed = speed;
    options.expect_answers = false;
    ASSERT_TRUE(replay_with(options));
    EXPECT_GE(std::chrono::steady_clock::now() - began, least);
  }
}

TEST_F(replay_test, stops_waiting_for_answers_at_the_deadline) {
  record_counting();
  publish("counter", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::skip); // Never answers.
    return {[](caf::unit_t) {}};
  }));
  open_replaying();
  auto options = fast_;
  options.answer_timeout = 50ms;
  options.requests_most = 2;
  const auto report = replay_with(options);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->unanswered, 6u);
  EXPECT_EQ(report->differences.size(), 6u);
  EXPECT_EQ(report->differences[0].what, "no answer within 50 ms");
  EXPECT_FALSE(report->is_clean());
}

TEST_F(replay_test, maps_handles_of_actors_that_have_names_and_refuses_the_others_by_name) {
  publish("counter", far().system.spawn(counter, std::uint64_t{0}));
  publish("friend", far().system.spawn([]() -> caf::behavior { return {[](int) {}}; }));
  link_options recorded;
  recorded.recording.file = file_;
  connect(recorded);
  const auto there = find("counter");
  EXPECT_TRUE(ask<bool>(near().system, there, find("friend"), 1));
  EXPECT_TRUE(ask<bool>(near().system, there, near().system.spawn([]() -> caf::behavior { return {[](int) {}}; }), 2));
  end_both();
  auto got = std::make_shared<std::atomic<int>>(0);
  publish("counter", far().system.spawn(counter, std::uint64_t{0}));
  publish("friend", far().system.spawn([got]() -> caf::behavior { return {[got](int number) { *got += number; }}; }));
  open_replaying();
  const auto report = replay_with(fast_);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->same, 1u);
  EXPECT_TRUE(eventually([&] { return *got == 1; }));
  EXPECT_EQ(report->skipped.size(), 2u) << "the message with the handle, and the one that was sent to it";
  EXPECT_TRUE(std::ranges::any_of(report->skipped, [](const auto& each) {
    return each.first.starts_with("of an actor handle: actor ") && each.first.ends_with(" has no name on the tape");
  }));
}

TEST_F(replay_test, ends_early_if_the_link_ends) {
  record_counting();
  publish("counter", far().system.spawn(counter, std::uint64_t{0}));
  open_replaying();
  (void)find("counter");
  link_->close();
  ASSERT_TRUE(eventually([&] { return !link_->is_open(); }));
  const auto report = replay_with(fast_);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->messages, 0u);
  EXPECT_FALSE(report->is_clean() && report->skipped.empty());
}

TEST_F(replay_test, needs_a_registry_that_was_prepared) {
  record_counting();
  publish("counter", far().system.spawn(counter, std::uint64_t{0}));
  connect();
  const auto refused = replay_with(fast_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::bad_option);
}

TEST(record_differences, name_the_first_place) {
  using internal::first_difference;
  const auto first = record::of({{"a", 1}, {"b", record::list{1, 2, 3}}});
  EXPECT_EQ(first_difference(first, first), std::nullopt);
  EXPECT_EQ(first_difference(record::of({{"b", record::list{1, 2, 3}}, {"a", 1.0}}), first), std::nullopt);
  EXPECT_EQ(first_difference(record::of({{"a", 1}, {"b", record::list{1, 5, 3}}}), first), ".b[1]: 5 instead of 2");
  EXPECT_EQ(first_difference(record::of({{"a", 1}}), first), ".b: missing, instead of [1, 2, 3]");
  EXPECT_EQ(first_difference(record::of({{"a", 1}, {"b", record::list{1}}}), first), ".b: 1 elements instead of 3");
  EXPECT_EQ(first_difference(record{"x"}, record{"y"}), R"(the value: "x" instead of "y")");
}

} // namespace
} // namespace troupe::tests
