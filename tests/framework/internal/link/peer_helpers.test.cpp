// The actors through which a peer serves this node, without a peer.
#include <troupe/framework/internal/link/peer_helpers.hpp>

#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/function.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

int twice(int value) {
  return 2 * value;
}

class helpers_of_a_peer : public lone_named_link {
protected:
  helpers_of_a_peer() {
    types_.add_function<&twice>("twice");
    agreed_.peer.node = read_node_id(8, std::string(40, 'b'));
    agreed_.peer.name = "far";
  }

  void open_with(std::uint64_t runner, std::uint64_t spawner, std::uint64_t inspector) {
    agreed_.peer.runner = runner;
    agreed_.peer.spawner = spawner;
    agreed_.peer.inspector = inspector;
    agree(agreed_);
    open();
    EXPECT_TRUE(helpers_.open());
  }
  static std::uint64_t number_of(const caf::actor& helper) {
    const auto* remote = as_proxy(caf::actor_cast<caf::strong_actor_ptr>(helper));
    return remote != nullptr ? remote->number() : 0;
  }
  node_errc refusal_of(const caf::actor& helper) {
    caf::scoped_actor self{system_};
    node_errc code{};
    self->request(helper, std::chrono::seconds{5}, 1)
        .receive([](int) {}, [&](const caf::error& error) { code = to_node_error(error).code(); });
    return code;
  }

  type_registry types_;
  agreed_terms agreed_;
  peer_helpers helpers_{common_, system_, types_, names_};
  std::string name_;
};

TEST_F(helpers_of_a_peer, are_those_that_it_has_named) {
  open_with(4, 5, 6);
  EXPECT_EQ(number_of(helpers_.task_runner_of(typeid(registered_function<&twice>), name_)), 4u);
  EXPECT_EQ(name_, "twice");
  EXPECT_EQ(number_of(helpers_.spawner()), 5u);
  EXPECT_EQ(number_of(helpers_.inspector()), 6u);
}

TEST_F(helpers_of_a_peer, refuse_where_the_peer_allows_nothing) {
  open_with(0, 0, 0);
  EXPECT_EQ(refusal_of(helpers_.spawner()), node_errc::not_allowed);
  EXPECT_EQ(refusal_of(helpers_.inspector()), node_errc::not_allowed);
  EXPECT_EQ(refusal_of(helpers_.task_runner_of(typeid(int), name_)), node_errc::not_found);
}

TEST_F(helpers_of_a_peer, end_with_the_link) {
  open_with(4, 5, 6);
  enter(link_state::closed);
  helpers_.end();
  EXPECT_EQ(refusal_of(helpers_.spawner()), node_errc::link_down);
}

} // namespace
} // namespace troupe::internal
