// Answers to a peer's questions for names. The test acts as the peer.
#include <troupe/framework/internal/link/name_answers.hpp>

#include <map>

#include <troupe/framework/internal/link/link_host.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

class answers_to_names : public lone_named_link {
protected:
  class names_by_heart final : public name_book {
  public:
    caf::strong_actor_ptr find(std::string_view name) const override {
      const auto found = actors.find(name);
      return found != actors.end() ? found->second : nullptr;
    }
    std::vector<std::pair<std::string, caf::strong_actor_ptr>> all() const override {
      return {actors.begin(), actors.end()};
    }
    std::map<std::string, caf::strong_actor_ptr, std::less<>> actors;
  };

  answers_to_names() {
    open();
    auto agreed = terms_.now();
    agreed.features = *feature_set::agree(offered_features());
    agreed.rights.find = {"*"};
    terms_.reach(agreed);
  }

  found ask(std::string name) {
    answers_.on_find({7, std::move(name)});
    const auto answer = admin_.hear<found>(admin_op::found);
    EXPECT_TRUE(answer);
    EXPECT_EQ(answer->query, 7u);
    return answer.value_or(found{});
  }

  names_by_heart book_;
  name_answers answers_{common_, book_, names_};
};

TEST_F(answers_to_names, name_what_is_published) {
  const auto ann = actor();
  book_.actors["ann"] = ann;
  EXPECT_EQ(ask("ann").actor, ann->id());
  EXPECT_EQ(ask("eve").actor, 0u);
  EXPECT_TRUE(names_.on_release({ann->id(), 1})); // It was counted.
}

TEST_F(answers_to_names, are_the_same_for_names_that_the_peer_may_not_find_whether_they_are_published_or_not) {
  auto agreed = terms_.now();
  agreed.role = "worker";
  agreed.rights.find = {"ann", "shop.*"};
  terms_.reach(agreed);
  for (const auto* name : {"ann", "shop.cart", "bob", "shop"})
    book_.actors[name] = actor();
  EXPECT_NE(ask("ann").actor, 0u);
  EXPECT_NE(ask("shop.cart").actor, 0u);
  const auto refused = ask("bob");
  EXPECT_EQ(refused.actor, 0u);
  EXPECT_NE(refused.refusal.find("allow_find for this name to the role \"worker\""), std::string::npos)
      << refused.refusal;
  EXPECT_EQ(ask("eve").refusal, refused.refusal);
  EXPECT_EQ(ask("shop").actor, 0u);
  EXPECT_EQ(ask("").refusal, ""); // By which a peer measures the round trip.
}

TEST_F(answers_to_names, say_where_an_actor_is_the_peers_own) {
  book_.actors["bob"] = *names_.find({actor_name::side::mine, 6});
  const auto answer = ask("bob");
  EXPECT_EQ(answer.actor, 6u);
  EXPECT_TRUE(answer.readers);
}

TEST_F(answers_to_names, do_not_show_what_cannot_be_named) {
  auto how = link_->introduction_of(3);
  how.hops = 16;
  book_.actors["far"] = foreign_actor(12, std::make_shared<const introduce>(how));
  EXPECT_EQ(ask("far").actor, 0u);
}

TEST_F(answers_to_names, hide_everything_where_that_is_wished) {
  book_.actors["ann"] = actor();
  answers_.hide_all();
  EXPECT_TRUE(answers_.hides_all());
  EXPECT_EQ(ask("ann").actor, 0u);
}

// -- changes

TEST_F(answers_to_names, tell_changes_of_the_names_that_the_peer_has_found) {
  book_.actors["ann"] = actor();
  ask("ann");
  ask("eve"); // Nobody.
  answers_.tell_change("eve");
  EXPECT_TRUE(admin_.is_silent());
  answers_.tell_change("ann");
  const auto told = admin_.hear<name_changed>(admin_op::name_changed);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->name, "ann");
}

TEST_F(answers_to_names, tell_no_changes_where_everything_is_hidden) {
  book_.actors["ann"] = actor();
  ask("ann");
  answers_.hide_all();
  answers_.tell_change("ann");
  EXPECT_TRUE(admin_.is_silent());
}

} // namespace
} // namespace troupe::internal
