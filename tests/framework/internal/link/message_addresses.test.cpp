// The sender and the receiver of a message, from the tables of a link without a peer.
#include <troupe/framework/internal/link/message_addresses.hpp>

#include <troupe/framework/internal/caf_port/actors/shared_helpers.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

class addresses_of_a_message : public lone_named_link {
protected:
  addresses_of_a_message() {
    replies_.count_consumed([this] { ++woken_; }, nullptr);
    replies_.set_bounds({.all = 1000, .of_receiver = 1000});
    (void)names_.name(ann_);
    (void)names_.name(bob_);
    open();
  }
  ~addresses_of_a_message() override { helpers_.end(); }

  message_head head(std::uint8_t flags, std::uint64_t sender) const {
    return {.flags = flags, .receiver = ann_->id(), .sender = sender, .request_number = 12};
  }
  /// Bob has sent the peer a request.
  void ask() {
    const auto held = mutex_.lock();
    asked_.add({bob_->id(), 12}, 6, {.who = caf::weak_actor_ptr{bob_.get()}});
    asked_.left({bob_->id(), 12}, 6, std::chrono::steady_clock::now());
  }
  message_ends find(const message_head& head) {
    auto found = addresses_.find_ends(head, *returned_);
    EXPECT_TRUE(found);
    return found ? *std::move(found) : message_ends{};
  }

  caf::strong_actor_ptr ann_ = actor();
  caf::strong_actor_ptr bob_ = actor();
  type_registry types_;
  shared_helpers helpers_{system_, types_, [](const auto&) { return query_answers{}; }};
  reply_room replies_;
  pending_requests asked_{replies_};
  message_addresses addresses_{common_, {names_, asked_, replies_, helpers_}};
  std::optional<taken_question> returned_{std::in_place};
  int woken_ = 0;
};

TEST_F(addresses_of_a_message, are_an_own_actor_and_one_of_the_peers) {
  const auto ends = find(head(0, 7));
  EXPECT_EQ(ends.receiver, ann_);
  ASSERT_NE(as_proxy(ends.sender), nullptr);
  EXPECT_EQ(as_proxy(ends.sender)->number(), 7u);
  EXPECT_FALSE(ends.is_unasked);
  EXPECT_FALSE(ends.hides_own_sender);
  EXPECT_EQ(find(head(0, 0)).sender, nullptr);
}

TEST_F(addresses_of_a_message, are_those_that_the_peer_was_given) {
  auto wrong = head(0, 7);
  wrong.receiver += 1000;
  const auto found = addresses_.find_ends(wrong, *returned_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), node_errc::protocol_violation);
  EXPECT_FALSE(addresses_.find_ends(head(message_flags::returned, bob_->id() + 1000), *returned_));
}

TEST_F(addresses_of_a_message, name_an_own_sender_only_where_it_has_sent_something) {
  const auto forged = find(head(message_flags::returned, bob_->id()));
  EXPECT_EQ(forged.sender, nullptr);
  EXPECT_TRUE(forged.hides_own_sender);
  {
    const auto held = mutex_.lock();
    names_.allow_return(held, bob_->id());
  }
  EXPECT_EQ(find(head(message_flags::returned, bob_->id())).sender, bob_);
  EXPECT_TRUE(find(head(message_flags::returned, bob_->id())).hides_own_sender); // Only once.
}

TEST_F(addresses_of_a_message, bring_a_question_back_once_and_make_room_for_another) {
  ask();
  replies_.want(true);
  const auto ends = find(head(message_flags::returned | message_flags::request, bob_->id()));
  EXPECT_EQ(ends.sender, bob_);
  EXPECT_FALSE(ends.is_unasked);
  ASSERT_TRUE(*returned_);
  EXPECT_EQ(returned_->asker().who.lock(), bob_);
  EXPECT_EQ(asked_.size(), 0u);
  EXPECT_EQ(replies_.bytes(), 0u);
  EXPECT_EQ(woken_, 1);
  returned_->answered();
  returned_.emplace();
  EXPECT_TRUE(find(head(message_flags::returned | message_flags::request, bob_->id())).is_unasked);
  EXPECT_FALSE(*returned_);
}

TEST_F(addresses_of_a_message, are_counted) {
  auto sender = find(head(0, 7)).sender;
  addresses_.count_mentions(7, 2);
  const auto held = mutex_.lock();
  EXPECT_TRUE(names_.proxy_gone(held, 7, sender.get()));
  EXPECT_EQ(admin_.hear<release_actor>(admin_op::release_actor)->count, 3u);
}

TEST_F(addresses_of_a_message, may_be_actors_that_serve_all_links) {
  EXPECT_TRUE(addresses_.serves_all_links(helpers_.task_runner()));
  EXPECT_FALSE(addresses_.serves_all_links(ann_));
}

} // namespace
} // namespace troupe::internal
