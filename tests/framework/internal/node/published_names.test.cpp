// Goal: a name belongs to one actor at a time, and an actor may use the names while it is being released.
#include <troupe/framework/internal/node/published_names.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

namespace troupe::internal {
namespace {

class names_of_a_node : public testing::Test {
protected:
  caf::strong_actor_ptr actor() { return caf::actor_cast<caf::strong_actor_ptr>(one_); }

  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  caf::scoped_actor one_{system_, true};
  caf::scoped_actor other_{system_, true};
  std::vector<std::string> changed_;
  published_names names_{[this](const std::string& name) { changed_.push_back(name); }};
};

TEST_F(names_of_a_node, lead_to_the_actor_until_they_are_taken_back) {
  ASSERT_TRUE(names_.publish("cup", actor()));
  EXPECT_EQ(names_.find("cup"), actor());
  EXPECT_EQ(names_.find("saucer"), nullptr);
  EXPECT_EQ(names_.size(), 1u);
  EXPECT_TRUE(names_.unpublish("cup"));
  EXPECT_FALSE(names_.unpublish("cup"));
  EXPECT_EQ(names_.find("cup"), nullptr);
}

TEST_F(names_of_a_node, are_one_actors_at_a_time) {
  ASSERT_TRUE(names_.publish("cup", actor()));
  const auto second = names_.publish("cup", caf::actor_cast<caf::strong_actor_ptr>(other_));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), node_errc::name_taken);
  EXPECT_EQ(names_.find("cup"), actor());
}

TEST_F(names_of_a_node, are_neither_empty_nor_long_and_are_somebodys) {
  for (const auto& [name, who] : {std::pair{std::string{}, actor()}, std::pair{std::string(1025, 'n'), actor()},
                                  std::pair{std::string{"cup"}, caf::strong_actor_ptr{}}}) {
    const auto published = names_.publish(name, who);
    ASSERT_FALSE(published) << name;
    EXPECT_EQ(published.error().code(), node_errc::bad_option);
  }
  EXPECT_TRUE(names_.publish(std::string(1024, 'n'), actor()));
  EXPECT_EQ(names_.size(), 1u);
}

/// Returns an actor that reads the names when it is destroyed, as a program's state in an actor may do.
caf::strong_actor_ptr nosy_actor(caf::actor_system& system, published_names& names, std::atomic<std::size_t>& seen) {
  struct looks_at_end {
    published_names& names;
    std::atomic<std::size_t>& seen;
    ~looks_at_end() {
      EXPECT_LE(names.size(), 2u); // Under the lock of the names, this would wait forever.
      ++seen;
    }
  };
  return caf::actor_cast<caf::strong_actor_ptr>(
      system.spawn([kept = std::make_shared<looks_at_end>(names, seen)](caf::event_based_actor* self) -> caf::behavior {
        self->attach_functor([kept] {});
        return {[](int) {}};
      }));
}

TEST_F(names_of_a_node, tell_each_change) {
  const auto ann = actor();
  ASSERT_TRUE(names_.publish("ann", ann));
  EXPECT_FALSE(names_.publish("ann", ann));
  EXPECT_TRUE(names_.unpublish("ann"));
  EXPECT_FALSE(names_.unpublish("ann"));
  EXPECT_EQ(changed_, (std::vector<std::string>{"ann", "ann"}));
}

TEST_F(names_of_a_node, let_actors_go_outside_of_their_lock) {
  std::atomic<std::size_t> seen = 0;
  ASSERT_TRUE(names_.publish("one", nosy_actor(system_, names_, seen)));
  ASSERT_TRUE(names_.publish("two", nosy_actor(system_, names_, seen)));
  EXPECT_TRUE(names_.unpublish("one"));
  names_.clear();
  EXPECT_EQ(names_.size(), 0u);
  while (seen < 2) // Both actors end before the objects that they refer to.
    std::this_thread::yield();
}

} // namespace
} // namespace troupe::internal
