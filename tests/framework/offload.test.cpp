// Goal: large messages of actors are encoded outside the actors' threads. Apart from timing, this makes no difference:
// order, errors, back-pressure and the end of the link are the same as for small messages.
#include <atomic>
#include <mutex>

#include <troupe/framework/link_ready.hpp>

#include "two_nodes.hpp"

namespace offloaded {

using namespace troupe;
using namespace std::chrono_literals;

/// Its codec records the thread that encodes it, and fails if `fails` is set.
struct probe {
  bool fails = false;
};
std::mutex mutex;
std::vector<std::thread::id> encoders;

struct pages {
  int number = 0;
  probe where;
  std::vector<std::string> lines;
};
TROUPE_DESCRIBE(pages, number, where, lines)

pages large(int number, bool fails = false) {
  return {number, {fails}, std::vector<std::string>(20'000, std::string(60, 'x'))};
}
pages small(int number) {
  return {number, {}, {"line"}};
}

} // namespace offloaded

template <>
struct troupe::codec<offloaded::probe> {
  using form = bool;
  static constexpr bool is_self_contained = true;
  static std::expected<form, serialize_error> reduce(const offloaded::probe& value, const context&) {
    {
      std::lock_guard guard{offloaded::mutex};
      offloaded::encoders.push_back(std::this_thread::get_id());
    }
    if (value.fails)
      return std::unexpected(serialize_error(serialize_errc::codec_failed, "as asked"));
    return true;
  }
  static std::expected<offloaded::probe, serialize_error> rebuild(form&&, const context&) { return offloaded::probe{}; }
};

namespace offloaded {

class large_messages : public tests::two_nodes {
protected:
  large_messages() {
    far_types_ = near_types_ = [](type_registry& types) { types.add<pages>("pages"); };
    encoders.clear();
  }

  caf::actor connect_to_reader(link_options options = {}) {
    options.offload_bytes = 1_MiB;
    options.spill_bytes = 1_GiB; // Only queue_bytes bounds the queue.
    connect(options);
    publish("reader", far().system.spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[this](const pages& value) {
        std::lock_guard guard{mutex};
        read_.push_back(value.number);
        return value.number;
      }};
    }));
    return find("reader");
  }

  /// Returns once a large message waits for the near end's only worker, which is blocked by `until`.
  void send_from_the_only_worker(const std::shared_future<void>& until) {
    near_config_ = [](caf::actor_system_config& config) { config.set("scheduler.max-threads", 1); };
    auto reader = connect_to_reader();
    auto sent = std::make_shared<std::promise<void>>();
    near().system.spawn([sent, reader, until](caf::event_based_actor* self) {
      self->set_default_handler(caf::drop);
      self->send(reader, large(1));
      sent->set_value();
      until.get(); // Nothing else runs meanwhile.
    });
    sent->get_future().get();
  }

  std::vector<int> read() {
    std::lock_guard guard{mutex};
    return read_;
  }

  static std::vector<int> numbers_to(int count) {
    std::vector<int> all;
    for (int i = 0; i < count; ++i)
      all.push_back(i);
    return all;
  }

  std::vector<int> read_;
};

TEST_F(large_messages, are_encoded_on_another_thread_and_stay_in_order) {
  near_config_ = [](caf::actor_system_config& config) { config.set("scheduler.max-threads", 2); };
  auto reader = connect_to_reader({.queue_bytes = 256_MiB, .actor_queue_bytes = 256_MiB});
  std::promise<std::thread::id> sender;
  near().system.spawn([&](caf::event_based_actor* self) {
    self->set_default_handler(caf::drop); // Drops the answers.
    for (int i = 0; i < 30; ++i)
      self->send(reader, i % 3 == 0 ? large(i) : small(i));
    sender.set_value(std::this_thread::get_id());
    EXPECT_TRUE(tests::eventually([] { // Keeps this thread from running the encoder itself.
      std::lock_guard guard{mutex};
      return !encoders.empty();
    }));
  });
  const auto sending_thread = sender.get_future().get();
  ASSERT_TRUE(tests::eventually([&] { return read().size() == 30; })) << read().size();
  EXPECT_EQ(read(), numbers_to(30));
  std::lock_guard guard{mutex};
  ASSERT_GE(encoders.size(), 30U) << "a small one that may not leave at once is encoded twice";
  EXPECT_NE(encoders.front(), sending_thread) << "the first is large";
}

TEST_F(large_messages, of_threads_of_the_users_own_are_encoded_there) {
  auto reader = connect_to_reader();
  caf::scoped_actor self(near().system);
  self->request(reader, 20s, large(7))
      .receive([](int number) { EXPECT_EQ(number, 7); },
               [](const caf::error& error) { ADD_FAILURE() << text_of(error); });
  EXPECT_EQ(encoders, std::vector{std::this_thread::get_id()});
}

TEST_F(large_messages, small_ones_are_encoded_where_they_are_sent) {
  auto reader = connect_to_reader();
  std::promise<std::thread::id> sender;
  near().system.spawn([&](caf::event_based_actor* self) {
    self->send(reader, small(1));
    sender.set_value(std::this_thread::get_id());
  });
  const auto sending_thread = sender.get_future().get();
  ASSERT_TRUE(tests::eventually([&] { return read().size() == 1; }));
  EXPECT_EQ(encoders, std::vector{sending_thread});
}

