// Goal: a sender that respects is_ready() loses no message, however much more memory its values take than their bytes.
// Method: the reader starts only after the sender has had to wait, so that unconsumed values fill the windows.
#include <deque>
#include <map>

#include <troupe/framework/link_ready.hpp>

#include "two_nodes.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(std::vector<std::shared_ptr<std::int32_t>>)

namespace troupe::tests {
namespace {

struct pointers {
  std::vector<std::shared_ptr<std::int32_t>> all;
};
TROUPE_DESCRIBE(pointers, all)

struct queues {
  std::vector<std::deque<std::int32_t>> all;
};
TROUPE_DESCRIBE(queues, all)

using lists_by_name = std::map<std::string, std::vector<std::int32_t>>;

// Values that contain their number.

pointers numbered(const pointers*, std::int32_t number) {
  pointers made{.all = std::vector<std::shared_ptr<std::int32_t>>(50)};
  for (auto& each : made.all)
    each = std::make_shared<std::int32_t>(number);
  return made;
}
std::int32_t number_of(const pointers& value) {
  return *value.all.at(49);
}

queues numbered(const queues*, std::int32_t number) {
  queues made{.all = std::vector<std::deque<std::int32_t>>(40)};
  made.all.back().push_back(number);
  return made;
}
std::int32_t number_of(const queues& value) {
  return value.all.at(39).at(0);
}

lists_by_name numbered(const lists_by_name*, std::int32_t number) {
  lists_by_name made;
  for (int i = 0; i < 40; ++i)
    made[std::to_string(i)] = {number};
  return made;
}
std::int32_t number_of(const lists_by_name& value) {
  return value.at("39").at(0);
}

class value_memory : public two_nodes, public testing::WithParamInterface<const char*> {
protected:
  value_memory() {
    far_options_.store = near_options_.store = std::nullopt;
    far_types_ = near_types_ = [](type_registry& types) {
      types.add<pointers>("pointers").add<queues>("queues").add<lists_by_name>("lists_by_name");
    };
  }

  void bound(std::size_t of_link, std::size_t of_actor) {
    far_options_.accepted_links.window_bytes = of_link;
    far_options_.accepted_links.actor_window_bytes = of_actor;
  }

  /// Sends `count` values to each of `readers` actors; all of them have to arrive in order.
  template <class T>
  void expect_all_arrive(std::int32_t count, int readers = 1) {
    std::promise<void> gate;
    const auto opens = gate.get_future().share();
    const auto arrived = std::make_shared<std::atomic<std::int32_t>>(0);
    const auto misplaced = std::make_shared<std::atomic<std::int32_t>>(0);
    std::vector<caf::actor> far_readers;
    far_options_.accepted_links.serializers = far_options_.accepted_links.deserializers = {GetParam()};
    for (int i = 0; i < readers; ++i) {
      far_readers.push_back(far().system.spawn<caf::detached>([=](caf::event_based_actor*) -> caf::behavior {
        const auto next = std::make_shared<std::int32_t>(0);
        return {[=](const T& value) {
          opens.wait_for(60s);
          if (number_of(value) != (*next)++)
            ++*misplaced;
          ++*arrived;
        }};
      }));
      publish("reader " + std::to_string(i), far_readers.back());
    }
    connect({.serializers = {GetParam()}, .deserializers = {GetParam()}});
    std::vector<caf::actor> remote;
    for (int i = 0; i < readers; ++i)
      remote.push_back(find("reader " + std::to_string(i)));
    caf::scoped_actor sender{near().system};
    std::vector<std::int32_t> next(remote.size());
    const auto fill = [&](std::size_t which) {
      for (; next[which] < count && is_ready(remote[which]); ++next[which])
        sender->send(remote[which], numbered(static_cast<const T*>(nullptr), next[which]));
    };
    for (std::size_t i = 0; i < remote.size(); ++i)
      fill(i);
    EXPECT_LT(next.back(), count) << "the windows were never full";
    ASSERT_TRUE(eventually([&] { // Everything that may leave has arrived; nothing is consumed.
      const auto left = link_->stats().unconsumed_bytes_there;
      return left > 0 && far_stats().unconsumed_bytes_here >= left;
    }));
    gate.set_value();
    for (std::size_t i = 0; i < remote.size(); ++i)
      while (next[i] < count) {
        notify_when_ready(sender, remote[i]);
        sender->receive([](const link_ready&) {}, caf::after(60s) >> [] { FAIL() << "no link_ready"; });
        ASSERT_FALSE(HasFailure());
        fill(i);
      }
    EXPECT_TRUE(eventually([&] { return *arrived == count * readers; }, 60s)) << *arrived;
    EXPECT_EQ(*misplaced, 0);
    EXPECT_EQ(link_->stats().refused_at_bound, 0u);
    EXPECT_EQ(link_->stats().dropped, 0u);
    EXPECT_EQ(link_->stats().undelivered, 0u);
    EXPECT_EQ(far_stats().undecodable, 0u);
    EXPECT_EQ(far_stats().undelivered, 0u);
    for (const auto& each : far_readers)
      caf::anon_send_exit(each, caf::exit_reason::kill);
  }

  link_stats far_stats() { return far().home->links().at(0).stats(); }
};

INSTANTIATE_TEST_SUITE_P(, value_memory, testing::Values("typed", "msgpack", "json"),
                         [](const auto& of) { return std::string(of.param); });

TEST_P(value_memory, shared_objects_are_waited_for) {
  expect_all_arrive<pointers>(2'500);
}
TEST_P(value_memory, queues_for_several_actors_are_waited_for) {
  expect_all_arrive<queues>(3'000, 3);
}
TEST_P(value_memory, maps_of_lists_are_waited_for) {
  expect_all_arrive<lists_by_name>(5'000);
}

TEST_P(value_memory, shared_objects_are_waited_for_in_small_windows) {
  bound(2_MiB, 2_MiB);
  expect_all_arrive<pointers>(3'500);
}
TEST_P(value_memory, queues_are_waited_for_in_small_windows) {
  bound(256_KiB, 256_KiB);
  expect_all_arrive<queues>(2'000);
}
TEST_P(value_memory, queues_for_several_actors_are_waited_for_in_small_windows) {
  bound(256_KiB, 64_KiB);
  expect_all_arrive<queues>(500, 4);
}
TEST_P(value_memory, maps_of_lists_are_waited_for_in_small_windows) {
  bound(256_KiB, 256_KiB);
  expect_all_arrive<lists_by_name>(2'000);
}

} // namespace
} // namespace troupe::tests
