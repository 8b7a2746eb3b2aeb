// A node ends from any state: beside a handler that does not return, within a handler of its own, within its own I/O.
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

/// What a handler waits for, and where it says that it does.
struct gate {
  std::promise<void> entered;
  std::promise<void> open;
  std::shared_future<void> opened = open.get_future().share();
};

class node_end : public two_nodes {
protected:
  /// Enters the gate at the far end, in a handler that the far end's I/O thread runs.
  void enter(const std::shared_ptr<gate>& gate) {
    publish("gatekeeper", far().system.spawn([gate]() -> caf::behavior {
      return {[gate](int) {
        gate->entered.set_value();
        gate->opened.wait_for(20s);
        return 0;
      }};
    }));
    connect();
    caf::anon_send(find("gatekeeper"), 1);
    ASSERT_EQ(gate->entered.get_future().wait_for(10s), std::future_status::ready);
  }

  bool link_goes_down() {
    return eventually([this] { return !link_->is_open(); });
  }
};

TEST_F(node_end, does_not_wait_for_a_handler_that_runs_on_its_thread) {
  auto held = std::make_shared<gate>();
  enter(held);
  auto ended = std::async(std::launch::async, [this] { far_->home.reset(); });
  EXPECT_EQ(ended.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(link_goes_down());
  held->open.set_value();
}

TEST_F(node_end, a_handler_that_outlives_its_node_goes_on) {
  auto held = std::make_shared<gate>();
  auto done = std::make_shared<std::promise<int>>();
  enter(held);
  auto next = far().system.spawn([done]() -> caf::behavior { return {[done](int value) { done->set_value(value); }}; });
  publish("next", next);
  far_->home.reset();
  caf::anon_send(next, 7); // The system's own threads run it.
  EXPECT_EQ(done->get_future().wait_for(10s), std::future_status::ready);
  held->open.set_value();
}

TEST_F(node_end, in_a_handler_of_its_own) {
  for (bool dispatch : {true, false}) {
    far_options_.dispatch = dispatch;
    auto ended = std::make_shared<std::promise<void>>();
    publish("breaker", far().system.spawn([this, ended]() -> caf::behavior {
      return {[this, ended](int) {
        far_->home.reset();
        ended->set_value();
      }};
    }));
    connect();
    caf::anon_send(find("breaker"), 1);
    EXPECT_EQ(ended->get_future().wait_for(10s), std::future_status::ready);
    EXPECT_TRUE(link_goes_down());
    link_.reset();
    far_.reset();
  }
}

TEST_F(node_end, by_the_last_reference_to_the_actor_that_has_it) {
  // The peer's release of the actor, on the I/O thread, ends the node to which the link belongs.
  for (bool dispatch : {true, false}) {
    far_options_.dispatch = dispatch;
    auto owned = std::make_shared<std::promise<void>>();
    publish("lender", far().system.spawn([this, owned](caf::event_based_actor* self) -> caf::behavior {
      return {[this, owned, self](int) {
        auto home = std::make_shared<std::optional<node>>(std::move(far_->home));
        far_->home.reset();
        (*home)->unpublish("lender");
        return caf::actor{self->spawn<caf::lazy_init>([home]() -> caf::behavior { return {[home](int) {}}; })};
      }};
    }));
    connect();
    {
      auto owner = ask<caf::actor>(near().system, find("lender"), 1);
      ASSERT_TRUE(owner) << text_of(owner);
      EXPECT_TRUE(link_->is_open());
    }
    EXPECT_TRUE(link_goes_down());
    link_.reset();
    far_.reset();
  }
}

} // namespace
} // namespace troupe::tests
