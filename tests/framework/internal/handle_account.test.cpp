// The bytes that handles count against the windows: each object counts once for its receiver, and once for the link.
#include <troupe/framework/internal/flow/handle_account.hpp>

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <troupe/framework/internal/flow/object_charges.hpp>

namespace troupe::internal {
namespace {

constexpr store::object_id apple{1, 1, 1};
constexpr store::object_id pear{1, 2, 1};

TEST(handle_account, an_object_counts_until_it_is_consumed) {
  shared_objects objects;
  handle_account account{objects};
  EXPECT_EQ(account.add(apple, 30), 30u);
  EXPECT_TRUE(account.has(apple, 30));
  EXPECT_FALSE(account.has(apple, 31));
  EXPECT_FALSE(account.has(pear, 1));
  EXPECT_EQ(account.consume(29), 0u);
  EXPECT_TRUE(account.has(apple, 30));
  EXPECT_EQ(account.consume(1), 30u);
  EXPECT_FALSE(account.has(apple, 30));
  EXPECT_EQ(account.bytes(), 0u);
}

TEST(handle_account, what_is_sent_first_is_consumed_first) {
  shared_objects objects;
  handle_account account{objects};
  EXPECT_EQ(account.add(5), 5u);
  EXPECT_EQ(account.add(apple, 30), 30u);
  EXPECT_EQ(account.add(5), 5u);
  EXPECT_EQ(account.add(pear, 20), 20u);
  EXPECT_EQ(account.consume(36), 5u + 30 + 1);
  EXPECT_FALSE(account.has(apple, 1));
  EXPECT_TRUE(account.has(pear, 20));
  EXPECT_EQ(account.consume(24), 4u + 20);
}

TEST(handle_account, an_object_counts_for_each_receiver_and_for_the_link_once) {
  shared_objects objects;
  handle_account one{objects}, other{objects};
  EXPECT_EQ(one.add(apple, 30), 30u);
  EXPECT_EQ(other.add(apple, 30), 0u);
  EXPECT_EQ(one.consume(30), 0u);
  EXPECT_EQ(one.add(apple, 30), 0u);
  EXPECT_EQ(other.consume(30), 0u);
  EXPECT_EQ(one.consume(30), 30u);
}

TEST(handle_account, what_has_no_key_or_no_bytes_is_nothing_that_could_come_again) {
  shared_objects objects;
  handle_account account{objects};
  EXPECT_EQ(account.add(store::object_id{}, 7), 7u);
  EXPECT_EQ(account.add(apple, 0), 0u);
  EXPECT_FALSE(account.has(store::object_id{}, 7));
  EXPECT_FALSE(account.has(apple, 0));
  EXPECT_EQ(account.consume(7), 7u);
}

// Goal: the sums agree after any sequence of sending and consuming.
TEST(handle_account, sums_agree) {
  std::mt19937 random{1};
  shared_objects objects;
  std::vector<handle_account> accounts(3, handle_account{objects});
  std::uint64_t of_link = 0;
  for (int step = 0; step < 20'000; ++step) {
    auto& account = accounts[random() % accounts.size()];
    const store::object_id which{0, static_cast<std::uint32_t>(random() % 8), 1};
    const auto bytes = which.index * 10 + 1; // An object has one size.
    if (random() % 2 == 0)
      of_link += account.add(which, bytes);
    else if (account.bytes() > 0)
      of_link -= account.consume(random() % account.bytes() + 1);
    ASSERT_LE(of_link, accounts[0].bytes() + accounts[1].bytes() + accounts[2].bytes() + 3 * 8 * 71);
  }
  for (auto& each : accounts)
    of_link -= each.consume(each.bytes());
  EXPECT_EQ(of_link, 0u);
}

// -- the receiver's half

class counted final : public consumption {
public:
  explicit counted(std::uint64_t& bytes) : consumption(0, nullptr), bytes_(bytes) {}
  void consumed(std::uint64_t cost) noexcept override { bytes_ += cost; }

private:
  std::uint64_t& bytes_;
};

class object_charges_of : public testing::Test {
protected:
  receipt owe(std::uint64_t bytes) { return account_->issue(bytes); }

  const store::object_id apple_{1, 1, 1};
  const store::object_id pear_{1, 2, 1};
  std::uint64_t consumed_ = 0;
  consumption_ptr<counted> account_{new counted{consumed_}};
  object_charges charges_;
};

TEST_F(object_charges_of, are_settled_with_the_last_message_that_mentions_the_object) {
  auto first = charges_.share(7, owe(30), {apple_}, {});
  auto second = charges_.share(7, {}, {}, {apple_});
  auto third = charges_.share(7, owe(20), {pear_}, {apple_});
  first = {};
  second = {};
  EXPECT_EQ(consumed_, 0u);
  third = {};
  EXPECT_EQ(consumed_, 50u);
}

TEST_F(object_charges_of, of_other_actors_are_their_own) {
  auto one = charges_.share(7, owe(30), {apple_}, {});
  auto other = charges_.share(8, owe(31), {apple_}, {});
  one = {};
  EXPECT_EQ(consumed_, 30u);
  other = {};
  EXPECT_EQ(consumed_, 61u);
}

TEST_F(object_charges_of, that_were_settled_meanwhile_cost_nothing_again) {
  auto first = charges_.share(7, owe(30), {apple_}, {});
  first = {};
  auto late = charges_.share(7, owe(5), {}, {apple_});
  EXPECT_EQ(consumed_, 30u);
  late = {};
  EXPECT_EQ(consumed_, 35u);
}

TEST_F(object_charges_of, a_copy_of_a_message_settles_nothing) {
  auto first = charges_.share(7, owe(30), {apple_}, {});
  { const auto copy = first.of_copy(); }
  EXPECT_EQ(consumed_, 0u);
}

TEST_F(object_charges_of, leave_nothing_behind) {
  for (std::uint32_t i = 0; i < 10'000; ++i)
    static_cast<void>(charges_.share(7, owe(1), {{1, i, 1}}, {}));
  EXPECT_LE(charges_.size(), 64u);
  EXPECT_EQ(consumed_, 10'000u);
}

} // namespace
} // namespace troupe::internal
