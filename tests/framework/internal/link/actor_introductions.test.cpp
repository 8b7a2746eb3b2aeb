// Introductions of third nodes' actors, over a link without a peer.
#include <troupe/framework/internal/link/actor_introductions.hpp>

#include <troupe/framework/internal/link/actor_tables.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

class introductions_on_a_link : public lone_link {
protected:
  class recognition final : public actor_recognition {
  public:
    caf::strong_actor_ptr recognize(const introduce& what) const override {
      asked.push_back(what.actor);
      return known;
    }
    mutable std::vector<std::uint64_t> asked;
    caf::strong_actor_ptr known;
  };

  introduce of_home(std::uint64_t number) const {
    return {.number = number,
            .hops = 1,
            .process = 1,
            .host = std::string(40, 'c'),
            .link = 9,
            .actor = 4,
            .proof = byte_vector(sizeof(digest))};
  }
  const actor_introductions::introduced* find(std::uint64_t number) {
    const auto held = mutex_.lock();
    return introductions_.find(held, number);
  }
  node_errc refused(const introduce& what) {
    const auto done = introductions_.on_introduce(what);
    return done ? node_errc{} : done.error().code();
  }

  recognition own_;
  actor_introductions introductions_{common_, {1, std::string(40, 'c')}, own_};
};

TEST_F(introductions_on_a_link, tell_the_peer_whose_an_actor_is) {
  const auto actor = foreign_actor(12);
  {
    const auto held = mutex_.lock();
    introductions_.tell(held, *as_proxy(actor), foreign_bit | 1);
  }
  const auto told = admin_.hear<introduce>(admin_op::introduce);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->number, foreign_bit | 1);
  EXPECT_EQ(told->hops, 1u);
  EXPECT_EQ(told->actor, 12u);
  EXPECT_EQ(told->process, 7u);
  {
    const auto held = mutex_.lock();
    introductions_.withdraw(held, foreign_bit | 1);
  }
  const auto withdrawn = admin_.hear<withdraw>(admin_op::withdraw);
  ASSERT_TRUE(withdrawn);
  EXPECT_EQ(withdrawn->number, foreign_bit | 1);
}

TEST_F(introductions_on_a_link, count_the_nodes_that_an_actor_has_come_through) {
  auto how = of_home(foreign_bit | 2);
  how.hops = 15;
  const auto near = foreign_actor(12, std::make_shared<const introduce>(how));
  how.hops = 16;
  const auto far = foreign_actor(13, std::make_shared<const introduce>(how));
  EXPECT_TRUE(actor_introductions::may_go_further(*as_proxy(near)));
  EXPECT_FALSE(actor_introductions::may_go_further(*as_proxy(far)));
  const auto held = mutex_.lock();
  introductions_.tell(held, *as_proxy(near), foreign_bit | 1);
  EXPECT_EQ(admin_.hear<introduce>(admin_op::introduce)->hops, 16u);
}

TEST_F(introductions_on_a_link, are_proven_by_the_key_of_the_link_on_which_the_actor_was_given) {
  agreed_terms agreed;
  agreed.peer.node = read_node_id(8, std::string(40, 'b'));
  agreed.peer.introduction_key = {introductions_.key().begin(), introductions_.key().end()};
  agreement terms;
  terms.reach(agreed);
  const link_common common{mutex_, life_, terms, admin_, log_};
  const actor_introductions peers{common, {8, std::string(40, 'b')}, own_};
  auto made = peers.of_peers_actor(4);
  EXPECT_EQ(made.process, 8u);
  EXPECT_TRUE(introductions_.proves_receipt(made));
  EXPECT_FALSE(peers.proves_receipt(made)); // The other end has another key.
  made.actor = 5;
  EXPECT_FALSE(introductions_.proves_receipt(made));
  EXPECT_FALSE(introductions_.proves_receipt(peers.of_peers_actor(foreign_bit | 4)));
}

TEST_F(introductions_on_a_link, know_this_nodes_own_actor_again) {
  own_.known = actor();
  ASSERT_TRUE(introductions_.on_introduce(of_home(foreign_bit | 1)));
  EXPECT_EQ(own_.asked, (std::vector<std::uint64_t>{4}));
  ASSERT_NE(find(foreign_bit | 1), nullptr);
  EXPECT_EQ(find(foreign_bit | 1)->own, own_.known);
  auto elsewhere = of_home(foreign_bit | 2);
  elsewhere.process = 2;
  ASSERT_TRUE(introductions_.on_introduce(elsewhere));
  EXPECT_EQ(own_.asked.size(), 1u);
  EXPECT_EQ(find(foreign_bit | 2)->own, nullptr);
  EXPECT_EQ(find(foreign_bit | 2)->how->process, 2u);
  EXPECT_EQ(find(1), nullptr);
}

TEST_F(introductions_on_a_link, last_until_they_are_withdrawn_or_the_link_ends) {
  ASSERT_TRUE(introductions_.on_introduce(of_home(foreign_bit | 1)));
  ASSERT_TRUE(introductions_.on_introduce(of_home(foreign_bit | 2)));
  EXPECT_TRUE(introductions_.on_withdraw({foreign_bit | 1}));
  EXPECT_EQ(find(foreign_bit | 1), nullptr);
  EXPECT_FALSE(introductions_.on_withdraw({foreign_bit | 1}));
  introductions_.end();
  EXPECT_EQ(find(foreign_bit | 2), nullptr);
}

TEST_F(introductions_on_a_link, are_refused_where_they_cannot_be) {
  EXPECT_EQ(refused(of_home(1)), node_errc::protocol_violation); // The peer's own actor.
  auto what = of_home(foreign_bit | 1);
  what.hops = 0;
  EXPECT_EQ(refused(what), node_errc::protocol_violation);
  what.hops = 17;
  EXPECT_EQ(refused(what), node_errc::protocol_violation);
  what = of_home(foreign_bit | 1);
  what.proof.pop_back();
  EXPECT_EQ(refused(what), node_errc::protocol_violation);
  what = of_home(foreign_bit | 1);
  what.host.push_back('c');
  EXPECT_EQ(refused(what), node_errc::protocol_violation);
  ASSERT_TRUE(introductions_.on_introduce(of_home(foreign_bit | 1)));
  EXPECT_EQ(refused(of_home(foreign_bit | 1)), node_errc::protocol_violation); // Introduced twice.
}

TEST_F(introductions_on_a_link, are_bounded) {
  auto what = of_home(0);
  what.process = 2;
  for (std::uint64_t i = 0; i < actor_introductions::actors_max; ++i) {
    what.number = foreign_bit | i;
    ASSERT_TRUE(introductions_.on_introduce(what));
  }
  what.number = foreign_bit | actor_introductions::actors_max;
  EXPECT_EQ(refused(what), node_errc::protocol_violation);
}

} // namespace
} // namespace troupe::internal
