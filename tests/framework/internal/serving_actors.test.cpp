// Goal: the actors that serve the peers of all links survive everything that one peer sends, however it got their
// handles.
#include <caf/all.hpp>
#include <gtest/gtest.h>

#include <troupe/framework/internal/node/node_core.hpp>

#include "../two_nodes.hpp"

namespace troupe::tests {
namespace {

class serving_actors : public testing::Test {
protected:
  ~serving_actors() override { node_->shut_down(); }

  const std::string address_ = "unix://@" + unique_name("troupe-serving");
  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  std::shared_ptr<internal::node_core> node_ = [this] {
    node_options options{.name = "serving", .listen = {address_}, .store = std::nullopt};
    options.accepted_links.allow_exit = true; // But no tasks.
    auto made = std::make_shared<internal::node_core>(system_, types_, families_, std::move(options));
    EXPECT_TRUE(made->start());
    return made;
  }();
};

TEST_F(serving_actors, outlive_a_peer_that_may_end_actors_and_got_them_by_way_of_others) {
  ASSERT_TRUE(node_->names().publish("runner", node_->helpers().task_runner()));
  ASSERT_TRUE(node_->names().publish("spawner", node_->helpers().spawner()));
  ASSERT_TRUE(node_->names().publish("inspector", node_->helpers().inspector({.memory = true})));
  auto mortal = system_.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; });
  ASSERT_TRUE(node_->names().publish("mortal", caf::actor_cast<caf::strong_actor_ptr>(mortal)));
  side peer{{.name = "peer", .store = std::nullopt}};
  auto link = peer.home->connect(address_);
  ASSERT_TRUE(link) << link.error().message();
  for (const auto* name : {"runner", "spawner", "inspector"}) {
    const auto found = link->find(name);
    ASSERT_TRUE(found) << found.error().message();
    caf::anon_send_exit(*found, caf::exit_reason::kill);
    caf::anon_send(*found, caf::make_error(caf::sec::runtime_error));
    const auto answer = ask<int>(peer.system, *found, 5); // Not a request that it handles.
    ASSERT_FALSE(answer) << name;
    EXPECT_NE(answer.error(), caf::make_error(caf::sec::request_receiver_down)) << name;
    EXPECT_EQ(text_of(answer).find("down"), std::string::npos) << name << ": " << text_of(answer);
  }
  const auto found = link->find("mortal");
  ASSERT_TRUE(found);
  caf::anon_send_exit(*found, caf::exit_reason::kill);
  EXPECT_FALSE(ask<int>(peer.system, *found, 5));
}

} // namespace
} // namespace troupe::tests
