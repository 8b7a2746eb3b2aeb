// The cost of a message for its receiver: in bytes, in bytes behind handles, and in memory that its sender has not
// stated.
#include <troupe/framework/internal/flow/receive_account.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/internal/wire/message_extensions.hpp>

namespace troupe::internal {
namespace {

class account : public testing::Test {
protected:
  receipt take(const message_head& head, std::uint64_t cost) {
    auto owed = account_.charge(head, cost);
    EXPECT_TRUE(owed) << owed.error().message();
    return owed ? *std::move(owed) : receipt{};
  }
  receipt take(const message_head& head, std::uint64_t cost, const received_behind_handles& behind) {
    auto owed = account_.charge(head, take(head, cost), behind);
    EXPECT_TRUE(owed) << owed.error().message();
    return owed ? *std::move(owed) : receipt{};
  }
  std::uint64_t due_of_handles() {
    std::uint64_t sum = 0;
    for (const auto& due : account_.take_due())
      sum += due.handle_bytes;
    return sum;
  }

  static constexpr message_head to_one{.receiver = 1};
  static constexpr message_head answer{.flags = message_flags::response, .receiver = 1};
  const store::object_id object_{.store = 7, .index = 3, .generation = 1};
  receive_terms terms_{.windows = {.window = 1600, .actor_window = 800},
                       .handle_windows = {.window = 4000, .actor_window = 2000},
                       .counts_behind_handles = true,
                       .states_value_bytes = true,
                       .own_window_bytes = 1600,
                       .own_handle_window_bytes = 8000};
  receive_account account_{terms_, [] {}, nullptr};
};

TEST_F(account, a_message_counts_until_it_is_consumed) {
  auto owed = take(to_one, 700);
  EXPECT_EQ(account_.unconsumed_bytes(), 700u);
  owed = {};
  EXPECT_EQ(account_.unconsumed_bytes(), 0u);
  const auto due = account_.take_due();
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].actor, 1u);
  EXPECT_EQ(due[0].bytes, 700u);
  EXPECT_EQ(due[0].handle_bytes, 0u);
}

TEST_F(account, a_peer_without_credit_is_refused) {
  const auto first = take(to_one, 400);
  const auto second = take(to_one, 400);
  const auto more = account_.charge(to_one, 400);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), node_errc::protocol_violation);
}

TEST_F(account, an_answer_costs_nothing_here) {
  const auto held = take(to_one, 800);
  const auto answered = take(answer, 5000, {.bytes = 5000});
  EXPECT_EQ(account_.unconsumed_bytes(), 800u);
  EXPECT_EQ(account_.unconsumed_handle_bytes(), 0u);
}

TEST_F(account, what_the_peer_states_counts_where_it_is_more) {
  byte_vector map;
  append_value_bytes(map, 500);
  const message_head stating{.receiver = 1, .extensions = map};
  const auto less_than_it_is = take(stating, 600);
  EXPECT_EQ(account_.unconsumed_bytes(), 600u);
  const auto more_than_it_is = take(stating, 100);
  EXPECT_EQ(account_.unconsumed_bytes(), 1100u);
}

TEST_F(account, what_was_not_agreed_on_is_not_read) {
  terms_.states_value_bytes = false;
  terms_.counts_behind_handles = false;
  receive_account old{terms_, [] {}, nullptr};
  byte_vector map;
  append_value_bytes(map, 500);
  EXPECT_EQ(old.cost_of({.receiver = 1, .extensions = map}, 100), 100u);
  auto owed = old.charge(to_one, receipt{}, {.bytes = 5000});
  ASSERT_TRUE(owed);
  EXPECT_EQ(old.unconsumed_handle_bytes(), 0u);
  const auto memory = old.charge_understated(to_one, 100, 1'000'000);
  ASSERT_TRUE(memory);
  EXPECT_FALSE(*memory);
}

TEST_F(account, bytes_behind_handles_have_windows_of_their_own) {
  auto owed = take(to_one, 100, {.bytes = 1000, .counted = {object_}});
  auto also = take(to_one, 100, {.bytes = 1000});
  EXPECT_EQ(account_.unconsumed_handle_bytes(), 2000u);
  const auto more = account_.charge(to_one, receipt{}, {.bytes = 1000});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), node_errc::protocol_violation);
  EXPECT_TRUE(more.error().message().ends_with(", behind handles")) << more.error().message();
  owed = {};
  also = {};
  EXPECT_EQ(account_.unconsumed_handle_bytes(), 0u);
  EXPECT_EQ(due_of_handles(), 2000u);
}

TEST_F(account, an_object_that_is_mentioned_again_counts_until_the_last_message_is_consumed) {
  auto first = take(to_one, 100, {.bytes = 2000, .counted = {object_}});
  auto second = take(to_one, 100, {.repeated = {object_}});
  first = {};
  EXPECT_EQ(due_of_handles(), 0u);
  second = {};
  EXPECT_EQ(due_of_handles(), 2000u);
}

TEST_F(account, handles_of_several_actors_may_exceed_the_links_window_together) {
  std::vector<receipt> held;
  for (std::uint64_t actor = 1; actor <= 3; ++actor)
    held.push_back(take({.receiver = actor}, 10, {.bytes = 2000}));
  EXPECT_EQ(account_.unconsumed_handle_bytes(), 6000u);
}

TEST_F(account, memory_that_was_not_stated_is_bounded_by_two_windows) {
  auto first = account_.charge_understated(to_one, 100, 3300);
  ASSERT_TRUE(first && *first);
  auto second = account_.charge_understated(to_one, 100, 101);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), node_errc::undecodable);
  EXPECT_EQ(second.error().message(),
            "its values take about 101 bytes, it states 100; 3,200 further bytes that were not stated are not consumed "
            "yet, limit 3,200 (2 times link_options::window_bytes)");
  first->reset();
  second = account_.charge_understated(to_one, 100, 101);
  EXPECT_TRUE(second && *second);
}

TEST_F(account, values_that_take_what_they_cost_owe_nothing_more) {
  const auto owed = account_.charge_understated(to_one, 100, 100);
  ASSERT_TRUE(owed);
  EXPECT_FALSE(*owed);
}

TEST_F(account, behind_an_answers_handles_is_as_large_a_part_of_the_window) {
  EXPECT_EQ(account_.share_of_window(0), 0u);
  EXPECT_EQ(account_.share_of_window(1000), 400u) << "a quarter of the smaller window for handles";
  EXPECT_EQ(account_.share_of_window(UINT64_MAX), std::uint64_t{1} << 62);
}

TEST_F(account, an_actor_that_the_peer_has_let_go_of_is_reported_at_once) {
  auto owed = take(to_one, 10);
  account_.release(1);
  owed = {};
  ASSERT_EQ(account_.take_due().size(), 1u);
}

} // namespace
} // namespace troupe::internal
