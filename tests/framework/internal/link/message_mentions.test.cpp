// The actors and objects that a message mentions are counted once each. The counts are returned if the message does not
// leave.
#include <troupe/framework/internal/link/message_mentions.hpp>

#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/objects/lost_object.hpp>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class mentioning : public way_out {
protected:
  mentioning() {
    cargo.claims.begin(tables);
    mentioned.begin(drafts.mentions, cargo);
    mentioned.begin_element(element);
  }
  caf::strong_actor_ptr own(std::uint64_t number) {
    const auto held = mutex_.lock();
    return actors.own(held, number);
  }
  caf::strong_actor_ptr peers_actor(std::uint64_t number) { return *actors.find({actor_name::side::mine, number}); }

  const std::shared_ptr<idle_proxy_link> link = std::make_shared<idle_proxy_link>();
  message_cargo cargo;
  element_descriptor element;
  message_mentions mentioned;
};

TEST_F(mentioning, an_actor_gives_its_place_and_counts_it) {
  const auto ann = actor();
  EXPECT_EQ(mentioned.mention(to_handle(ann)), 1u);
  EXPECT_EQ(mentioned.mention(to_handle(ann)), 2u);
  ASSERT_EQ(element.actors.size(), 2u);
  EXPECT_EQ(element.actors[0].number, ann->id());
  EXPECT_FALSE(element.actors[0].readers);
  EXPECT_EQ(cargo.claims.actors(), 2u);
  EXPECT_EQ(own(ann->id()), ann);
}

TEST_F(mentioning, nobody_is_no_mention) {
  EXPECT_EQ(mentioned.mention(to_handle(caf::strong_actor_ptr{})), 0u);
  EXPECT_TRUE(element.actors.empty());
}

TEST_F(mentioning, a_message_that_does_not_leave_names_nobody) {
  const auto ann = actor();
  (void)mentioned.mention(to_handle(ann));
  cargo.claims.clear();
  EXPECT_EQ(own(ann->id()), nullptr);
}

TEST_F(mentioning, the_peers_own_actors_are_kept_until_the_message_has_left) {
  actors.belong_to(link);
  auto theirs = peers_actor(5);
  EXPECT_EQ(mentioned.mention(to_handle(theirs)), 1u);
  EXPECT_TRUE(element.actors[0].readers);
  EXPECT_EQ(element.actors[0].number, 5u);
  EXPECT_EQ(cargo.claims.actors(), 0u); // Nothing for the peer to release.
  const caf::weak_actor_ptr left{theirs.get()};
  theirs.reset();
  EXPECT_NE(left.lock(), nullptr);
  cargo.claims.clear();
  EXPECT_EQ(left.lock(), nullptr);
}

TEST_F(mentioning, places_begin_anew_with_each_element) {
  (void)mentioned.mention(to_handle(actor()));
  element_descriptor next;
  mentioned.begin_element(next);
  EXPECT_EQ(mentioned.mention(to_handle(actor())), 1u);
  EXPECT_EQ(element.actors.size(), 1u);
  EXPECT_EQ(next.actors.size(), 1u);
}

TEST_F(mentioning, has_a_bound) {
  element.actors.resize(element_actors_max);
  const auto one_more = mentioned.mention(to_handle(actor()));
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code(), serialize_errc::limit_exceeded);
}

TEST_F(mentioning, the_bytes_of_objects_travel_where_nobody_counts_handles) {
  EXPECT_EQ(mentioned.mention(object_source_ptr{std::make_shared<lost_object>(5)}), 0u);
  EXPECT_TRUE(cargo.mentions.empty());
}

TEST_F(mentioning, nothing_is_read_while_it_is_written) {
  EXPECT_FALSE(mentioned.mentioned(1));
  EXPECT_FALSE(mentioned.mentioned_object(1));
  EXPECT_EQ(mentioned.objects(), nullptr);
}

} // namespace
} // namespace troupe::internal