TEST_F(large_messages, that_cannot_be_encoded_tell_who_asked) {
  auto reader = connect_to_reader();
  std::promise<caf::error> failed;
  std::promise<int> answered;
  near().system.spawn([&](caf::event_based_actor* self) {
    self->request(reader, 20s, large(1, true))
        .then([](int) { ADD_FAILURE(); }, [&](caf::error& error) { failed.set_value(error); });
    self->request(reader, 20s, large(2)).then([&](int number) { answered.set_value(number); });
  });
  const auto text = text_of(failed.get_future().get());
  EXPECT_NE(text.find("as asked"), std::string::npos) << text;
  EXPECT_EQ(answered.get_future().get(), 2);
}

TEST_F(large_messages, are_written_before_a_link_ends_that_its_user_closes) {
  near_options_.drain_timeout = 20s;
  auto reader = connect_to_reader({.queue_bytes = 256_MiB, .actor_queue_bytes = 256_MiB});
  std::promise<void> sent;
  near().system.spawn([&](caf::event_based_actor* self) {
    for (int i = 0; i < 10; ++i)
      self->send(reader, large(i));
    link_->close();
    sent.set_value();
  });
  sent.get_future().get();
  EXPECT_TRUE(tests::eventually([&] { return read().size() == 10; })) << read().size();
  EXPECT_EQ(read(), numbers_to(10));
  EXPECT_TRUE(tests::eventually([&] { return !link_->is_open(); }));
}

TEST_F(large_messages, fail_with_the_link) {
  auto reader = connect_to_reader({.queue_bytes = 256_MiB, .actor_queue_bytes = 256_MiB});
  std::atomic<int> failed{0};
  std::atomic<int> answered{0};
  std::promise<void> sent;
  near().system.spawn([&](caf::event_based_actor* self) {
    for (int i = 0; i < 10; ++i)
      self->request(reader, 20s, large(i)).then([&](int) { ++answered; }, [&](caf::error&) { ++failed; });
    sent.set_value();
  });
  sent.get_future().get();
  far_.reset();
  EXPECT_TRUE(tests::eventually([&] { return failed + answered == 10; })) << failed << " and " << answered;
  EXPECT_EQ(link_->stats().waiting_bytes, 0U);
}

TEST_F(large_messages, beyond_the_bound_are_refused) {
  auto reader = connect_to_reader({.window_bytes = 4_MiB, .queue_bytes = 4_MiB});
  std::atomic<int> busy{0};
  std::atomic<int> answered{0};
  near().system.spawn([&](caf::event_based_actor* self) {
    for (int i = 0; i < 100; ++i)
      self->request(reader, 20s, large(i))
          .then([&](int) { ++answered; },
                [&](caf::error& error) {
                  EXPECT_EQ(to_node_error(error).code(), node_errc::link_busy) << text_of(error);
                  ++busy;
                });
  });
  EXPECT_TRUE(tests::eventually([&] { return busy + answered == 100; })) << busy << " and " << answered;
  EXPECT_GT(answered, 0);
}

TEST_F(large_messages, make_room_for_newer_ones_where_the_link_says_so) {
  auto reader = connect_to_reader({.window_bytes = 2_MiB, .queue_bytes = 2_MiB, .when_full = when_full::drop_oldest});
  constexpr int count = 40;
  near().system.spawn([&](caf::event_based_actor* self) {
    self->set_default_handler(caf::drop); // Drops the answers.
    for (int i = 0; i < count; ++i)
      self->send(reader, large(i));
  });
  EXPECT_TRUE(tests::eventually([&] { return !read().empty() && read().back() == count - 1; })) << "the newest arrives";
  const auto stats = link_->stats();
  EXPECT_EQ(stats.refused_at_bound, 0U);
  EXPECT_EQ(stats.dropped + read().size(), std::size_t{count});
}

// Goal: a worker that never returns does not delay the end of the node.
TEST_F(large_messages, that_nobody_can_encode_do_not_hold_up_the_nodes_end) {
  std::promise<void> goes_on;
  send_from_the_only_worker(goes_on.get_future().share());
  const auto begin = std::chrono::steady_clock::now();
  near().home.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);
  goes_on.set_value();
}

// Goal: closing a link waits for messages that are being encoded, and the end of the node waits no longer than that.
// Method: a link is closed while its message waits for the only worker. Then the worker becomes free.
TEST_F(large_messages, that_are_encoded_in_time_let_the_node_end_at_once) {
  near_options_.drain_timeout = 60s;
  std::promise<void> goes_on;
  send_from_the_only_worker(goes_on.get_future().share());
  link_->close();
  EXPECT_TRUE(link_->is_open());
  goes_on.set_value();
  const auto begin = std::chrono::steady_clock::now();
  near().home.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  EXPECT_TRUE(tests::eventually([&] { return read() == std::vector{1}; }));
}

TEST_F(large_messages, of_actors_that_ask_first_are_never_refused) {
  auto reader = connect_to_reader({.actor_window_bytes = 2_MiB, .queue_bytes = 4_MiB, .actor_queue_bytes = 2_MiB});
  constexpr int count = 40;
  near().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::drop); // Drops the answers.
    auto next = std::make_shared<int>(0);
    auto go_on = [self, next, reader] {
      while (*next < count && is_ready(reader)) {
        self->send(reader, *next % 2 == 0 ? large(*next) : small(*next));
        ++*next;
      }
      if (*next < count)
        notify_when_ready(self, reader);
    };
    go_on();
    return {[go_on](const link_ready&) { go_on(); }};
  });
  EXPECT_TRUE(tests::eventually([&] { return read().size() == count; })) << read().size();
  EXPECT_EQ(read(), numbers_to(count));
  EXPECT_EQ(link_->stats().refused_at_bound, 0U);
}

} // namespace offloaded
