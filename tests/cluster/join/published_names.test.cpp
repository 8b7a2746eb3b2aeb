// Goal: the directory has the names that others may find, and only while they may.
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <caf/all.hpp>

#include <troupe/framework/cluster/internal/join/published_names.hpp>

#include "../../framework/two_nodes.hpp"

namespace troupe::tests {
namespace {

using membership::published_names;

class names_of_a_member : public testing::Test {
protected:
  names_of_a_member() { open(); }

  void open() {
    names_.emplace(published_names::parts{
        .home = *at_.home, .self = "one", .announce = [this](const std::string& name, bool is_there) {
          announced_ += (is_there ? '+' : '-') + name + ' ';
        }});
  }
  caf::actor spawn() {
    return at_.system.spawn([]() -> caf::behavior { return {[](int) {}}; });
  }

  side at_{{.name = "one", .listen = {}, .store = std::nullopt}};
  std::string announced_;
  std::optional<published_names> names_;
};

TEST_F(names_of_a_member, are_announced_unless_withdrawn) {
  const auto cart = spawn();
  ASSERT_TRUE(names_->add("cart", cart));
  EXPECT_EQ(announced_, "+cart ");
  names_->withdraw(true);
  EXPECT_EQ(announced_, "+cart -cart ");
  ASSERT_TRUE(names_->add("till", spawn()));
  EXPECT_EQ(announced_, "+cart -cart ");
  EXPECT_EQ(names_->find("cart"), cart); // It stays on the node.
  names_->withdraw(false);
  EXPECT_EQ(announced_, "+cart -cart +cart +till ");
  EXPECT_TRUE(names_->remove("cart"));
  EXPECT_EQ(announced_, "+cart -cart +cart +till -cart ");
  EXPECT_EQ(names_->find("cart"), std::nullopt);
  EXPECT_FALSE(names_->remove("cart"));
}

TEST_F(names_of_a_member, are_not_announced_if_the_others_learn_of_them_in_another_way) {
  ASSERT_TRUE(names_->add_unannounced("troupe.singleton.clock", spawn()));
  names_->withdraw(true);
  names_->withdraw(false);
  EXPECT_TRUE(names_->remove("troupe.singleton.clock"));
  EXPECT_EQ(announced_, "");
}

TEST_F(names_of_a_member, are_removed_only_for_the_actor_that_has_them) {
  ASSERT_TRUE(names_->add("cart", spawn()));
  const auto other = spawn().address();
  EXPECT_FALSE(names_->remove("cart", &other));
  const auto own = names_->find("cart")->address();
  EXPECT_TRUE(names_->remove("cart", &own));
}

TEST_F(names_of_a_member, are_refused_if_they_are_troupes_own_or_too_long) {
  for (const auto& bad : {std::string{"troupe.singleton.x"}, std::string{"troupe.entities.x"}, std::string(9'000, 'x')})
    EXPECT_EQ(names_->add(bad, spawn()).error().code(), directory_errc::invalid_argument) << bad;
  EXPECT_EQ(announced_, "");
}

TEST_F(names_of_a_member, are_free_on_the_node_afterwards) {
  ASSERT_TRUE(names_->add("cart", spawn()));
  EXPECT_FALSE(names_->add("cart", spawn())); // Another actor's.
  open();
  EXPECT_TRUE(names_->add("cart", spawn()));
}

} // namespace
} // namespace troupe::tests
