// Goal: what a link could not deliver reaches the actor that asks for it, whole and with the reason; a flood of it is
// bounded.
#include <atomic>
#include <mutex>
#include <vector>

#include <troupe/framework/dead_letter.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

class dead_letters : public two_nodes {
protected:
  dead_letters() {
    far_types_ = near_types_ = [](type_registry& types) { types.add<secret>("test.secret"); };
  }

  /// An actor of that side that keeps the letters.
  void collect(side& at) {
    collector_ = at.system.spawn([into = kept_](caf::event_based_actor*) -> caf::behavior {
      return {[into](const dead_letter& letter) {
        const std::lock_guard guard{into->mutex};
        into->letters.push_back(letter);
      }};
    });
    at.home->dead_letters(collector_).value();
  }
  std::vector<dead_letter> letters() {
    const std::lock_guard guard{kept_->mutex};
    return kept_->letters;
  }
  template <class T>
  static T value_of(const serialized& from, const side& at) {
    return from.get<T>({.deserializers = {"typed", "msgpack"}}, at.types, at.families).value();
  }

  caf::actor collector_;

private:
  struct kept {
    std::mutex mutex;
    std::vector<dead_letter> letters;
  };
  const std::shared_ptr<kept> kept_ = std::make_shared<kept>(); // The actor may outlive the test.
};

caf::behavior taker(caf::event_based_actor* self) {
  self->set_default_handler(caf::drop);
  return {[](int) {}};
}

TEST_F(dead_letters, tell_of_messages_that_were_sent_when_the_link_was_down) {
  publish("taker", far().system.spawn(taker));
  connect();
  collect(near());
  auto there = find("taker");
  const auto number = link_->number();
  link_->close();
  caf::scoped_actor self{near().system};
  self->send(there, reading{"roof", 21.5, {1, 2}}, 7);
  ASSERT_TRUE(eventually([&] { return letters().size() == 1; }));
  const auto letter = letters().front();
  EXPECT_EQ(letter.peer, far().home->name());
  EXPECT_FALSE(letter.peer_version.empty());
  EXPECT_EQ(letter.link, number);
  EXPECT_FALSE(letter.has_arrived);
  EXPECT_FALSE(letter.is_request);
  EXPECT_EQ(letter.sender, self->id());
  EXPECT_EQ(letter.receiver, there.id());
  EXPECT_EQ(letter.reason, node_errc::link_down);
  EXPECT_EQ(letter.types, (std::vector<std::string>{"test.reading", "i32"}));
  ASSERT_EQ(letter.values.size(), 2u);
  EXPECT_EQ(value_of<reading>(letter.values[0], near()), (reading{"roof", 21.5, {1, 2}}));
  EXPECT_EQ(value_of<int>(letter.values[1], near()), 7);
  EXPECT_EQ(near().home->stats().dead_letters, 1u);
  EXPECT_EQ(near().home->stats().dead_letters_lost, 0u);
}

