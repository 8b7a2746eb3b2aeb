// A message's claims on its link are returned if the message does not leave, and belong to the peer if it does.
#include <troupe/framework/internal/link/message_claims.hpp>

#include <gtest/gtest.h>

#include <caf/actor_companion.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <troupe/framework/node_error.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

/// Counts the objects in flight.
class counting_path final : public flight_path<store::handle> {
public:
  [[nodiscard]] std::expected<void, store::store_error> hand_over(const store::handle&) override {
    if (fails)
      return std::unexpected{store::store_error{store::store_errc::busy, "nobody answers"}};
    ++in_flight;
    return {};
  }
  void take_back(const store::handle&) override { --in_flight; }
  [[nodiscard]] std::expected<store::handle, store::store_error> adopt(const store::object_id&) override {
    return std::unexpected{store::store_error{store::store_errc::not_found, "nothing comes"}};
  }
  [[nodiscard]] std::expected<void, store::store_error> abandon() override { return {}; }
  void release(const link_held&, const store::object_id&, std::uint64_t) override {}

  bool fails = false;
  int in_flight = 0;
};

class claims : public lone_named_link {
protected:
  claims() {
    replies.count_consumed([] {}, nullptr);
  }

  void mention(message_claims& by) {
    const auto name = by.actor([&] { return actors.name(ann); });
    EXPECT_EQ(name.number, ann->id());
  }

  void take_flight(message_claims& by) { EXPECT_TRUE(by.flights().hand_over(store::handle{})); }

  void name_sender(message_claims& by) {
    const auto held = mutex.lock();
    by.sender(held, actors.name(held, ann).number);
    by.allow_return(held);
  }

  void ask(message_claims& by, const caf::strong_actor_ptr& asker) {
    const auto held = mutex.lock();
    by.sender(held, actors.name(held, ann).number);
    by.question(held, {ann->id(), 1}, 5, {.who = caf::weak_actor_ptr{asker.get()}});
  }

  void take_all(message_claims& by) {
    mention(by);
    mention(by);
    take_flight(by);
    ask(by, ann);
    const auto held = mutex.lock();
    by.flights().count(held);
    by.epoch(held, 0);
  }

  /// Returns the number of times that the peer may release ann.
  std::uint64_t counted() {
    std::uint64_t count = 0;
    while (actors.on_release({ann->id(), 1}))
      ++count;
    return count;
  }

  void expect_nothing_taken() {
    EXPECT_FALSE(may_return());
    EXPECT_EQ(counted(), 0u);
    EXPECT_FALSE(objects.on_release({}, 1));
    EXPECT_EQ(in_flight(), 0);
    EXPECT_EQ(requests.size(), 0u);
    EXPECT_TRUE(epochs.change_peer(1, families)); // No message waits by the old lists, ...
    EXPECT_TRUE(epochs.take_acknowledgement());   // ... so the change is acknowledged at once.
  }

  bool may_return() {
    const auto held = mutex_.lock();
    return actors.take_return(held, ann->id());
  }

  caf::scoped_actor self{system_};
  caf::strong_actor_ptr ann = caf::actor_cast<caf::strong_actor_ptr>(self.ptr());

  link_mutex& mutex = mutex_;
  actor_names& actors = names_;
  counting_path path;
  link_objects<store::handle> objects{mutex, path};
  reply_room replies;
  pending_requests requests{replies};
  const family_names families{{"typed"}, {"typed"}};
  negotiation epochs;
  class noted_changes final : public change_acknowledger {
  public:
    void acknowledge_if_due(const link_held&, outbox* into) override { appended.push_back(into != nullptr); }

    std::vector<bool> appended; // For each message that has left: was it appended before?
  } changes;
  claim_tables tables{
      .mutex = mutex, .actors = actors, .objects = objects, .requests = requests, .epochs = epochs, .changes = changes};
  outbox out;

  [[nodiscard]] int in_flight() const { return path.in_flight; }

  void SetUp() override { epochs.open(families, families); }
};

TEST_F(claims, what_is_not_committed_comes_back_at_the_end) {
  {
    message_claims taken;
    taken.begin(tables);
    take_all(taken);
    EXPECT_EQ(in_flight(), 1);
    EXPECT_EQ(requests.size(), 1u);
  }
  EXPECT_EQ(changes.appended, std::vector{false});
  expect_nothing_taken();
}

TEST_F(claims, what_is_committed_stays_the_peers) {
  {
    message_claims taken;
    taken.begin(tables);
    take_all(taken);
    taken.commit(mutex.lock(), out);
    taken.clear();
  }
  EXPECT_EQ(changes.appended, std::vector{true});
  EXPECT_EQ(in_flight(), 1);
  EXPECT_EQ(requests.size(), 1u);
  EXPECT_TRUE(objects.on_release({}, 1));
  EXPECT_EQ(counted(), 3u); // Two mentions, and once as the sender.
  EXPECT_TRUE(epochs.change_peer(1, families));
  EXPECT_TRUE(epochs.take_acknowledgement()); // The message has left.
}

