// The addresses of nodes that a link tells its peer, without a peer.
#include <troupe/framework/internal/link/whereabouts_teller.hpp>

#include <troupe/framework/internal/link/link_host.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

class places_told : public lone_link {
protected:
  class no_entrances final : public entrance_book {
  public:
    std::vector<std::string> addresses() const override { return listens_at; }
    void unproven_peer_is_gone(node_link*) override {}
    std::vector<std::string> listens_at;
  };
  class book final : public whereabouts_book {
  public:
    std::optional<own_words> of(const handles::node_name& who) const override {
      return who == known ? std::optional{words} : std::nullopt;
    }
    void learn(const std::shared_ptr<node_link>&, const handles::node_name& who,
               std::vector<std::string> addresses) override {
      learnt.emplace_back(who, std::move(addresses));
    }
    void forget(std::uint64_t) override {}

    handles::node_name known{3, 30};
    own_words words{{"tcp://10.0.0.3:7"}, false};
    std::vector<std::pair<handles::node_name, std::vector<std::string>>> learnt;
  };

  places_told() {
    agreed_.peer.name = "far";
    agreed_.peer.handles = {2, 20};
    agreed_.counts_handles = true;
    agreed_.features = *feature_set::agree(std::vector<feature_offer>{{"whereabouts", 1}});
    agree(agreed_);
    teller_.open({.kind = transport_kind::tcp, .near_host = "10.0.0.1"});
    open();
  }

  handles::handle_descriptor offered_by(const handles::node_name& who) {
    handles::handle_descriptor what;
    what.offer.emplace();
    what.offer->exporter = who;
    return what;
  }
  std::vector<whereabouts> appended(const handles::handle_descriptor& what) {
    outbox out;
    const auto held = mutex_.lock();
    teller_.append(held, {&what, 1}, out);
    std::vector<whereabouts> told;
    for (const auto& each : packets_in(out))
      told.push_back(*decode_admin<whereabouts>(each.body, limits{}));
    return told;
  }

  no_entrances entrances_;
  book book_;
  agreed_terms agreed_;
  whereabouts_teller teller_{common_, {.entrances = entrances_, .book = &book_, .self = {1, 10}}};
};

TEST_F(places_told, are_this_nodes_own_where_it_listens) {
  teller_.say_own();
  EXPECT_TRUE(admin_.is_silent());
  entrances_.listens_at = {"tcp://10.0.0.1:5"};
  teller_.say_own();
  const auto told = admin_.hear<whereabouts>(admin_op::whereabouts);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->node, 1u);
  EXPECT_EQ(told->incarnation, 10u);
  EXPECT_EQ(told->addresses, entrances_.listens_at);
}

TEST_F(places_told, are_nothing_to_a_peer_that_does_not_ask_for_them) {
  entrances_.listens_at = {"tcp://10.0.0.1:5"};
  agreed_.features = {};
  agree(agreed_);
  teller_.say_own();
  EXPECT_TRUE(admin_.is_silent());
  EXPECT_TRUE(appended(offered_by(book_.known)).empty());
}

TEST_F(places_told, come_once_before_the_handles_of_a_third_node) {
  const auto told = appended(offered_by(book_.known));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].node, 3u);
  EXPECT_EQ(told[0].addresses, book_.words.addresses);
  EXPECT_TRUE(appended(offered_by(book_.known)).empty()); // Only once.
  EXPECT_TRUE(appended(offered_by({4, 40})).empty());     // Its address is unknown.
  EXPECT_TRUE(appended(offered_by({2, 20})).empty());     // The peer itself.
  EXPECT_TRUE(appended({}).empty());
}

TEST_F(places_told, are_learnt_from_the_peer) {
  EXPECT_TRUE(teller_.on_whereabouts({.node = 5, .incarnation = 50, .addresses = {"tcp://10.0.0.5:7"}}));
  ASSERT_EQ(book_.learnt.size(), 1u);
  EXPECT_EQ(book_.learnt[0].first, (handles::node_name{5, 50}));
  EXPECT_TRUE(teller_.on_whereabouts({.node = 1, .incarnation = 10, .addresses = {}})); // It knows its own addresses.
  EXPECT_EQ(book_.learnt.size(), 1u);
}

TEST_F(places_told, are_bounded) {
  whereabouts what{.node = 5, .incarnation = 50, .addresses = std::vector<std::string>(told_addresses_max + 1)};
  EXPECT_FALSE(teller_.on_whereabouts(what));
  what.addresses = {std::string(told_address_bytes_max + 1, 'x')};
  EXPECT_FALSE(teller_.on_whereabouts(what));
  EXPECT_TRUE(book_.learnt.empty());
}

} // namespace
} // namespace troupe::internal
