// Goal: an open link changes its families and other options while messages are on their way in both directions. Only
// the bytes on the wire differ.
#include <algorithm>
#include <array>
#include <functional>
#include <future>

#include "two_nodes.hpp"

namespace troupe::tests {

/// Calls `call` whenever it is encoded.
struct encoding_hook {
  static inline std::function<void()> call;
};

} // namespace troupe::tests

template <>
struct troupe::codec<troupe::tests::encoding_hook> {
  using form = bool;
  static std::expected<form, serialize_error> reduce(const tests::encoding_hook&, const context&) {
    if (tests::encoding_hook::call)
      tests::encoding_hook::call();
    return true;
  }
  static std::expected<tests::encoding_hook, serialize_error> rebuild(form&&, const context&) {
    return tests::encoding_hook{};
  }
};

namespace troupe::tests {
namespace {

using names = std::vector<std::string>;

/// One message of a sender; `number` counts up.
struct item {
  int sender = 0;
  int number = 0;
  std::string filling;
};
TROUPE_DESCRIBE(item, sender, number, filling)

struct hooked_item {
  int number = 0;
  encoding_hook hook;
};
TROUPE_DESCRIBE(hooked_item, number, hook)

void add_item(type_registry& types) {
  types.add<item>("test.item");
  types.add<hooked_item>("test.hooked_item");
}

/// Returns the far end of the only link, which may open a moment later than the near end.
link other_end(side& far) {
  EXPECT_TRUE(eventually([&] { return !far.home->links().empty(); }));
  return far.home->links().at(0);
}

class reconfiguring : public two_nodes {
protected:
  reconfiguring() {
    far_types_ = near_types_ = add_item;
    far_options_.accepted_links.serializers = {"typed", "msgpack"};
  }

  link far_link() { return other_end(far()); }
};

TEST_F(reconfiguring, both_ends_know_the_new_lists) {
  connect();
  auto changed = link_->reconfigure({.serializers = names{"json", "msgpack"}, .deserializers = names{"json"}});
  ASSERT_FALSE(changed) << "far sends with [typed, msgpack]";
  EXPECT_EQ(changed.error().code(), node_errc::nothing_in_common);
  changed = link_->reconfigure({.serializers = names{"json", "msgpack"}, .deserializers = names{"json", "typed"}});
  ASSERT_TRUE(changed) << changed.error().message();
  EXPECT_EQ(link_->serializers(), names{"msgpack"});
  EXPECT_EQ(link_->deserializers(), (names{"json", "typed"}));
  EXPECT_EQ(far_link().serializers(), names{"typed"});
  changed = far_link().reconfigure({.serializers = names{"json"}, .deserializers = names{"json"}});
  ASSERT_TRUE(changed) << changed.error().message();
  EXPECT_EQ(link_->serializers(), names{"json"});
  EXPECT_EQ(far_link().serializers(), names{"json"});
  EXPECT_EQ(far_link().deserializers(), names{"json"});
  publish("echo", far().system.spawn([]() -> caf::behavior { return {[](const item& value) { return value; }}; }));
  auto back = ask<item>(near().system, find("echo"), item{1, 2, "three"});
  ASSERT_TRUE(back) << text_of(back);
  EXPECT_EQ(back->filling, "three");
}

TEST_F(reconfiguring, deserializers_are_the_serializers_where_none_are_listed) {
  far_options_.accepted_links.serializers = {"typed", "json"};
  connect({.serializers = {"typed", "msgpack"}});
  ASSERT_TRUE(link_->reconfigure({.serializers = names{"json", "typed"}, .deserializers = names{}}));
  EXPECT_EQ(link_->deserializers(), (names{"json", "typed"}));
  ASSERT_TRUE(link_->reconfigure({.serializers = names{"typed"}}));
  EXPECT_EQ(link_->deserializers(), (names{"json", "typed"})) << "only where a list is given";
}

TEST_F(reconfiguring, to_nothing_in_common_is_refused_with_both_lists_and_changes_nothing) {
  connect();
  const link_changes changes{
      .serializers = names{"json"}, .deserializers = names{"msgpack"}, .spill_bytes = 1, .offload_bytes = 1};
  auto changed = link_->reconfigure(changes);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code(), node_errc::nothing_in_common);
  EXPECT_EQ(changed.error().message(), "no family in common: far sends with [typed, msgpack], near accepts [msgpack]; "
                                       "near sends with [json], far accepts [typed, msgpack]");
  EXPECT_EQ(link_->serializers(), (names{"typed", "msgpack"}));
  EXPECT_EQ(link_->deserializers(), (names{"typed", "msgpack"}));
  // The peer need not be asked. A link also sends packets of its own (credit, heartbeats), but not during each attempt.
  EXPECT_TRUE(eventually([&] {
    const auto before = link_->stats().socket_bytes_sent;
    EXPECT_FALSE(link_->reconfigure(changes));
    return link_->stats().socket_bytes_sent == before;
  }));
}

TEST_F(reconfiguring, to_families_that_are_not_there_or_not_allowed_is_refused) {
  connect();
  auto text_of_change = [&](const link_changes& changes) {
    auto changed = link_->reconfigure(changes);
    EXPECT_FALSE(changed);
    if (changed)
      return std::string{};
    EXPECT_EQ(changed.error().code(), node_errc::bad_option);
    return changed.error().message();
  };
  EXPECT_EQ(text_of_change({.serializers = names{}}), "a link needs at least one family in `serializers`");
  EXPECT_NE(text_of_change({.serializers = names{"typed", "yaml"}}).find("no family 'yaml'; known are [typed,"),
            std::string::npos);
  EXPECT_NE(text_of_change({.deserializers = names{"typed", "cereal"}}).find("trusted_families = true"),
            std::string::npos);
  EXPECT_NE(text_of_change({.deserializers = names(65, "typed")}).find("list of 65 families, limit 64"),
            std::string::npos);
  EXPECT_EQ(link_->deserializers(), (names{"typed", "msgpack"}));
}

TEST_F(reconfiguring, to_trusted_families_works_where_both_ends_trust) {
  far_options_.accepted_links.trusted_families = true;
  connect({.trusted_families = true});
  ASSERT_TRUE(link_->reconfigure({.deserializers = names{"cereal", "typed"}}));
  EXPECT_EQ(far_link().serializers(), names{"typed"});
  ASSERT_TRUE(far_link().reconfigure({.serializers = names{"cereal"}}));
  EXPECT_EQ(far_link().serializers(), names{"cereal"});
}

TEST_F(reconfiguring, a_closed_link_fails) {
  connect();
  link_->close();
  ASSERT_TRUE(eventually([&] { return !link_->is_open(); }));
  auto changed = link_->reconfigure({.serializers = names{"typed"}});
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code(), node_errc::link_down);
}

