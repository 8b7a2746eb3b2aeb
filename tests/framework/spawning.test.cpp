// Goal: a node spawns actors of registered types in the peer if the peer's link allows it. Everything else is refused
// with the reason.
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using counting = caf::typed_actor<caf::replies_to<int>::with<int>>;
using naming = caf::typed_actor<caf::replies_to<std::string>::with<std::string>>;

caf::behavior adder(caf::event_based_actor*, int by) {
  return {[by](int value) { return value + by; }};
}

counting::behavior_type counter(counting::pointer, int from) {
  return {[from](int value) { return from + value; }};
}

struct unlucky : caf::event_based_actor {
  explicit unlucky(caf::actor_config& config) : caf::event_based_actor(config) { throw std::runtime_error("no luck"); }
};

struct wordless : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return nullptr; }
};
struct unlucky_and_silent : caf::event_based_actor {
  explicit unlucky_and_silent(caf::actor_config& config) : caf::event_based_actor(config) { throw wordless{}; }
};

class spawning_over_a_link : public two_nodes {
protected:
  spawning_over_a_link() {
    far_options_.accepted_links.allow_spawn = true;
    far_config_ = [](caf::actor_system_config& config) {
      config.add_actor_type("adder", adder);
      config.add_actor_type("counter", counter);
      config.add_actor_type<unlucky>("unlucky");
      config.add_actor_type<unlucky_and_silent>("silent");
    };
  }
};

TEST_F(spawning_over_a_link, makes_an_actor_there_from_arguments) {
  connect();
  auto made = link_->spawn("adder", 5).get(10s);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_NE(made->node(), near().system.node());
  EXPECT_EQ(ask<int>(near().system, *made, 2), 7);
}

TEST_F(spawning_over_a_link, is_an_ordinary_request_of_an_actor) {
  connect();
  auto answered = std::make_shared<std::promise<int>>();
  near().system.spawn([this, answered](caf::event_based_actor* self) {
    link_->spawn("adder", 5).request(self, 10s).then([self, answered](const caf::strong_actor_ptr& made) {
      self->request(caf::actor_cast<caf::actor>(made), 10s, 1).then([answered](int sum) { answered->set_value(sum); });
    });
  });
  auto sum = answered->get_future();
  ASSERT_EQ(sum.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(sum.get(), 6);
}

TEST_F(spawning_over_a_link, checks_the_interface) {
  connect();
  auto made = link_->spawn<counting>("counter", 5).get(10s);
  ASSERT_TRUE(made) << made.error().message();
  auto other = link_->spawn<naming>("counter", 5).get(10s);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), node_errc::interface_mismatch);
  EXPECT_EQ(other.error().message(), "'counter' does not have the requested interface");
}

TEST_F(spawning_over_a_link, is_refused_where_the_link_does_not_allow_it) {
  far_options_.accepted_links.allow_spawn = false;
  connect();
  auto made = link_->spawn("adder", 5).get(10s);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), node_errc::not_allowed);
  EXPECT_EQ(made.error().message(), "far spawns no actors for this link; its end of the link must have allow_spawn");
}

TEST_F(spawning_over_a_link, of_what_nobody_registered_says_so) {
  connect();
  auto made = link_->spawn("stranger").get(10s);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), node_errc::not_found);
  EXPECT_EQ(made.error().message(), "no actor type 'stranger' is registered here; add it to the actor system's "
                                    "configuration with add_actor_type");
}

TEST_F(spawning_over_a_link, with_other_arguments_says_so) {
  connect();
  auto made = link_->spawn("adder", std::string{"five"}).get(10s);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), node_errc::interface_mismatch);
  EXPECT_EQ(made.error().message(), "'adder' cannot be constructed from these arguments");
}

TEST_F(spawning_over_a_link, of_what_throws_says_what) {
  connect();
  auto made = link_->spawn("unlucky").get(10s);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), node_errc::spawn_failed);
  EXPECT_EQ(made.error().message(), "'unlucky' was not spawned: no luck");
  made = link_->spawn("silent").get(10s);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message(), "'silent' was not spawned: an exception without a text");
}

TEST_F(spawning_over_a_link, gives_actors_that_end_when_nobody_refers_to_them) {
  auto before = far().system.registry().running();
  connect();
  {
    auto made = link_->spawn("adder", 5).get(10s);
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(ask<int>(near().system, *made, 2), 7);
  }
  EXPECT_TRUE(eventually([&] { return far().system.registry().running() <= before; }));
}

TEST_F(spawning_over_a_link, fails_with_the_link) {
  connect();
  link_->close();
  ASSERT_TRUE(eventually([&] { return !link_->is_open(); }));
  auto made = link_->spawn("adder", 5).get(10s);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), node_errc::link_down);
}

} // namespace
} // namespace troupe::tests
