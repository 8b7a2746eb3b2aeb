// Goal: with several I/O threads, the links of a node do not delay each other, are spread evenly, and keep all promises
// for a single link.
#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>

#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/node/unproven_links.hpp>

#include "open_descriptors.hpp"
#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace several_threads {

using namespace troupe;
using namespace std::chrono_literals;

/// Lets a decoder report that it has entered, and then wait.
struct meeting {
  std::promise<void> entered;
  std::promise<void> open;
  std::shared_future<void> opened = open.get_future().share();
};
std::shared_ptr<meeting> of_decoders;

/// The threads that are encoding at the same time.
struct encoding_threads {
  std::mutex mutex;
  std::set<std::thread::id> all; // Guarded by mutex.

  bool has_two() {
    std::lock_guard guard{mutex};
    all.insert(std::this_thread::get_id());
    return all.size() == 2;
  }
  void leave() {
    std::lock_guard guard{mutex};
    all.erase(std::this_thread::get_id());
  }
};
std::shared_ptr<encoding_threads> of_encoders;

/// Its codec waits for other threads if the value says so.
struct stop {
  bool when_decoded = false;
  bool when_encoded = false; // Waits for a second encoder and fails without one.
  bool when_alone = false;   // Waits 200 ms for a second encoder and fails with one.
};

struct letter {
  int number = 0;
  stop where;
  std::vector<std::string> lines;
};
TROUPE_DESCRIBE(letter, number, where, lines)

} // namespace several_threads

template <>
struct troupe::codec<several_threads::stop> {
  using form = bool;
  static constexpr bool is_self_contained = true;
  static std::expected<form, serialize_error> reduce(const several_threads::stop& value, const context&) {
    if (value.when_encoded) {
      const auto all = several_threads::of_encoders;
      if (!tests::eventually([&all] { return all->has_two(); }))
        return std::unexpected(serialize_error(serialize_errc::codec_failed, "encoded alone"));
    }
    if (value.when_alone) {
      const auto all = several_threads::of_encoders;
      const auto met = tests::eventually([&all] { return all->has_two(); }, std::chrono::milliseconds{200});
      all->leave();
      if (met)
        return std::unexpected(serialize_error(serialize_errc::codec_failed, "encoded by two"));
    }
    return value.when_decoded;
  }
  static std::expected<several_threads::stop, serialize_error> rebuild(form&& stops, const context&) {
    if (stops) {
      const auto here = several_threads::of_decoders;
      here->entered.set_value();
      here->opened.wait_for(std::chrono::seconds{20});
    }
    return several_threads::stop{.when_decoded = stops};
  }
};

namespace several_threads {

class io_threads : public tests::two_nodes {
protected:
  io_threads() {
    far_types_ = near_types_ = [](type_registry& types) { types.add<letter>("letter"); };
    of_decoders = std::make_shared<meeting>();
  }
  ~io_threads() override { of_decoders = nullptr; }

  /// Opens one more link between the two nodes.
  troupe::link join(const link_options& options = {}) {
    far();
    auto joined = near().home->connect(address_, options);
    if (!joined)
      throw std::runtime_error(joined.error().message());
    return *std::move(joined);
  }