TEST_F(dead_letters, tell_of_messages_that_wait_for_room_when_the_link_ends) {
  std::promise<void> gate;
  publish("slow", far().system.spawn<caf::detached>([opened = gate.get_future().share()](caf::event_based_actor* self) {
    self->set_default_handler(caf::drop);
    return caf::behavior{[opened](const std::string&) { opened.wait(); }};
  }));
  connect({.window_bytes = 64_KiB, .actor_window_bytes = 64_KiB});
  collect(near());
  // Some of them fill the window; the others wait here.
  auto sender = near().system.spawn([there = find("slow")](caf::event_based_actor* self) {
    for (int i = 0; i < 40; ++i)
      self->send(there, std::string(10'000, 'x'));
  });
  caf::scoped_actor self{near().system};
  self->wait_for(sender); // So that none is sent when the link is down.
  ASSERT_GT(link_->stats().waiting_bytes, 0u);
  const auto waiting = link_->stats().waiting_bytes;
  far().home.reset();
  gate.set_value();
  ASSERT_TRUE(eventually([&] { return !letters().empty() && letters().size() >= waiting / 11'000; })) << waiting;
  for (const auto& letter : letters()) {
    EXPECT_EQ(letter.reason, node_errc::link_down) << letter.reason_text;
    ASSERT_EQ(letter.values.size(), 1u);
    EXPECT_EQ(value_of<std::string>(letter.values[0], near()), std::string(10'000, 'x'));
    EXPECT_GT(letter.age.count(), 0);
  }
}

TEST_F(dead_letters, tell_of_messages_that_make_room_for_newer_ones) {
  std::promise<void> gate;
  publish("slow", far().system.spawn<caf::detached>([opened = gate.get_future().share()](caf::event_based_actor* self) {
    self->set_default_handler(caf::drop);
    return caf::behavior{[opened](int, const std::string&) { opened.wait(); }};
  }));
  connect({.window_bytes = 64_KiB,
           .actor_window_bytes = 64_KiB,
           .queue_bytes = 64_KiB,
           .actor_queue_bytes = 64_KiB,
           .when_full = when_full::drop_oldest});
  collect(near());
  near().system.spawn([there = find("slow")](caf::event_based_actor* self) {
    for (int i = 0; i < 40; ++i)
      self->send(there, i, std::string(10'000, 'x'));
  });
  ASSERT_TRUE(eventually([&] { return link_->stats().dropped > 0 && letters().size() == link_->stats().dropped; }));
  int before = -1;
  for (const auto& letter : letters()) {
    EXPECT_EQ(letter.reason, node_errc::link_busy);
    ASSERT_EQ(letter.values.size(), 2u);
    const auto number = value_of<int>(letter.values[0], near());
    EXPECT_GT(number, before) << "the oldest goes first";
    before = number;
  }
  gate.set_value();
}

TEST_F(dead_letters, tell_of_types_that_cannot_be_encoded_and_requests) {
  near_types_ = {}; // Has no alias for a secret.
  publish("taker", far().system.spawn(taker));
  connect();
  collect(near());
  caf::scoped_actor self{near().system};
  self->request(find("taker"), 10s, secret{5}).receive([](int) { FAIL(); }, [](const caf::error&) {});
  ASSERT_TRUE(eventually([&] { return letters().size() == 1; }));
  const auto letter = letters().front();
  EXPECT_TRUE(letter.is_request);
  EXPECT_EQ(letter.reason, node_errc::unserializable);
  ASSERT_EQ(letter.types.size(), 1u);
  EXPECT_NE(letter.types[0].find("secret"), std::string::npos) << letter.types[0];
  EXPECT_TRUE(letter.values.empty());
}

TEST_F(dead_letters, tell_the_receiver_of_messages_that_it_cannot_decode) {
  far_types_ = {}; // Does not know a secret.
  publish("taker", far().system.spawn(taker));
  collect(far());
  connect();
  caf::scoped_actor self{near().system};
  const auto there = find("taker");
  self->send(there, secret{5});
  ASSERT_TRUE(eventually([&] { return letters().size() == 1; }));
  const auto letter = letters().front();
  EXPECT_TRUE(letter.has_arrived);
  EXPECT_EQ(letter.peer, near().home->name());
  EXPECT_EQ(letter.reason, node_errc::undecodable);
  EXPECT_EQ(letter.types, std::vector<std::string>{"test.secret"});
  EXPECT_EQ(letter.sender, self->id());
  ASSERT_EQ(letter.values.size(), 1u);
  EXPECT_EQ(value_of<secret>(letter.values[0], near()).value, 5) << "as it arrived";
}

TEST_F(dead_letters, hold_no_more_than_their_bound) {
  publish("taker", far().system.spawn(taker));
  connect();
  std::promise<void> gate;
  std::atomic<int> handled{0};
  auto slow = near().system.spawn<caf::detached>(
      [&, opened = gate.get_future().share()](caf::event_based_actor*) -> caf::behavior {
        return {[&handled, opened](const dead_letter&) {
          opened.wait();
          ++handled;
        }};
      });
  near().home->dead_letters(slow).value();
  const auto there = find("taker");
  link_->close();
  for (int i = 0; i < 3'000; ++i)
    caf::anon_send(there, i);
  ASSERT_TRUE(eventually([&] {
    const auto stats = near().home->stats();
    return stats.dead_letters + stats.dead_letters_lost == 3'000;
  }));
  EXPECT_EQ(near().home->stats().dead_letters, 1'000u);
  gate.set_value();
  ASSERT_TRUE(eventually([&] { return handled == 1'000; }));
  caf::anon_send(there, 1);
  EXPECT_TRUE(eventually([&] { return handled == 1'001; })) << "there is room again";
}

TEST_F(dead_letters, do_not_feed_themselves) {
  publish("taker", far().system.spawn(taker));
  connect();
  const auto there = find("taker");
  std::atomic<int> handled{0};
  auto sending_on = near().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[&, self](const dead_letter&) {
      ++handled;
      self->send(there, 1);
    }};
  });
  near().home->dead_letters(sending_on).value();
  link_->close();
  caf::anon_send(there, 1);
  EXPECT_TRUE(eventually([&] { return near().home->stats().dead_letters_lost == 1; }));
  EXPECT_EQ(handled, 1);
}

TEST_F(dead_letters, go_to_local_actors_only_and_end_when_asked) {
  publish("taker", far().system.spawn(taker));
  connect();
  const auto there = find("taker");
  EXPECT_EQ(near().home->dead_letters(there).error().code(), node_errc::bad_option);
  collect(near());
  near().home->dead_letters({}).value();
  link_->close();
  caf::anon_send(there, 1);
  EXPECT_TRUE(eventually([&] { return near().home->stats().links.undelivered > 0; }));
  EXPECT_EQ(near().home->stats().dead_letters, 0u);
}

} // namespace
} // namespace troupe::tests
