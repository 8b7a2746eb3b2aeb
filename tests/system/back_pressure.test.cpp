// A peer that is frozen, or slow for a long time. Two real processes.
#include <atomic>
#include <cstdlib>
#include <fstream>

#include <caf/all.hpp>
#include <gtest/gtest.h>

#include "messages.hpp"
#include "peer_process.hpp"

namespace troupe::tests {
namespace {

std::string unique_name() {
  auto name = std::string{testing::UnitTest::GetInstance()->current_test_info()->name()};
  std::ranges::replace(name, '/', '-');
  return std::to_string(::getpid()) + "-" + name.substr(0, 40);
}

class slow_peer : public testing::Test {
protected:
  slow_peer() : slow_peer("") {}

  /// `store`: empty for no store, "shared" for the peer's store, otherwise the prefix of the name of a separate store.
  explicit slow_peer(const std::string& store) {
    add_messages(types_);
    peer_ = std::make_unique<peer_process>(address_, store_, "typed,msgpack");
    node_options options{.name = "test"};
    options.store = std::nullopt;
    if (!store.empty())
      options.store = store::options{.name = store == "shared" ? store_ : store + store_, .capacity_bytes = 64_MiB};
    auto opened = node::open(system_, types_, families_, options);
    if (!opened)
      throw std::runtime_error(opened.error().message());
    home_.emplace(*std::move(opened));
  }

  caf::actor connect(const link_options& options, const std::string& name) {
    auto connected = home_->connect(address_, options);
    if (!connected)
      throw std::runtime_error(connected.error().message());
    link_.emplace(*std::move(connected));
    auto found = link_->find(name);
    if (!found)
      throw std::runtime_error(found.error().message());
    return *found;
  }

