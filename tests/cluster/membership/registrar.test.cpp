// Goal: what a node wants in the directory stands there under its lease, and nothing else of it does.
#include <gtest/gtest.h>

#include <troupe/framework/cluster/internal/membership/registrar.hpp>

#include "../../eventually.hpp"
#include "../memory_directory.hpp"

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;
using membership::registrar;

class a_registrar : public testing::Test {
protected:
  std::unique_ptr<registrar> make(std::string value = "a", bool replaces = false) {
    return std::make_unique<registrar>(
        std::make_shared<memory_directory>(world_),
        registrar::exclusive_entry{"members/a", std::move(value), [replaces](const auto&) { return replaces; }}, 10ms);
  }
  auto settled(registrar& of) { return of.settle(std::chrono::steady_clock::now() + 10s); }
  std::string value_of(const std::string& key) {
    const auto found = world_->entry(key);
    return found ? found->value : "nothing";
  }

  const std::shared_ptr<memory_world> world_ = std::make_shared<memory_world>();
};

TEST_F(a_registrar, writes_under_its_lease) {
  const auto lease = world_->grant();
  const auto of = make();
  of->set("names/a/cart", "1");
  of->use_lease(lease);
  ASSERT_TRUE(settled(*of));
  EXPECT_EQ(value_of("members/a"), "a");
  EXPECT_EQ(value_of("names/a/cart"), "1");
  EXPECT_EQ(world_->entry("names/a/cart")->lease, lease);
}

TEST_F(a_registrar, removes_and_changes) {
  const auto of = make();
  of->set("names/a/cart", "1");
  of->set("names/a/till", "1");
  of->use_lease(world_->grant());
  ASSERT_TRUE(settled(*of));
  of->remove("names/a/cart");
  of->set("names/a/till", "2");
  of->set_exclusive("b");
  ASSERT_TRUE(settled(*of));
  EXPECT_EQ(value_of("names/a/cart"), "nothing");
  EXPECT_EQ(value_of("names/a/till"), "2");
  EXPECT_EQ(value_of("members/a"), "b");
}

TEST_F(a_registrar, writes_everything_again_under_another_lease) {
  const auto of = make();
  of->set("names/a/cart", "1");
  const auto first = world_->grant();
  of->use_lease(first);
  ASSERT_TRUE(settled(*of));
  world_->expire(first);
  EXPECT_EQ(value_of("members/a"), "nothing");
  of->use_lease(world_->grant());
  ASSERT_TRUE(settled(*of));
  EXPECT_EQ(value_of("members/a"), "a");
  EXPECT_EQ(value_of("names/a/cart"), "1");
}

TEST_F(a_registrar, leaves_the_entry_of_another_node_alone_and_names_it) {
  world_->put("members/a", "other", world_->grant());
  const auto of = make();
  of->set("names/a/cart", "1");
  of->use_lease(world_->grant());
  ASSERT_TRUE(eventually([&] { return !of->settle(std::chrono::steady_clock::now() + 100ms); }));
  const auto refused = of->settle(std::chrono::steady_clock::now());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), directory_errc::name_taken);
  EXPECT_NE(refused.error().message().find("members/a"), std::string::npos);
  EXPECT_EQ(value_of("members/a"), "other");
  EXPECT_EQ(value_of("names/a/cart"), "nothing");
}

TEST_F(a_registrar, takes_the_entry_once_the_other_nodes_lease_has_ended) {
  const auto others = world_->grant();
  world_->put("members/a", "other", others);
  const auto of = make();
  of->use_lease(world_->grant());
  EXPECT_FALSE(of->settle(std::chrono::steady_clock::now() + 100ms));
  world_->expire(others);
  ASSERT_TRUE(settled(*of));
  EXPECT_EQ(value_of("members/a"), "a");
}

TEST_F(a_registrar, replaces_what_a_process_that_is_gone_has_left_and_revokes_its_lease) {
  const auto others = world_->grant();
  world_->put("members/a", "other", others);
  world_->put("names/a/old", "1", others);
  const auto of = make("a", true);
  of->use_lease(world_->grant());
  ASSERT_TRUE(settled(*of));
  EXPECT_EQ(value_of("members/a"), "a");
  EXPECT_EQ(value_of("names/a/old"), "nothing");
}

TEST_F(a_registrar, touches_nothing_of_a_process_that_has_taken_its_entry_over) {
  const auto of = make();
  of->set("names/a/cart", "1");
  of->use_lease(world_->grant());
  ASSERT_TRUE(settled(*of));
  const auto others = world_->grant();
  world_->put("members/a", "other", others);
  world_->put("names/a/cart", "theirs", others);
  of->remove("names/a/cart");
  EXPECT_FALSE(of->settle(std::chrono::steady_clock::now() + 200ms));
  EXPECT_EQ(value_of("names/a/cart"), "theirs");
  ASSERT_TRUE(of->trouble());
  EXPECT_EQ(of->trouble()->code(), directory_errc::name_taken);
}

TEST_F(a_registrar, writes_once_the_directory_answers_again) {
  world_->fail(directory_errc::unavailable);
  const auto of = make();
  of->use_lease(world_->grant());
  const auto failed = of->settle(std::chrono::steady_clock::now() + 100ms);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), directory_errc::unavailable);
  world_->fail(std::nullopt);
  EXPECT_TRUE(settled(*of));
}

} // namespace
} // namespace troupe::tests
