// The actor that has sent the latest messages is kept alive for a moment, but no longer.
#include <troupe/framework/internal/link/recent_sender.hpp>

#include <chrono>

#include <asio/io_context.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

class keeping : public lone_link {
protected:
  /// Returns true once the actor is gone, or false after 20 s.
  bool goes(const caf::weak_actor_ptr& actor) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (actor.lock() && std::chrono::steady_clock::now() < deadline)
      io_.run_for(std::chrono::milliseconds{5});
    return !actor.lock();
  }

  static caf::weak_actor_ptr weakly(const caf::strong_actor_ptr& actor) { return caf::weak_actor_ptr{actor.get()}; }

  asio::io_context io_;
  recent_sender kept_{io_};
};

TEST_F(keeping, the_last_sender_stays_until_it_has_sent_nothing_for_a_moment) {
  auto sender = foreign_actor(1);
  const auto watched = weakly(sender);
  kept_.keep(sender);
  sender.reset();
  EXPECT_TRUE(watched.lock());
  EXPECT_TRUE(goes(watched));
  io_.restart();
  EXPECT_EQ(io_.run(), 0u) << "nothing is waited for where nothing is kept";
}

TEST_F(keeping, a_sender_stays_as_long_as_it_sends) {
  const auto sender = foreign_actor(1);
  const auto until = std::chrono::steady_clock::now() + 4 * recent_sender::patience;
  while (std::chrono::steady_clock::now() < until) {
    kept_.keep(sender);
    io_.run_for(std::chrono::milliseconds{1});
    EXPECT_EQ(sender->strong_refs, 2u);
  }
}

TEST_F(keeping, the_next_sender_takes_its_place) {
  auto first = foreign_actor(1);
  auto second = foreign_actor(2);
  const auto first_watched = weakly(first), second_watched = weakly(second);
  kept_.keep(first);
  kept_.keep(second);
  first.reset();
  second.reset();
  EXPECT_FALSE(first_watched.lock());
  EXPECT_TRUE(second_watched.lock());
  EXPECT_TRUE(goes(second_watched));
}

TEST_F(keeping, nobody_and_actors_of_this_node_are_not_kept) {
  const auto far = foreign_actor(1);
  const auto near = actor();
  kept_.keep(far);
  kept_.keep(nullptr);
  kept_.keep(near);
  EXPECT_EQ(far->strong_refs, 2u);
  EXPECT_EQ(near->strong_refs, 1u);
}

TEST_F(keeping, the_links_end_lets_go_at_once) {
  const auto sender = foreign_actor(1);
  kept_.keep(sender);
  kept_.end();
  EXPECT_EQ(sender->strong_refs, 1u);
  EXPECT_EQ(io_.run_for(std::chrono::milliseconds{200}), 1u) << "of the timer that was cancelled";
}

} // namespace
} // namespace troupe::internal
