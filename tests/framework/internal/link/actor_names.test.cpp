// The names of actors on a link, without a peer.
#include <troupe/framework/internal/link/actor_names.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

class names_on_a_link : public lone_link {
protected:
  class recognition final : public actor_recognition {
  public:
    caf::strong_actor_ptr recognize(const introduce&) const override { return known; }
    caf::strong_actor_ptr known;
  };
  /// Like a link, tells the names when a proxy ends.
  class telling_link final : public idle_proxy_link {
  public:
    explicit telling_link(names_on_a_link& of) : of_(of) {}
    void proxy_gone(std::uint64_t number, const caf::actor_control_block* control) override {
      const auto held = of_.mutex_.lock();
      of_.last_gone_ = of_.names_.proxy_gone(held, number, control);
    }

  private:
    names_on_a_link& of_;
  };

  names_on_a_link() {
    names_.belong_to(link_);
    names_.open(account_);
    open();
  }

  caf::strong_actor_ptr find(std::uint64_t number, bool recognizes = true) {
    const auto held = mutex_.lock();
    auto found = names_.find(held, {actor_name::side::mine, number}, recognizes);
    return found ? *found : nullptr;
  }
  caf::strong_actor_ptr own(std::uint64_t number) {
    const auto held = mutex_.lock();
    return names_.own(held, number);
  }
  caf::strong_actor_ptr take_back(std::uint64_t number) {
    const auto held = mutex_.lock();
    return names_.take_back(held, number);
  }
  node_errc why_not(const actor_name& name) {
    const auto found = names_.find(name);
    return found ? node_errc{} : found.error().code();
  }

  recognition own_;
  std::shared_ptr<telling_link> link_ = std::make_shared<telling_link>(*this);
  actor_introductions introductions_{common_, {1, std::string(40, 'c')}, own_};
  receive_account account_{{}, [] {}, nullptr};
  actor_names names_{common_, system_, introductions_};
  bool last_gone_ = false;
};

TEST_F(names_on_a_link, count_how_often_an_actor_was_named) {
  const auto ann = actor();
  const auto first = names_.name(ann);
  EXPECT_EQ(first.whose, actor_name::side::mine);
  EXPECT_EQ(first.number, ann->id());
  EXPECT_EQ(names_.name(ann).number, ann->id());
  EXPECT_EQ(own(ann->id()), ann);
  EXPECT_TRUE(names_.on_release({ann->id(), 1}));
  EXPECT_EQ(own(ann->id()), ann);
  EXPECT_TRUE(names_.on_release({ann->id(), 1}));
  EXPECT_EQ(own(ann->id()), nullptr);
  EXPECT_FALSE(names_.on_release({ann->id(), 1})); // More often than it was named.
  EXPECT_TRUE(admin_.is_silent());
}

TEST_F(names_on_a_link, come_back_where_they_have_not_reached_the_peer) {
  const auto ann = actor();
  (void)names_.name(ann);
  (void)names_.name(ann);
  EXPECT_EQ(take_back(ann->id()), nullptr);
  EXPECT_EQ(take_back(ann->id()), ann);
  EXPECT_EQ(own(ann->id()), nullptr);
  EXPECT_EQ(take_back(ann->id()), nullptr);
}

TEST_F(names_on_a_link, of_the_peers_own_actors_are_not_counted) {
  const auto bob = find(6);
  ASSERT_NE(bob, nullptr);
  const auto name = names_.name(bob);
  EXPECT_EQ(name.whose, actor_name::side::yours);
  EXPECT_EQ(name.number, 6u);
  const auto held = mutex_.lock();
  EXPECT_EQ(names_.exported(held), 0u);
  EXPECT_EQ(names_.imported(held), 1u);
}

TEST_F(names_on_a_link, of_nobody_are_nobody) {
  EXPECT_EQ(names_.name(caf::strong_actor_ptr{}).whose, actor_name::side::nobody);
  EXPECT_EQ(names_.find({}), caf::strong_actor_ptr{});
  EXPECT_EQ(names_.find_peers(0), caf::strong_actor_ptr{});
}

TEST_F(names_on_a_link, of_third_nodes_actors_are_introduced_once_and_withdrawn) {
  const auto carl = foreign_actor(12);
  EXPECT_TRUE(names_.can_name(carl));
  const auto name = names_.name(carl);
  EXPECT_EQ(names_.name(carl).number, name.number);
  EXPECT_TRUE(actor_exports::is_foreign(name.number));
  EXPECT_EQ(admin_.hear<introduce>(admin_op::introduce)->number, name.number);
  EXPECT_TRUE(admin_.is_silent());
  EXPECT_EQ(take_back(name.number), nullptr);
  EXPECT_TRUE(admin_.is_silent());
  EXPECT_TRUE(names_.on_release({name.number, 1}));
  EXPECT_EQ(admin_.hear<withdraw>(admin_op::withdraw)->number, name.number);
  (void)names_.name(carl);
  EXPECT_EQ(take_back(admin_.hear<introduce>(admin_op::introduce)->number), carl);
  EXPECT_TRUE(admin_.hear<withdraw>(admin_op::withdraw));
}