  std::string store_ = "flow-" + unique_name();
  std::string address_ = "unix://@troupe-flow-" + unique_name();
  std::unique_ptr<peer_process> peer_;
  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  std::optional<node> home_;
  std::optional<link> link_;
};

const link_options impatient{.block_timeout = 0ms, .heartbeat_interval = 100ms, .heartbeat_timeout = 500ms};

TEST_F(slow_peer, a_frozen_peer_is_given_up) {
  auto keeper = connect(impatient, "keeper");
  caf::scoped_actor self{system_};
  peer_->freeze(); // Frozen first, so that it cannot answer.
  auto request = self->request(keeper, caf::infinite, std::string{"never answered"});
  std::string reason;
  request.receive([](int) {}, [&](caf::error& error) { reason = troupe::text_of(error); });
  peer_->go_on();
  EXPECT_NE(reason.find("the peer has been silent for "), std::string::npos) << reason;
  EXPECT_TRUE(eventually([&] { return !link_->is_open(); }));
}

TEST_F(slow_peer, a_frozen_peer_is_given_up_also_while_it_is_sent_more_than_it_can_take) {
  auto keeper = connect(impatient, "keeper");
  peer_->freeze();
  std::vector<double> large(1'000'000);
  for (int i = 0; i < 4; ++i)
    caf::anon_send(keeper, large);
  EXPECT_TRUE(eventually([&] { return !link_->is_open(); }));
  peer_->go_on();
}

TEST_F(slow_peer, a_peer_that_only_works_long_is_not_given_up) {
  auto slow = connect(impatient, "slow");
  auto keeper = link_->find("keeper");
  ASSERT_TRUE(keeper);
  for (int i = 0; i < 1'000; ++i)
    caf::anon_send(slow, measurement{"somewhere", 1.0, {1, 2, 3}});
  caf::scoped_actor self{system_};
  self->request(*keeper, 10s, 1.5)
      .receive([](double value) { EXPECT_EQ(value, 1.5); },
               [](caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  EXPECT_TRUE(eventually([&] { return link_->stats().unconsumed_bytes_there < 300'000; }));
  EXPECT_TRUE(link_->is_open());
}

TEST_F(slow_peer, a_node_ends_within_a_second_whatever_its_peer_does) {
  auto keeper = connect({.block_timeout = 0ms}, "keeper");
  peer_->freeze();
  std::vector<double> large(1'000'000);
  for (int i = 0; i < 4; ++i)
    caf::anon_send(keeper, large);
  auto begin = std::chrono::steady_clock::now();
  home_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s); // Bounds hanging; benchmarks measure the speed.
  peer_->go_on();
}

// -- memory

std::uint64_t resident_bytes(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/statm"};
  std::uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

struct policy {
  std::string name;
  when_full what;
  bool blocks;
  friend void PrintTo(const policy& one, std::ostream* to) { *to << one.name; }
};

class producing : public slow_peer, public testing::WithParamInterface<policy> {};

// Goal: neither process grows if a producer is ten times as fast as its consumer.
// Method: compares the resident memory of both processes after a sixth of the time, when all queues are full, and at
// the end. With TROUPE_LONG_TESTS=1 this takes a minute.
TEST_P(producing, faster_than_the_consumer_fills_no_memory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep what was freed";
#endif
  const auto* flag = std::getenv("TROUPE_LONG_TESTS");
  auto unit = flag != nullptr && std::string_view{flag} == "1" ? 10s : 1s;
  link_options options{.when_full = GetParam().what};
  if (!GetParam().blocks)
    options.block_timeout = 0ms;
  // Small enough to be full soon: about 3,000 messages.
  options.queue_bytes = options.actor_queue_bytes = 1_MiB;
  auto slow = connect(options, "slow");
  std::atomic<bool> stop = false;
  std::thread producer{[&] {
    const measurement what{std::string(200, 'x'), 1.0, {1, 2, 3}};
    while (!stop) {
      for (int i = 0; i < 100; ++i)
        caf::anon_send(slow, what);
      std::this_thread::sleep_for(10ms); // 10,000 a second.
    }
  }};
  auto full = [&] {
    auto stats = link_->stats();
    return stats.waiting_bytes > 900'000;
  };
  for (auto deadline = std::chrono::steady_clock::now() + 30s; !full() && std::chrono::steady_clock::now() < deadline;)
    std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(full());
  std::this_thread::sleep_for(unit);
  auto here = resident_bytes(::getpid());
  auto there = resident_bytes(peer_->pid());
  std::this_thread::sleep_for(5 * unit);
  EXPECT_LE(resident_bytes(::getpid()), here + here / 20 + 2_MiB);
  EXPECT_LE(resident_bytes(peer_->pid()), there + there / 20 + 2_MiB);
  stop = true;
  link_->close();
  producer.join();
}

INSTANTIATE_TEST_SUITE_P(each, producing,
                         testing::Values(policy{"fail", when_full::fail, false},
                                         policy{"drop_oldest", when_full::drop_oldest, false},
                                         policy{"block", when_full::fail, true}),
                         [](const auto& one) { return one.param.name; });

// -- bytes behind handles

/// Returns the private memory of the process, without the pages that it maps from the store.
std::uint64_t private_bytes(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/status"};
  for (std::string word; file >> word;)
    if (std::uint64_t kib = 0; word == "RssAnon:" && file >> kib)
      return kib * 1024;
  return 0;
}

class large_values : public slow_peer, public testing::WithParamInterface<std::string> {
protected:
  large_values() : slow_peer(GetParam()) {}

  static constexpr std::uint64_t value_bytes = 1_MiB;
  static constexpr std::uint64_t actor_bound = 32_MiB; // actor_handle_window_bytes
  static constexpr std::uint64_t socket_bound = 8_MiB; // actor_window_bytes
  static constexpr std::uint64_t further_bytes =
      24_MiB; // Other memory of the process, and one message above the bounds.
};

// Goal: the process of a slow actor does not grow beyond the windows, however large the values in its messages are.
TEST_P(large_values, make_a_slow_actors_process_grow_within_its_windows_only) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep what was freed";
#endif
  const auto slow = connect({}, "slow");
  const auto before = private_bytes(peer_->pid());
  ASSERT_GT(before, 0u);
  std::uint64_t most = 0;
  const std::vector<double> value(value_bytes / sizeof(double), 1.0);
  for (int i = 0; i < 300; ++i) {
    caf::anon_send(slow, value); // Blocks until there is room, because this is no actor's thread.
    most = std::max(most, private_bytes(peer_->pid()));
  }
  EXPECT_LT(most, before + actor_bound + socket_bound + further_bytes) << "it was " << before;
  EXPECT_EQ(link_->stats().refused_at_bound, 0u);
}

// Goal: references sent to a slow actor do not fill the store for other processes.
TEST_P(large_values, that_are_referred_to_do_not_fill_the_store) {
  const auto slow = connect({}, "slow");
  const std::vector<double> value(value_bytes / sizeof(double), 1.0);
  std::uint64_t most = 0;
  for (int i = 0; i < 200; ++i) {
    const auto put = home_->put(array<double>(value));
    ASSERT_TRUE(put) << "after " << i << ": " << put.error().message();
    caf::anon_send(slow, *put);
    most = std::max(most, link_->stats().unconsumed_handle_bytes_there);
  }
  EXPECT_LE(most, actor_bound + value_bytes);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // With sanitizers, the sender may be the slower end.
  EXPECT_GE(most, actor_bound / 2) << "nothing was held back";
#endif
  EXPECT_EQ(link_->stats().refused_at_bound, 0u);
}

// Goal: values that take far more memory than encoded bytes also do not exceed the windows.
TEST_P(large_values, of_many_small_parts_count_what_they_take) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep what was freed";
#endif
  const auto slow = connect({}, "slow");
  const auto before = private_bytes(peer_->pid());
  std::uint64_t most = 0;
  const std::vector<std::string> value(30'000, "a"); // 60 kB encoded, 1 MB in memory.
  for (int i = 0; i < 300; ++i) {
    caf::anon_send(slow, value);
    most = std::max(most, private_bytes(peer_->pid()));
  }
  EXPECT_LT(most, before + 2 * socket_bound + further_bytes) << "it was " << before;
}

INSTANTIATE_TEST_SUITE_P(each, large_values, testing::Values("shared", "own"),
                         [](const auto& one) { return one.param + "_store"; });

} // namespace
} // namespace troupe::tests
