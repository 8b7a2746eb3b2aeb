// A slow actor stalls no other actor, neither of its own link nor of another link of the node.
#include "two_nodes.hpp"

#include <algorithm>
#include <atomic>

namespace troupe::tests {
namespace {

const std::string four_kilobytes(4096, 'x');

/// Keeps its core busy, like a handler that computes.
void work_for(std::chrono::microseconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
  }
}

// With a sanitizer, sending takes as long as the shorter of the times.
constexpr bool is_instrumented =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

class slow_actors : public two_nodes {
protected:
  slow_actors() { far_options_.store = near_options_.store = std::nullopt; }

  /// Publishes an actor that takes `time` for each message and counts the messages.
  void publish_slow(std::chrono::microseconds time, const std::string& name = "slow") {
    publish(name, far().system.spawn([time, handled = handled_](caf::event_based_actor*) -> caf::behavior {
      return {[=](const std::string&) {
        work_for(time);
        handled->fetch_add(1);
      }};
    }));
  }

  void publish_echo() {
    publish("echo", far().system.spawn(
                        [](caf::event_based_actor*) -> caf::behavior { return {[](int value) { return value; }}; }));
  }

  /// Sends `messages` messages to the slow actor, then five requests to the other one. Returns the number of messages
  /// that were handled when the requests had been answered.
  int handled_before_others(const caf::actor& slow, const caf::actor& echo, int messages) {
    for (int i = 0; i < messages; ++i)
      caf::anon_send(slow, four_kilobytes);
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(ask<int>(near().system, echo, i), i);
    return *handled_;
  }

  std::shared_ptr<std::atomic<int>> handled_ = std::make_shared<std::atomic<int>>(0);
};

TEST_F(slow_actors, requests_to_another_actor_of_the_link_pass_those_that_are_slow) {
  publish_echo();
  connect();
  for (auto time : is_instrumented ? std::vector{400us} : std::vector{50us, 150us, 400us}) {
    const auto name = "slow " + std::to_string(time.count()) + " us";
    handled_ = std::make_shared<std::atomic<int>>(0);
    publish_slow(time, name);
    EXPECT_LT(handled_before_others(find(name), find("echo"), 2000), 1000) << name;
    EXPECT_TRUE(eventually([&] { return *handled_ == 2000; }));
  }
}

TEST_F(slow_actors, requests_over_another_link_of_the_node_pass_those_that_are_slow) {
  publish_slow(is_instrumented ? 400us : 150us);
  publish_echo();
  connect();
  auto other = near().home->connect(address_, {});
  ASSERT_TRUE(other);
  auto echo = other->find("echo");
  ASSERT_TRUE(echo);
  EXPECT_LT(handled_before_others(find("slow"), *echo, 2000), 1000);
}

TEST_F(slow_actors, a_ping_passes_those_that_are_slow) {
  publish_slow(400us);
  connect();
  auto slow = find("slow");
  for (int i = 0; i < 2000; ++i)
    caf::anon_send(slow, four_kilobytes);
  EXPECT_TRUE(link_->ping(10s));
  EXPECT_LT(*handled_, 1000);
}

/// Takes a millisecond to decode, whatever its size.
struct heavy {};

} // namespace
} // namespace troupe::tests

template <>
struct troupe::codec<troupe::tests::heavy> {
  using form = bool;
  static constexpr bool is_self_contained = true;
  static std::expected<form, serialize_error> reduce(const tests::heavy&, const context&) { return true; }
  static std::expected<tests::heavy, serialize_error> rebuild(form&&, const context&) {
    tests::work_for(std::chrono::milliseconds{1});
    return tests::heavy{};
  }
};