TEST_F(reconfiguring, changes_at_the_same_time_wait_for_each_other) {
  connect();
  std::vector<std::future<bool>> changes;
  for (int i = 0; i < 8; ++i)
    changes.push_back(std::async(std::launch::async, [&, i] {
      return link_->reconfigure({.deserializers = i % 2 == 0 ? names{"typed"} : names{"msgpack"}}, 20s).has_value();
    }));
  for (auto& each : changes)
    EXPECT_TRUE(each.get());
}

TEST_F(reconfiguring, compression_spilling_and_offloading_change_without_the_peer) {
  far_options_.accepted_links.share_store = false;
  publish("size", far().system.spawn(
                      []() -> caf::behavior { return {[](const item& value) { return value.filling.size(); }}; }));
  connect({.share_store = false});
  auto remote = find("size");
  const item large{1, 2, std::string(100'000, 'x')};
  auto bytes_for_it = [&] {
    const auto before = link_->stats().socket_bytes_sent;
    EXPECT_EQ(ask<std::size_t>(near().system, remote, large), 100'000u);
    return link_->stats().socket_bytes_sent - before;
  };
  EXPECT_GT(bytes_for_it(), 100'000u);
  ASSERT_TRUE(link_->reconfigure({.compression = compression::lz4}));
  EXPECT_LT(bytes_for_it(), 50'000u);
  ASSERT_TRUE(link_->reconfigure({.compression = compression::none, .offload_bytes = 1}));
  EXPECT_GT(bytes_for_it(), 100'000u);
}

TEST_F(reconfiguring, the_size_from_which_frames_go_into_the_store_changes) {
  publish("size", far().system.spawn(
                      []() -> caf::behavior { return {[](const item& value) { return value.filling.size(); }}; }));
  connect();
  ASSERT_TRUE(link_->shares_store());
  const item middling{1, 2, std::string(10'000, 'x')};
  EXPECT_EQ(ask<std::size_t>(near().system, find("size"), middling), 10'000u);
  EXPECT_EQ(link_->stats().handle_bytes_sent, 0u);
  ASSERT_TRUE(link_->reconfigure({.spill_bytes = 8'000}));
  EXPECT_EQ(ask<std::size_t>(near().system, find("size"), middling), 10'000u);
  EXPECT_GE(link_->stats().handle_bytes_sent, 10'000u);
}

TEST_F(reconfiguring, what_waits_for_a_receiver_holds_up_the_acknowledgement_and_nothing_else) {
  link_options small{.window_bytes = 4'000, .actor_window_bytes = 2'000};
  far_options_.accepted_links = small;
  auto gate = std::make_shared<std::promise<void>>();
  auto got = std::make_shared<std::atomic<int>>(0);
  publish("stuck", far().system.spawn<caf::detached>(
                       [opens = gate->get_future().share(), got](caf::event_based_actor*) -> caf::behavior {
                         return {[=](const item& value) {
                           opens.wait_for(20s);
                           if (value.number == *got)
                             ++*got;
                         }};
                       }));
  publish("echo", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
  connect(small);
  auto stuck = find("stuck");
  auto echo = find("echo");
  for (int i = 0; i < 20; ++i)
    caf::anon_send(stuck, item{1, i, std::string(500, 'x')});
  ASSERT_GT(link_->stats().waiting_bytes, 0u);
  auto changed = far_link().reconfigure({.deserializers = names{"msgpack"}}, 50ms);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code(), node_errc::timed_out);
  EXPECT_EQ(link_->serializers(), names{"msgpack"}) << "new messages go by the new list";
  EXPECT_EQ(far_link().deserializers(), (names{"msgpack", "typed"})) << "what waits is by the older one";
  EXPECT_EQ(ask<int>(near().system, echo, 5), 5);
  gate->set_value();
  EXPECT_TRUE(eventually([&] { return *got == 20; })) << *got;
  EXPECT_TRUE(eventually([&] { return far_link().deserializers() == names{"msgpack"}; }));
  EXPECT_EQ(ask<int>(near().system, echo, 6), 6);
}

TEST_F(reconfiguring, a_change_that_was_not_acknowledged_in_time_holds_up_the_next_one_only) {
  link_options small{.window_bytes = 4'000, .actor_window_bytes = 2'000};
  far_options_.accepted_links = small;
  auto gate = std::make_shared<std::promise<void>>();
  publish("stuck", far().system.spawn<caf::detached>(
                       [opens = gate->get_future().share()](caf::event_based_actor*) -> caf::behavior {
                         return {[=](const item&) { opens.wait_for(20s); }};
                       }));
  connect(small);
  auto stuck = find("stuck");
  for (int i = 0; i < 20; ++i)
    caf::anon_send(stuck, item{1, i, std::string(500, 'x')});
  ASSERT_FALSE(far_link().reconfigure({.deserializers = names{"msgpack"}}, 20ms));
  auto second = far_link().reconfigure({.deserializers = names{"typed"}}, 20ms);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), node_errc::timed_out);
  EXPECT_NE(second.error().message().find("this change was not made"), std::string::npos);
  EXPECT_TRUE(link_->reconfigure({.serializers = names{"msgpack"}})) << "the other direction";
  gate->set_value();
  EXPECT_TRUE(far_link().reconfigure({.deserializers = names{"msgpack", "typed"}}, 20s));
}

/// Tests with a hook that runs while a message is being encoded.
class while_encoding : public reconfiguring {
protected:
  void TearDown() override { encoding_hook::call = nullptr; }

  caf::actor number_taker() {
    publish("taker", far().system.spawn(
                         []() -> caf::behavior { return {[](const hooked_item& value) { return value.number; }}; }));
    connect();
    return find("taker");
  }

  int encoded_ = 0;
};

TEST_F(while_encoding, what_is_refused_when_it_would_leave_is_encoded_again) {
  auto taker = number_taker();
  encoding_hook::call = [this] {
    if (++encoded_ == 1) {
      EXPECT_TRUE(far_link().reconfigure({.deserializers = names{"msgpack"}}));
    }
  };
  EXPECT_EQ(ask<int>(near().system, taker, hooked_item{5, {}}), 5);
  EXPECT_EQ(encoded_, 2);
  EXPECT_EQ(far_link().deserializers(), names{"msgpack"});
  EXPECT_EQ(ask<int>(near().system, taker, hooked_item{6, {}}), 6);
  EXPECT_EQ(encoded_, 3);
}

TEST_F(while_encoding, what_is_encoded_again_holds_up_the_next_change) {
  auto taker = number_taker();
  encoding_hook::call = [this] {
    if (++encoded_ == 1) {
      EXPECT_TRUE(far_link().reconfigure({.deserializers = names{"msgpack"}}));
    } else if (encoded_ == 2) {
      EXPECT_FALSE(far_link().reconfigure({.deserializers = names{"typed"}}, 50ms));
    }
  };
  EXPECT_EQ(ask<int>(near().system, taker, hooked_item{5, {}}), 5);
  EXPECT_EQ(encoded_, 2);
  EXPECT_TRUE(eventually([&] { return far_link().deserializers() == names{"typed"}; }));
  EXPECT_EQ(ask<int>(near().system, taker, hooked_item{6, {}}), 6);
  EXPECT_EQ(encoded_, 3);
}

// -- full load

/// Counts the messages that `senders` senders have sent to one end, and those that have arrived there.
struct tally {
  explicit tally(int senders) : next(static_cast<std::size_t>(senders)), sending(senders) {}
  std::vector<std::atomic<int>> next; // By sender.
  std::atomic<int> sent{0};           // By senders that are done.
  std::atomic<int> sending;           // Senders that are not done.
  std::atomic<int> got{0};
  std::atomic<int> out_of_order{0};

  [[nodiscard]] int got_of(int sender) const { return next.at(static_cast<std::size_t>(sender)); }
  void take(const item& value) {
    if (next.at(static_cast<std::size_t>(value.sender)).fetch_add(1) != value.number)
      ++out_of_order;
    ++got;
  }
};

struct load {
  std::string transport;
  bool share_store;
};

/// Many senders at both ends. Each sends to one receiver at the other end. Some messages go in chunks or through the
/// store, some are encoded on another thread, and most wait for credit.
class under_full_load : public two_nodes, public testing::WithParamInterface<load> {
protected:
  static constexpr int senders = 8; // At each end.

  under_full_load() {
    far_types_ = near_types_ = add_item;
    options_ = {.serializers = {"typed", "msgpack", "json"},
                .spill_bytes = 100'000,
                .offload_bytes = 40'000,
                .share_store = GetParam().share_store,
                .window_bytes = 400'000,
                .actor_window_bytes = 100'000,
                .queue_bytes = 1_GiB,
                .actor_queue_bytes = 1_GiB,
                .verify_serialization = true};
    far_options_.accepted_links = options_;
    if (GetParam().transport == "inproc")
      far_options_.listen = {"inproc://" + unique_name("troupe-reconfigure")};
  }

  static caf::actor receiver(caf::actor_system& system, std::shared_ptr<tally> notes) {
    return system.spawn([notes](caf::event_based_actor*) -> caf::behavior {
      return {[notes](const item& value) { notes->take(value); }};
    });
  }

  /// Sends as long as the load lasts, and so many messages at a time that most of them wait for credit.
  void start_sender(caf::actor_system& system, const caf::actor& whom, int sender, std::shared_ptr<tally> there) {
    system.spawn([=, lasts = lasts_](caf::event_based_actor* self) -> caf::behavior {
      self->send(self, 0);
      return {[=](int number) {
        if (!*lasts) {
          there->sent += number;
          --there->sending;
          self->quit();
          return;
        }
        const auto before = number;
        for (; number < before + 5 && number < there->got_of(sender) + 60; ++number) {
          const std::size_t size = number % 50 == 7 ? 300'000 : number % 10 == 3 ? 60'000 : 50;
          self->send(whom, item{sender, number, std::string(size, 'x')});
        }
        if (number > before)
          self->send(self, number);
        else
          self->delayed_send(self, 1ms, number);
      }};
    });
  }

  /// Publishes receivers at `at`. Returns the handles that the other end finds over its link.
  static std::vector<caf::actor> receivers(side& at, link& over, const std::shared_ptr<tally>& notes) {
    std::vector<caf::actor> found;
    for (int i = 0; i < senders / 2; ++i) { // Two senders each.
      auto name = "receiver " + std::to_string(i);
      EXPECT_TRUE(at.home->publish(name, receiver(at.system, notes)));
      auto remote = over.find(name);
      EXPECT_TRUE(remote);
      found.push_back(*remote);
    }
    return found;
  }

  /// Changes an end's lists until 25 changes have succeeded and 2000 messages have arrived meanwhile.
  static void keep_changing(link over, const std::shared_ptr<tally>& there, bool serializers_too, unsigned seed) {
    const std::array<names, 5> lists = {names{"typed"}, names{"msgpack"}, names{"json", "typed"},
                                        names{"msgpack", "json"}, names{"typed", "msgpack", "json"}};
    const auto deadline = std::chrono::steady_clock::now() + 120s;
    int changed = 0;
    for (auto turn = seed; changed < 25 || there->got < 2'000; ++turn) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << changed;
      link_changes changes{.deserializers = lists[turn % lists.size()]};
      if (serializers_too)
        changes.serializers = lists[(turn * 3 + seed) % lists.size()];
      auto done = over.reconfigure(changes, 60s);
      if (done) {
        ++changed;
      } else { // Crossing changes may be refused.
        ASSERT_TRUE(serializers_too && done.error().code() == node_errc::nothing_in_common) << done.error().message();
      }
    }
  }

  void run(bool serializers_too) {
    auto at_far = std::make_shared<tally>(senders);
    auto at_near = std::make_shared<tally>(senders);
    connect(options_);
    auto far_link = other_end(far());
    auto theirs = receivers(far(), *link_, at_far);
    auto ours = receivers(near(), far_link, at_near);
    for (int i = 0; i < senders; ++i) {
      start_sender(near().system, theirs[static_cast<std::size_t>(i / 2)], i, at_far);
      start_sender(far().system, ours[static_cast<std::size_t>(i / 2)], i, at_near);
    }
    auto near_changes = std::async(std::launch::async, keep_changing, *link_, at_far, serializers_too, 0);
    auto far_changes = std::async(std::launch::async, keep_changing, far_link, at_near, serializers_too, 2);
    // Meanwhile requests are also not refused.
    publish("echo", far().system.spawn([]() -> caf::behavior { return {[](const item& value) { return value; }}; }));
    auto echo = find("echo");
    auto is_changing = [](const std::future<void>& changes) {
      return changes.wait_for(0s) != std::future_status::ready;
    };
    for (int i = 0; is_changing(near_changes) || is_changing(far_changes); ++i) {
      auto answer = ask<item>(near().system, echo, item{0, i, "question"});
      EXPECT_TRUE(answer && answer->number == i) << text_of(answer);
    }
    *lasts_ = false;
    for (const auto& notes : {at_near, at_far}) {
      EXPECT_TRUE(eventually([&] { return notes->sending == 0 && notes->got == notes->sent; }))
          << notes->got << " of " << notes->sent;
      EXPECT_GE(notes->got, 2'000);
      EXPECT_EQ(notes->out_of_order, 0);
    }
    for (const auto& end : {*link_, far_link}) {
      EXPECT_TRUE(end.is_open());
      auto stats = end.stats();
      EXPECT_EQ(stats.unserializable, 0u);
      EXPECT_EQ(stats.undecodable, 0u);
      EXPECT_EQ(stats.undelivered, 0u);
      EXPECT_EQ(stats.refused_at_bound, 0u);
      EXPECT_EQ(stats.dropped, 0u);
    }
  }

  ~under_full_load() override { *lasts_ = false; }

  const std::shared_ptr<std::atomic<bool>> lasts_ = std::make_shared<std::atomic<bool>>(true);
  link_options options_;
};

TEST_P(under_full_load, nothing_is_lost_reordered_or_refused_when_what_is_accepted_changes) {
  run(false);
}

TEST_P(under_full_load, nothing_is_lost_reordered_or_refused_when_both_lists_change) {
  run(true);
}

INSTANTIATE_TEST_SUITE_P(over, under_full_load,
                         testing::Values(load{"unix", false}, load{"unix", true}, load{"inproc", false}),
                         [](const auto& each) {
                           return each.param.transport + (each.param.share_store ? "_with_a_store" : "");
                         });

} // namespace
} // namespace troupe::tests
