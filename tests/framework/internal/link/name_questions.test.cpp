// Looking up actors by name over a link, without a peer.
#include <troupe/framework/internal/link/name_questions.hpp>

#include <optional>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

class questions_for_names : public lone_named_link {
protected:
  using answer = std::expected<caf::strong_actor_ptr, node_error>;

  questions_for_names() { open(); }

  std::uint64_t ask(std::string_view name, const std::set<std::string>& interface = {}) {
    return questions_.ask(name, interface, [this](answer what) { answered_ = std::move(what); });
  }
  found found_at(std::uint64_t query, std::uint64_t actor) { return {.query = query, .actor = actor, .interface = {}}; }
  node_errc code() const { return answered_ && !*answered_ ? answered_->error().code() : node_errc{}; }

  name_questions questions_{common_, system_, names_};
  std::optional<answer> answered_;
};

TEST_F(questions_for_names, are_answered_by_the_peers_actor) {
  const auto number = ask("cup");
  const auto asked = admin_.hear<find_query>(admin_op::find);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->query, number);
  EXPECT_EQ(asked->name, "cup");
  EXPECT_FALSE(answered_);
  EXPECT_TRUE(questions_.on_found(found_at(number, 6)));
  ASSERT_TRUE(answered_);
  ASSERT_TRUE(*answered_);
  EXPECT_EQ(as_proxy(**answered_)->number(), 6u);
  EXPECT_FALSE(questions_.forget(number));
}

TEST_F(questions_for_names, may_be_answered_by_one_of_this_ends_actors) {
  const auto ann = actor();
  (void)names_.name(ann);
  auto what = found_at(ask("ann"), ann->id());
  what.readers = true;
  EXPECT_TRUE(questions_.on_found(what));
  EXPECT_EQ(**answered_, ann);
  what = found_at(ask("eve"), ann->id() + 1000);
  what.readers = true;
  EXPECT_FALSE(questions_.on_found(what));          // The peer was never given that one, ...
  EXPECT_EQ(code(), node_errc::protocol_violation); // ... and the asker also gets an error.
}

TEST_F(questions_for_names, have_an_answer_where_there_is_nothing) {
  EXPECT_TRUE(questions_.on_found(found_at(ask("cup"), 0)));
  EXPECT_EQ(code(), node_errc::not_found);
}

TEST_F(questions_for_names, compare_interfaces) {
  const auto typed = system_.message_types<caf::typed_actor<caf::replies_to<int>::with<int>>>();
  auto what = found_at(ask("cup", typed), 6);
  EXPECT_TRUE(questions_.on_found(what));
  EXPECT_EQ(code(), node_errc::interface_mismatch);
  what = found_at(ask("cup", typed), 6);
  what.interface.assign(typed.begin(), typed.end());
  EXPECT_TRUE(questions_.on_found(what));
  EXPECT_TRUE(*answered_);
  EXPECT_EQ((**answered_)->get()->message_types(), typed);
}

TEST_F(questions_for_names, let_go_of_an_actor_that_nobody_waits_for) {
  const auto number = ask("cup");
  EXPECT_TRUE(questions_.forget(number));
  EXPECT_TRUE(questions_.on_found(found_at(number, 6)));
  EXPECT_FALSE(answered_);
  const auto held = mutex_.lock();
  EXPECT_EQ(names_.proxy_of(held, 6), nullptr);
}

TEST_F(questions_for_names, fail_at_once_where_they_cannot_be_asked) {
  EXPECT_EQ(ask(std::string(1025, 'x')), 0u);
  EXPECT_EQ(code(), node_errc::not_found);
  enter(link_state::closing);
  EXPECT_EQ(ask("cup"), 0u);
  EXPECT_EQ(code(), node_errc::link_down);
  EXPECT_TRUE(admin_.is_silent());
}

TEST_F(questions_for_names, end_with_the_link) {
  ask("cup");
  questions_.end({node_errc::link_down, "gone"});
  EXPECT_EQ(code(), node_errc::link_down);
}

} // namespace
} // namespace troupe::internal