  void publish_echo() {
    publish("echo", far().system.spawn([]() -> caf::behavior {
      return {[](int value) { return value; }, [](const letter& what) { return what.number; }};
    }));
  }
};

// Method: the decoder of one link waits until requests over the other link have been answered.
TEST_F(io_threads, that_decode_for_one_link_do_not_hold_up_others) {
  far_options_.io_threads = 2;
  publish_echo();
  auto held = join();
  auto free = join();
  const auto over_held = *held.find("echo");
  const auto over_free = *free.find("echo");
  caf::scoped_actor self{near().system};
  auto answer = self->request(over_held, 20s, letter{.number = 7, .where = {.when_decoded = true}, .lines = {}});
  ASSERT_EQ(of_decoders->entered.get_future().wait_for(10s), std::future_status::ready);
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(tests::ask<int>(near().system, over_free, i), i);
  EXPECT_TRUE(held.is_open());
  of_decoders->open.set_value();
  answer.receive([](int number) { EXPECT_EQ(number, 7); },
                 [](const caf::error& why) { ADD_FAILURE() << troupe::text_of(why); });
}

// Method: peers that do not prove themselves connect while one of two loops is blocked in a decoder. The peers that are
// assigned to that loop cannot be ended there.
TEST_F(io_threads, that_are_busy_do_not_let_a_flood_take_all_descriptors) {
  constexpr std::size_t unproven = 8;
  far_options_.io_threads = 2;
  far_options_.unproven_peers_max = unproven;
  publish_echo();
  auto held = join();
  caf::anon_send(*held.find("echo"), letter{.number = 7, .where = {.when_decoded = true}, .lines = {}});
  ASSERT_EQ(of_decoders->entered.get_future().wait_for(10s), std::future_status::ready);
  const auto before = tests::open_descriptors();
  std::vector<int> flood;
  std::size_t most = 0;
  for (int i = 0; i < 100; ++i) {
    flood.push_back(tests::connect_to(address_));
    std::this_thread::sleep_for(1ms); // Lets the listener accept it.
    most = std::max(most, tests::held_descriptors() - before - flood.size());
  }
  EXPECT_LE(most,
            unproven + internal::unproven_links<int>::leaving_max + 5); // 3 of the other loop, for its first link.
  of_decoders->open.set_value();
  for (const auto one : flood)
    ::close(one);
  EXPECT_TRUE(tests::eventually([&] { return tests::open_descriptors() <= before; }));
}

// Method: while the decoder of one link waits, other links come and go through the listener, and the node's own dials
// succeed.
TEST_F(io_threads, that_decode_leave_others_to_open_and_close_links) {
  far_options_.io_threads = 8; // No link gets the blocked loop, even while closed links still end.
  publish_echo();
  auto held = join();
  const auto over_held = *held.find("echo");
  caf::anon_send(over_held, letter{.number = 7, .where = {.when_decoded = true}, .lines = {}});
  ASSERT_EQ(of_decoders->entered.get_future().wait_for(10s), std::future_status::ready);
  for (int i = 0; i < 20; ++i) {
    auto comes = join();
    ASSERT_EQ(tests::ask<int>(near().system, *comes.find("echo"), i), i);
    comes.close();
    ASSERT_TRUE(tests::eventually([this] { return far().home->links().size() == 1; }));
  }
  of_decoders->open.set_value();
}

// Method: each encoder fails unless a second one encodes at the same time.
TEST_F(io_threads, encode_several_large_messages_at_a_time) {
  near_options_.io_threads = 2;
  near_config_ = [](caf::actor_system_config& config) { config.set("scheduler.max-threads", 3); };
  of_encoders = std::make_shared<encoding_threads>();
  publish_echo();
  const link_options options{.offload_bytes = 1_MiB};
  std::vector<troupe::link> links;
  for (int i = 0; i < 2; ++i)
    links.push_back(join(options));
  std::atomic<int> answers = 0;
  for (int i = 0; i < 2; ++i)
    near().system.spawn(
        [to = *links[static_cast<std::size_t>(i)].find("echo"), i, &answers](caf::event_based_actor* me) {
          me->request(to, 20s,
                      letter{.number = i,
                             .where = {.when_encoded = true},
                             .lines = std::vector<std::string>(20'000, std::string(60, 'x'))})
              .then([i, &answers](int number) { answers += number == i ? 1 : 100; },
                    [&answers](const caf::error& why) {
                      ADD_FAILURE() << troupe::text_of(why);
                      answers += 100;
                    });
        });
  EXPECT_TRUE(tests::eventually([&] { return answers >= 2; }));
  EXPECT_EQ(answers, 2);
}

// Method: each encoder fails if a second one encodes the same message at the same time.
TEST_F(io_threads, encode_a_message_to_many_by_one_of_them) {
  constexpr int links = 6;
  near_options_.io_threads = 4;
  near_config_ = [](caf::actor_system_config& config) { config.set("scheduler.max-threads", 4); };
  of_encoders = std::make_shared<encoding_threads>();
  std::atomic<int> arrived = 0;
  publish("sink", far().system.spawn([&arrived](caf::event_based_actor*) -> caf::behavior {
    return {[&arrived](const letter&) { ++arrived; }};
  }));
  std::vector<caf::actor> sinks;
  std::vector<troupe::link> all;
  for (int i = 0; i < links; ++i) {
    all.push_back(join({.offload_bytes = 1_MiB}));
    sinks.push_back(*all.back().find("sink"));
  }
  near().system.spawn([&sinks](caf::event_based_actor* self) {
    const auto message = caf::make_message(letter{
        .number = 1, .where = {.when_alone = true}, .lines = std::vector<std::string>(20'000, std::string(60, 'x'))});
    for (const auto& each : sinks)
      self->send(each, message);
  });
  EXPECT_TRUE(tests::eventually([&arrived] { return arrived == links; })) << arrived;
}

// Goal: the order of each pair of actors is kept, whatever the sizes of the messages and the threads that carry them.
TEST_F(io_threads, keep_the_order_of_each_pair) {
  constexpr int links = 6;
  constexpr int senders = 3; // For each link.
  constexpr int messages = 300;
  far_options_.io_threads = near_options_.io_threads = 4;
  std::atomic<int> in_order = 0;
  std::atomic<int> out_of_order = 0;
  publish("sink", far().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    auto next = std::make_shared<std::map<caf::actor_addr, int>>();
    return {[&, self, next](const letter& what) {
      auto& due = (*next)[caf::actor_cast<caf::actor_addr>(self->current_sender())];
      (what.number == due ? in_order : out_of_order) += 1;
      due = what.number + 1;
    }};
  }));
  const link_options options{
      .spill_bytes = 1_GiB, .offload_bytes = 64_KiB, .actor_window_bytes = 8_MiB, .actor_queue_bytes = 64_MiB};
  std::vector<troupe::link> all;
  for (int i = 0; i < links; ++i) {
    all.push_back(join(options));
    const auto sink = *all.back().find("sink");
    for (int each = 0; each < senders; ++each)
      near().system.spawn([sink](caf::event_based_actor* self) {
        self->set_default_handler(caf::drop);
        for (int number = 0; number < messages; ++number)
          self->send(sink,
                     letter{.number = number,
                            .where = {},
                            .lines = std::vector<std::string>(number % 50 == 0 ? 2'000u : 1u, std::string(60, 'x'))});
      });
  }
  EXPECT_TRUE(tests::eventually([&] { return in_order + out_of_order == links * senders * messages; }))
      << in_order << " and " << out_of_order;
  EXPECT_EQ(out_of_order, 0);
}

TEST_F(io_threads, are_at_most_256) {
  near_options_.io_threads = 257;
  try {
    near();
    ADD_FAILURE() << "opened";
  } catch (const std::runtime_error& why) {
    EXPECT_STREQ(why.what(), "io_threads is 257, limit 256");
  }
}

TEST_F(io_threads, may_be_as_many_as_there_are_cores) {
  far_options_.io_threads = near_options_.io_threads = 0;
  publish_echo();
  connect();
  EXPECT_EQ(tests::ask<int>(near().system, find("echo"), 5), 5);
}

// Goal: each end assigns its part of a link to the thread that has room for it, whatever transport carries the link.
TEST_F(io_threads, take_links_within_the_process) {
  address_ = "inproc://" + tests::unique_name("threads");
  far_options_.listen = {address_};
  far_options_.io_threads = near_options_.io_threads = 4;
  publish_echo();
  std::vector<troupe::link> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back(join());
    EXPECT_EQ(tests::ask<int>(near().system, *all.back().find("echo"), i), i);
  }
}

/// Both ends have the same number of I/O threads.
class links_by_threads : public io_threads, public testing::WithParamInterface<std::size_t> {
protected:
  links_by_threads() { far_options_.io_threads = near_options_.io_threads = GetParam(); }

  /// Publishes an actor that forwards everything it gets to the last six guests, over any links that reach them.
  void publish_hub() {
    publish("hub", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      auto guests = std::make_shared<std::deque<caf::actor>>();
      self->set_default_handler(caf::drop);
      self->set_down_handler([](caf::down_msg&) {});
      return {[self, guests](const caf::actor& guest) {
                constexpr std::size_t most = 6;
                self->monitor(guest);
                guests->push_back(guest);
                if (guests->size() > most)
                  guests->pop_front();
                return static_cast<int>(guests->size());
              },
              [self, guests](const letter& what) {
                for (const auto& each : *guests)
                  self->send(each, what);
                return what.number;
              }};
    }));
  }

  /// Opens links one after the other, sends over each to all guests, and closes it. Returns the number of requests that
  /// were answered, by a value or by an error.
  int visit(int rounds, bool waits) {
    int answered = 0;
    caf::scoped_actor self{near().system};
    for (int round = 0; round < rounds; ++round) {
      auto comes = join({.offload_bytes = 64_KiB, .share_store = false});
      const auto hub = *comes.find("hub");
      const auto guest = near().system.spawn([](caf::event_based_actor* me) -> caf::behavior {
        me->set_default_handler(caf::drop);
        return {[](const letter&) {}};
      });
      std::vector<decltype(self->request(hub, 10s, guest))> asked;
      asked.push_back(self->request(hub, 10s, guest));
      for (int i = 0; i < questions - 1; ++i)
        asked.push_back(self->request(
            hub, 10s,
            letter{.number = i, .where = {}, .lines = std::vector<std::string>(i == 7 ? 3'000u : 1u, "a line")}));
      std::optional<std::jthread> closer;
      if (!waits)
        closer.emplace([&comes] { comes.close(); });
      for (auto& each : asked)
        each.receive([&](int) { ++answered; },
                     [&](const caf::error& why) {
                       ++answered;
                       EXPECT_NE(why, caf::sec::request_timeout) << troupe::text_of(why);
                     });
      comes.close();
    }
    return answered;
  }

  static constexpr int questions = 20; // Per round.
};

INSTANTIATE_TEST_SUITE_P(with, links_by_threads, testing::Values(1, 2, 4),
                         [](const auto& which) { return std::to_string(which.param) + "_io_threads"; });

// Goal: links open and close while actors of other links send over them. Every request is answered, and all links end.
TEST_P(links_by_threads, come_and_go_while_messages_cross_them) {
  publish_hub();
  near();
  constexpr int rounds = 8;
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> visitors;
    for (int i = 0; i < 4; ++i)
      visitors.emplace_back([&, waits = i % 2 == 0] { answered += visit(rounds, waits); });
  }
  EXPECT_EQ(answered, 4 * rounds * questions);
  EXPECT_TRUE(tests::eventually([this] { return far().home->links().empty() && near().home->links().empty(); }));
}

// Method: the node ends while links to it are opened, used and closed.
TEST_P(links_by_threads, end_with_their_node_in_any_state) {
  publish_hub();
  near();
  std::atomic<bool> is_over = false;
  std::vector<std::jthread> visitors;
  for (int i = 0; i < 4; ++i)
    visitors.emplace_back([&] {
      while (!is_over) {
        auto comes = near().home->connect(address_, {.share_store = false});
        if (!comes)
          continue;
        const auto hub = comes->find("hub");
        if (!hub)
          continue;
        for (int each = 0; each < 20; ++each)
          caf::anon_send(*hub, letter{.number = each, .where = {}, .lines = std::vector<std::string>(200, "a line")});
      }
    });
  for (int round = 0; round < 5; ++round) {
    EXPECT_TRUE(tests::eventually([this] { return far().home->links().size() >= 4; }));
    far_->home.reset();
    auto opened = node::open(far_->system, far_->types, far_->families, far_options_);
    ASSERT_TRUE(opened) << opened.error().message();
    far_->home.emplace(*std::move(opened));
    publish_hub();
  }
  is_over = true;
}

/// A node at the listening end whose internals can be inspected.
class spread_links : public testing::Test {
protected:
  ~spread_links() override { home_->shut_down(); }

  [[nodiscard]] bool has(std::size_t links, std::size_t more_at_most) const {
    const auto by_loop = home_->links_by_loop();
    const auto [least, most] = std::ranges::minmax(by_loop);
    return std::accumulate(by_loop.begin(), by_loop.end(), std::size_t{0}) == links && most - least <= more_at_most;
  }

  const std::string address_ = "unix://@" + tests::unique_name("troupe-spread");
  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  const std::shared_ptr<internal::node_core> home_ = [this] {
    auto made = std::make_shared<internal::node_core>(
        system_, types_, families_,
        node_options{.name = "far", .listen = {address_}, .store = std::nullopt, .io_threads = 4});
    EXPECT_TRUE(made->start());
    return made;
  }();
};

TEST_F(spread_links, are_even_within_one) {
  tests::side near{{.name = "near", .store = std::nullopt, .io_threads = 2}};
  std::vector<troupe::link> links;
  for (int i = 0; i < 200; ++i) {
    auto joined = near.home->connect(address_);
    ASSERT_TRUE(joined) << joined.error().message();
    links.push_back(*std::move(joined));
  }
  EXPECT_TRUE(has(200, 0)) << testing::PrintToString(home_->links_by_loop());
  for (std::size_t i = 0; i < links.size(); ++i)
    if (i % 4 == 0) // All of them belong to one loop.
      links[i].close();
  ASSERT_TRUE(tests::eventually([this] { return has(150, 50); })) << testing::PrintToString(home_->links_by_loop());
  for (int i = 0; i < 50; ++i) {
    auto joined = near.home->connect(address_);
    ASSERT_TRUE(joined) << joined.error().message();
    links.push_back(*std::move(joined));
  }
  EXPECT_TRUE(has(200, 1)) << testing::PrintToString(home_->links_by_loop());
}

TEST_F(spread_links, are_counted_until_they_have_ended) {
  tests::side near{{.name = "near", .store = std::nullopt}};
  {
    std::vector<troupe::link> links;
    for (int i = 0; i < 6; ++i)
      links.push_back(*near.home->connect(address_));
    EXPECT_TRUE(has(6, 1));
  }
  near.home.reset();
  EXPECT_TRUE(tests::eventually([this] { return has(0, 0); })) << testing::PrintToString(home_->links_by_loop());
}

} // namespace several_threads
