// An object that arrives through a second node is fetched from the first node. The third node finds and dials the first
// node by itself.
#include <future>

#include <troupe/framework/fetching.hpp>
#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_activity.hpp>
#include <troupe/framework/node_report.hpp>

#include "three_nodes.hpp"

namespace troupe::tests {
namespace {

/// Third has objects, and far passes handles to them on to near. Each node counts as a host of its own for stores.
class introduced : public three_nodes {
protected:
  using array_ref = object_ref<array<double>>;

  introduced() {
    near_options_.store.edit()->name = unique_name("near-host");
    far_options_.store.edit()->name = unique_name("far-host");
    third_options_.store.edit()->name = unique_name("third-host");
    far_options_.handle_grace = near_options_.handle_grace = third_options_.handle_grace = 500ms;
  }

  /// Returns near's handle to an object that third has put and far has passed on. Requires: all nodes are linked.
  array_ref got_by_way_of_far() {
    const auto got = std::make_shared<std::promise<array_ref>>();
    const auto keeper = near().system.spawn([got](caf::event_based_actor* self) -> caf::behavior {
      self->set_default_handler(caf::drop);
      return {[got](const array_ref& ref) {
        got->set_value(ref);
        return 1;
      }};
    });
    publish("passer", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      const auto to = std::make_shared<caf::actor>();
      return {[to](const caf::actor& whom) {
                *to = whom;
                return 1;
              },
              [self, to](const array_ref& ref) { return self->delegate(*to, ref); }};
    }));
    EXPECT_EQ(ask<int>(near().system, find("passer"), keeper), 1);
    const auto passer = third().home->links().at(0).find("passer");
    const auto ref = third().home->put(array<double>(std::vector(1000, 7.0)));
    EXPECT_EQ(ask<int>(third().system, passer.value(), ref.value()), 1);
    return got->get_future().get();
  }

  static bool is_linked_with(side& one, const std::string& other) {
    for (const auto& each : one.home->links())
      if (each.peer_name() == other)
        return true;
    return false;
  }
  /// Waits until all earlier questions from near to third are answered.
  void wait_for_answers() {
    ASSERT_TRUE(third().home->publish(
        "somebody", third().system.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int) {}}; })));
    for (auto& each : near().home->links())
      for (int i = 0; i < 2 && each.peer_name() == "third"; ++i) // The first find makes sure they were asked.
        EXPECT_TRUE(each.find("somebody"));
  }
  void end_far() {
    link_.reset();
    beyond_.reset();
    far_.reset();
  }
};

TEST_F(introduced, the_third_finds_the_first_and_outlives_the_second) {
  connect_all();
  const auto ref = got_by_way_of_far();
  ASSERT_TRUE(eventually([&] { return is_linked_with(near(), "third"); }));
  wait_for_answers();
  end_far();
  const auto value = ref.get(10s);
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ((*value)[999], 7.0);
}

TEST_F(introduced, over_tcp_too) {
  far_options_.listen = third_options_.listen = {"tcp://127.0.0.1:0"};
  const credentials known{.secret = "a secret that all three share"};
  far_options_.accepted_links.credentials = third_options_.accepted_links.credentials = known;
  third_address_ = third().home->addresses().front();
  connect_all({.credentials = known}, {.credentials = known});
  const auto ref = got_by_way_of_far();
  ASSERT_TRUE(eventually([&] { return is_linked_with(near(), "third"); }));
  EXPECT_EQ(ref.get(10s).value()[1], 7.0);
}

TEST_F(introduced, is_whom_a_reference_is_then_said_to_be_from) {
  connect_all();
  const auto ref = got_by_way_of_far();
  memory_summary known;
  const auto is_from_third = [&] {
    known = near().home->memory_summary().value();
    return known.objects.size() == 1 && known.objects[0].holders.size() == 1
           && known.objects[0].holders[0].peer == "third";
  };
  ASSERT_TRUE(eventually(is_from_third));
  EXPECT_EQ(known.objects[0].state, "remote");
  EXPECT_EQ(known.objects[0].holders[0].reason, memory_reason::handle);
  EXPECT_EQ(known.objects[0].holders[0].count, 1u);
}

TEST_F(introduced, is_nobody_over_a_link_that_does_not_allow_it) {
  connect_all({.dial_introduced = false});
  const auto ref = got_by_way_of_far();
  EXPECT_EQ(ref.get(10s).value()[1], 7.0); // Through far.
  EXPECT_FALSE(is_linked_with(near(), "third"));
}

TEST_F(introduced, is_nobody_who_does_not_listen) {
  third_options_.listen = {};
  connect();
  const auto linked = third().home->connect(address_);
  ASSERT_TRUE(linked) << linked.error().message();
  const auto ref = got_by_way_of_far();
  EXPECT_EQ(ref.get(10s).value()[1], 7.0);
  EXPECT_FALSE(is_linked_with(near(), "third"));
}

TEST_F(introduced, may_begin_to_listen_when_it_has_links) {
  third_options_.listen = {};
  connect();
  const auto linked = third().home->connect(address_);
  ASSERT_TRUE(linked) << linked.error().message();
  ASSERT_TRUE(third().home->listen(third_address_));
  const auto ref = got_by_way_of_far();
  EXPECT_TRUE(eventually([&] { return is_linked_with(near(), "third"); }));
  EXPECT_EQ(ref.get(10s).value()[1], 7.0);
}

TEST_F(introduced, is_given_no_more_than_any_peer) {
  connect_all({.allow_report = true, .allow_orders = true});
  const auto ref = got_by_way_of_far();
  ASSERT_TRUE(eventually([&] { return is_linked_with(third(), "near"); }));
  for (const auto& each : third().home->links()) {
    if (each.peer_name() == "near") {
      EXPECT_EQ(each.report(10s, {}).error().code(), node_errc::not_allowed);
      EXPECT_EQ(each.order({.what = order_kind::close_link, .number = 1}).error().code(), node_errc::not_allowed);
    }
  }
}

} // namespace
} // namespace troupe::tests
