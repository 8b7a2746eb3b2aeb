// Opaque handles of actors: converting them back returns the actor, and each handle counts its reference once.
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <gtest/gtest.h>

#include <troupe/framework/internal/caf_port/actor_handles.hpp>

namespace troupe::internal {

namespace {

class actor_handles : public testing::Test {
protected:
  [[nodiscard]] std::size_t references() const { return actor->strong_refs.load(); }

  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::strong_actor_ptr actor = caf::actor_cast<caf::strong_actor_ptr>(
      system.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int) {}}; }));
};

TEST_F(actor_handles, an_actor_comes_back_as_it_went_in) {
  EXPECT_EQ(to_actor(to_handle(actor)), actor);
  EXPECT_EQ(to_handle(actor), to_handle(actor));
}

TEST_F(actor_handles, nobody_stays_nobody) {
  EXPECT_FALSE(to_handle(nullptr));
  EXPECT_EQ(to_actor(actor_handle{}), nullptr);
  EXPECT_FALSE(to_handle(actor) == actor_handle{});
}

TEST_F(actor_handles, each_handle_keeps_one_reference_until_it_ends) {
  const auto before = references();
  {
    auto first = to_handle(actor);
    EXPECT_EQ(references(), before + 1);
    auto second = first;
    EXPECT_EQ(references(), before + 2);
    auto moved = std::move(first);
    EXPECT_EQ(references(), before + 2);
    second = moved;
    EXPECT_EQ(references(), before + 2);
    second = actor_handle{};
    EXPECT_EQ(references(), before + 1);
    const auto taken = to_actor(std::move(moved));
    EXPECT_EQ(references(), before + 1);
  }
  EXPECT_EQ(references(), before);
}

} // namespace

} // namespace troupe::internal