namespace troupe::tests {
namespace {

// Goal: if a few bytes take long to decode, they delay another link for at most one turn, which is limited by time.
// Method: counts the messages decoded between a ping on that link and its answer. A turn limited by packets alone would
// take 64 of them.
TEST_F(slow_actors, a_ping_over_another_link_passes_what_takes_long_to_decode) {
  far_types_ = near_types_ = [](type_registry& types) { types.add<heavy>("heavy"); };
  publish("sink", far().system.spawn([handled = handled_](caf::event_based_actor*) -> caf::behavior {
    return {[=](const heavy&) { handled->fetch_add(1); }};
  }));
  connect();
  auto other = near().home->connect(address_, {});
  ASSERT_TRUE(other);
  auto sink = find("sink");
  for (int i = 0; i < 3000; ++i)
    caf::anon_send(sink, heavy{});
  ASSERT_TRUE(eventually([&] { return *handled_ > 10; }));
  std::vector<int> meanwhile;
  for (int i = 0; i < 11; ++i) {
    const int before = *handled_;
    ASSERT_TRUE(other->ping(10s));
    meanwhile.push_back(*handled_ - before);
  }
  ASSERT_LT(*handled_, 3000) << "the flood was over";
  std::ranges::nth_element(meanwhile, meanwhile.begin() + 5);
  EXPECT_LT(meanwhile[5], 40);
}

TEST_F(slow_actors, a_handler_that_takes_long_once_in_a_hundred_holds_up_nobody) {
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    int stuck_in = 0; // The call that blocks ...
    int let_go = 0;   // ... until this has reached its number.
    std::vector<int> got;
  };
  auto shared = std::make_shared<state>();
  publish("moody", far().system.spawn([shared](caf::event_based_actor*) -> caf::behavior {
    return {[=](int value) {
      std::unique_lock guard{shared->mutex};
      shared->got.push_back(value);
      if (value % 100 == 0) {
        shared->stuck_in = value;
        shared->changed.notify_all();
        shared->changed.wait_for(guard, 10s, [&] { return shared->let_go >= value; });
      }
      return value;
    }};
  }));
  publish_echo();
  connect();
  auto moody = find("moody");
  auto echo = find("echo");
  for (int round = 1; round <= 5; ++round) {
    for (int i = 1; i <= 150; ++i) // Half of them are behind the slow one.
      caf::anon_send(moody, 100 * round + i - 100);
    {
      std::unique_lock guard{shared->mutex};
      ASSERT_TRUE(shared->changed.wait_for(guard, 10s, [&] { return shared->stuck_in == 100 * round; }));
    }
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(ask<int>(near().system, echo, i), i);
    EXPECT_TRUE(link_->ping(10s));
    std::lock_guard guard{shared->mutex};
    EXPECT_EQ(shared->got.back(), 100 * round); // All this was answered while the handler was running.
    shared->let_go = 100 * round + 99;
    shared->changed.notify_all();
    shared->got.clear();
  }
}

TEST_F(slow_actors, messages_keep_their_order_while_threads_take_over_from_each_other) {
  auto got = std::make_shared<std::vector<int>>();
  auto done = std::make_shared<std::promise<void>>();
  publish("moody", far().system.spawn([=](caf::event_based_actor*) -> caf::behavior {
    return {[=](int value) {
      got->push_back(value);
      if (value % 100 == 0)
        work_for(3ms);
      if (value == 5000)
        done->set_value();
    }};
  }));
  connect();
  auto moody = find("moody");
  for (int i = 1; i <= 5000; ++i)
    caf::anon_send(moody, i);
  ASSERT_EQ(done->get_future().wait_for(20s), std::future_status::ready);
  EXPECT_EQ(got->size(), 5000u);
  EXPECT_TRUE(std::ranges::is_sorted(*got));
}

// Goal: large messages, which travel in chunks by turns, may pass each other without being taken for a protocol
// violation.
TEST_F(slow_actors, messages_of_different_sizes_may_pass_each_other) {
  connect({.spill_bytes = 1_GiB, .block_timeout = 20s}); // Everything goes through the socket.
  std::atomic<std::size_t> got = 0;
  publish("reader", far().system.spawn<caf::detached>([&got](caf::event_based_actor*) -> caf::behavior {
    return {[&got](const array<double>&) {
      std::this_thread::sleep_for(500us);
      ++got;
    }};
  }));
  const auto reader = find("reader");
  constexpr std::size_t each = 150;
  std::vector<std::jthread> senders;
  for (const std::size_t bytes : {100'000UL, 400'000UL})
    senders.emplace_back([&, bytes] {
      caf::scoped_actor self{near().system};
      for (std::size_t i = 0; i < each; ++i)
        self->send(reader, array<double>(std::vector<double>(bytes / sizeof(double), 1.0)));
    });
  senders.clear();
  EXPECT_TRUE(eventually([&] { return got == 2 * each; })) << got;
  EXPECT_TRUE(link_->is_open());
}

// -- what a slow actor may keep of the store

class slow_actors_store : public two_nodes {
protected:
  static constexpr std::size_t capacity = 16_MiB;