TEST_F(names_on_a_link, are_not_given_to_what_has_come_through_too_many_nodes) {
  auto how = link_->introduction_of(3);
  how.hops = 16;
  EXPECT_FALSE(names_.can_name(foreign_actor(12, std::make_shared<const introduce>(how))));
  EXPECT_TRUE(names_.can_name(actor()));
}

TEST_F(names_on_a_link, of_the_peers_actors_lead_to_one_proxy_until_it_is_gone) {
  auto bob = find(6);
  EXPECT_EQ(find(6), bob);
  names_.count_more(6, 3);
  EXPECT_EQ(names_.proxy_of(6), bob);
  EXPECT_EQ(names_.proxy_of(7), nullptr);
  EXPECT_TRUE(admin_.is_silent());
  bob.reset();
  EXPECT_TRUE(last_gone_);
  const auto released = admin_.hear<release_actor>(admin_op::release_actor);
  ASSERT_TRUE(released);
  EXPECT_EQ(released->actor, 6u);
  EXPECT_EQ(released->count, 5u);
}

TEST_F(names_on_a_link, of_this_nodes_actors_are_understood_while_they_are_given) {
  const auto ann = actor();
  const actor_name hers{actor_name::side::yours, ann->id()};
  EXPECT_EQ(why_not(hers), node_errc::protocol_violation);
  (void)names_.name(ann);
  EXPECT_EQ(names_.find(hers), ann);
  (void)take_back(ann->id());
  EXPECT_EQ(why_not(hers), node_errc::protocol_violation);
  EXPECT_EQ(why_not({actor_name::side::mine, 0}), node_errc::protocol_violation);
}

TEST_F(names_on_a_link, of_an_own_actor_by_way_of_a_third_node_are_recognized_and_released) {
  own_.known = actor();
  ASSERT_TRUE(introductions_.on_introduce({.number = foreign_bit | 1,
                                           .hops = 1,
                                           .process = 1,
                                           .host = std::string(40, 'c'),
                                           .link = 9,
                                           .actor = 4,
                                           .proof = byte_vector(sizeof(digest))}));
  EXPECT_EQ(find(foreign_bit | 1), own_.known);
  const auto released = admin_.hear<release_actor>(admin_op::release_actor);
  ASSERT_TRUE(released);
  EXPECT_EQ(released->actor, foreign_bit | 1);
  EXPECT_EQ(released->count, 1u);
  const auto proxy = find(foreign_bit | 1, false); // Answers to it go back the same way.
  EXPECT_NE(proxy, own_.known);
  ASSERT_NE(as_proxy(proxy), nullptr);
  EXPECT_EQ(as_proxy(proxy)->introduction()->actor, 4u);
}

TEST_F(names_on_a_link, prove_that_an_actor_was_given_here) {
  const auto ann = actor();
  (void)names_.name(ann);
  agreed_terms agreed;
  agreed.peer.node = read_node_id(8, std::string(40, 'b'));
  agreed.peer.introduction_key = {introductions_.key().begin(), introductions_.key().end()};
  agreement terms;
  terms.reach(agreed);
  const link_common peers_common{mutex_, life_, terms, admin_, log_};
  const actor_introductions peers{peers_common, {8, std::string(40, 'b')}, own_};
  EXPECT_EQ(names_.recognize(peers.of_peers_actor(ann->id())), ann);
  EXPECT_EQ(names_.recognize(peers.of_peers_actor(ann->id() + 1000)), nullptr);
  auto forged = peers.of_peers_actor(ann->id());
  forged.proof[0] ^= std::byte{1};
  EXPECT_EQ(names_.recognize(forged), nullptr);
}

TEST_F(names_on_a_link, allow_as_many_returns_as_were_counted) {
  const auto ann = actor();
  (void)names_.name(ann);
  const auto held = mutex_.lock();
  EXPECT_FALSE(names_.take_return(held, ann->id()));
  names_.allow_return(held, ann->id());
  EXPECT_TRUE(names_.take_return(held, ann->id()));
  EXPECT_FALSE(names_.take_return(held, ann->id()));
}

TEST_F(names_on_a_link, end_with_it) {
  const auto ann = actor();
  (void)names_.name(ann);
  const auto bob = find(6);
  enter(link_state::closed);
  admin_.takes_more = false;
  const auto left = names_.end();
  EXPECT_EQ(left.proxies, (std::vector{bob}));
  EXPECT_EQ(left.own, (std::vector{ann})); // Keeps ann until ann is told; nothing else may.
  EXPECT_EQ(own(ann->id()), nullptr);
  EXPECT_EQ(why_not({actor_name::side::mine, 8}), node_errc::link_down);
}

} // namespace
} // namespace troupe::internal