TEST_F(claims, each_claim_alone_comes_back) {
  const std::vector<std::function<void(message_claims&)>> all{
      [this](auto& by) { mention(by); }, [this](auto& by) { take_flight(by); }, [this](auto& by) { name_sender(by); },
      [this](auto& by) { ask(by, ann); }, [this](auto& by) { by.epoch(mutex.lock(), 0); }};
  for (const auto& one : all)
    for (const auto& other : all) {
      message_claims taken;
      taken.begin(tables);
      one(taken);
      taken.clear();
      taken.begin(tables); // The claims are reused.
      other(taken);
    }
  expect_nothing_taken();
}

TEST_F(claims, moving_takes_them_along) {
  message_claims second;
  {
    message_claims first;
    first.begin(tables);
    take_all(first);
    second = std::move(first);
    first.clear();
  }
  EXPECT_EQ(requests.size(), 1u);
  EXPECT_EQ(in_flight(), 1);
  second = {};
  expect_nothing_taken();
}

TEST_F(claims, an_object_that_cannot_be_handed_over_is_none) {
  message_claims taken;
  taken.begin(tables);
  path.fails = true;
  EXPECT_FALSE(taken.flights().hand_over(store::handle{}));
  EXPECT_TRUE(taken.flights().objects().empty());
  taken.clear();
  EXPECT_EQ(in_flight(), 0);
}

TEST_F(claims, an_encoding_that_fails_half_way_takes_everything_back) {
  message_claims taken;
  taken.begin(tables);
  mention(taken);
  take_flight(taken);
  take_flight(taken);
  path.fails = true;
  EXPECT_FALSE(taken.flights().hand_over(store::handle{}));
  EXPECT_EQ(in_flight(), 2);
  taken.clear();
  expect_nothing_taken();
}

TEST_F(claims, nothing_stays_where_exporting_an_actor_fails) {
  message_claims taken;
  taken.begin(tables);
  EXPECT_THROW(taken.actor([]() -> actor_name { throw std::bad_alloc{}; }), std::bad_alloc);
  mention(taken);
  taken.clear();
  expect_nothing_taken();
}

TEST_F(claims, the_peer_has_no_right_to_pass_on_what_was_dropped) {
  message_claims other; // Keeps ann named, so that such a right could exist.
  other.begin(tables);
  mention(other);
  message_claims taken;
  taken.begin(tables);
  name_sender(taken);
  taken.fail({node_errc::link_busy, "no room"});
  EXPECT_FALSE(may_return());
}

TEST_F(claims, who_asked_is_told_once_when_the_question_fails) {
  auto asker = system_.spawn<caf::actor_companion>();
  int told = 0;
  int others = 0; // The exit message at the end.
  caf::actor_cast<caf::actor_companion*>(asker)->on_enqueue(
      [&](caf::mailbox_element_ptr what) { ++(what->mid.is_response() ? told : others); });
  message_claims taken;
  taken.begin(tables);
  ask(taken, caf::actor_cast<caf::strong_actor_ptr>(asker));
  taken.fail({node_errc::link_busy, "no room"});
  taken.fail({node_errc::link_busy, "no room"});
  EXPECT_EQ(told, 1);
  caf::anon_send_exit(asker, caf::exit_reason::user_shutdown);
}

TEST_F(claims, whoever_is_not_failed_is_told_by_somebody_else) {
  auto asker = system_.spawn<caf::actor_companion>();
  int told = 0;
  caf::actor_cast<caf::actor_companion*>(asker)->on_enqueue([&](caf::mailbox_element_ptr) { ++told; });
  {
    message_claims taken;
    taken.begin(tables);
    ask(taken, caf::actor_cast<caf::strong_actor_ptr>(asker));
  }
  EXPECT_EQ(told, 0);
  EXPECT_EQ(requests.size(), 0u);
  caf::anon_send_exit(asker, caf::exit_reason::user_shutdown);
}

TEST_F(claims, after_the_links_end_only_what_is_on_its_way_comes_back) {
  message_claims taken;
  taken.begin(tables);
  take_all(taken);
  (void)actors.end();
  (void)objects.end(mutex.lock());
  (void)requests.take_all();
  taken.clear();
  EXPECT_EQ(in_flight(), 0);
  EXPECT_TRUE(admin_.is_silent()); // Nothing is withdrawn.
}

} // namespace
} // namespace troupe::internal