  slow_actors_store() {
    far_options_.store.edit()->capacity_bytes = near_options_.store.edit()->capacity_bytes = capacity;
    publish("stuck", far().system.spawn<caf::detached>(
                         [opens = gate_.get_future().share()](caf::event_based_actor*) -> caf::behavior {
                           return {[=](const object_ref<array<double>>&) { opens.wait_for(20s); }};
                         }));
    connect({.block_timeout = 0ms});
  }
  ~slow_actors_store() override { gate_.set_value(); }

  std::size_t bytes_in_use() { return store::object_store{*near().home->store()}.totals()->bytes_in_use; }

  std::promise<void> gate_;
};

// Goal: a large object counts once, even if many messages to several actors refer to it.
TEST_F(slow_actors_store, references_to_one_object_count_once) {
  const std::vector<double> value(10_MiB / sizeof(double), 1.0); // The store has 16 MiB, an actor a quarter of it.
  const auto put = near().home->put(array<double>(value));
  ASSERT_TRUE(put) << put.error().message();
  std::vector<caf::actor> readers;
  for (int i = 0; i < 4; ++i) {
    const auto name = "reader " + std::to_string(i);
    publish(name, far().system.spawn<caf::detached>([](caf::event_based_actor*) -> caf::behavior {
      return {[](const object_ref<array<double>>& of) {
        std::this_thread::sleep_for(100us);
        return static_cast<int>(of.get()->size());
      }};
    }));
    readers.push_back(find(name));
  }
  caf::scoped_actor self{near().system};
  constexpr int each = 100;
  for (int i = 0; i < each; ++i)
    for (const auto& reader : readers)
      self->send(reader, *put);
  EXPECT_EQ(link_->stats().refused_at_bound, 0u);
  EXPECT_LE(link_->stats().unconsumed_handle_bytes_there, 10_MiB + 64_KiB);
  int answers = 0;
  self->receive_for(answers, each * 4)([&](int size) { EXPECT_EQ(size, static_cast<int>(value.size())); },
                                       caf::after(20s) >> [] { FAIL() << "no answer"; });
  EXPECT_TRUE(eventually([&] { return link_->stats().unconsumed_handle_bytes_there == 0; }));
}

// Goal: a large value in the store that is sent as an argument also counts once.
TEST_F(slow_actors_store, frames_of_one_object_count_once) {
  const auto put = near().home->put(array<double>(std::vector<double>(10_MiB / sizeof(double), 1.0)));
  ASSERT_TRUE(put) << put.error().message();
  const auto value = *put->get();
  std::atomic<int> got = 0;
  publish("reader", far().system.spawn<caf::detached>([&got](caf::event_based_actor*) -> caf::behavior {
    return {[&got](const array<double>&) { ++got; }};
  }));
  const auto reader = find("reader");
  constexpr int count = 100;
  for (int i = 0; i < count; ++i)
    caf::anon_send(reader, value);
  EXPECT_EQ(link_->stats().refused_at_bound, 0u);
  EXPECT_TRUE(eventually([&] { return got == count; })) << got;
  EXPECT_TRUE(eventually([&] { return link_->stats().unconsumed_handle_bytes_there == 0; }));
  EXPECT_EQ(link_->stats().spilled_bytes, 0u);
}

// Goal: an actor that is sent many references leaves most of the store to others, however small the store is.
TEST_F(slow_actors_store, references_to_one_that_is_stuck_leave_room_for_others) {
  const auto stuck = find("stuck");
  const std::vector<double> value(1_MiB / sizeof(double), 1.0);
  for (int i = 0; i < 100 && link_->stats().refused_at_bound == 0; ++i) {
    const auto put = near().home->put(array<double>(value));
    ASSERT_TRUE(put) << "after " << i << ": " << put.error().message();
    caf::anon_send(stuck, *put);
  }
  EXPECT_GT(link_->stats().refused_at_bound, 0u);
  EXPECT_LE(link_->stats().unconsumed_handle_bytes_there, capacity / 4 + 1_MiB + 64_KiB);
  EXPECT_TRUE(eventually([&] { return bytes_in_use() <= capacity / 2; })) << bytes_in_use();
  EXPECT_TRUE(near().home->put(array<double>(std::vector<double>(4_MiB / sizeof(double), 1.0))));
}

} // namespace
} // namespace troupe::tests
