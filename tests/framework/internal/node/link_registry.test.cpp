// Goal: links are listed until they have ended, and their figures are always in the totals exactly once.
#include <troupe/framework/internal/node/link_registry.hpp>

#include <thread>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

struct told_link {
  [[nodiscard]] bool is_open() const { return open; }
  [[nodiscard]] std::uint64_t number() const { return own_number; }
  [[nodiscard]] caf::strong_actor_ptr recognize(const introduce&) const { return own; }
  [[nodiscard]] link_stats stats() const { return figures; }
  [[nodiscard]] link_stats final_stats() {
    ++settled;
    auto result = figures;
    clear_gauges(result);
    return result;
  }

  std::uint64_t own_number = 0;
  bool open = true;
  link_stats figures;
  int settled = 0;
  caf::strong_actor_ptr own;
};

class links_of_a_node : public testing::Test {
protected:
  std::shared_ptr<told_link> add(std::uint64_t number, bool open, std::uint64_t sent) {
    const auto made = std::make_shared<told_link>();
    made->own_number = number;
    made->open = open;
    made->figures.messages_sent = sent;
    made->figures.credit_bytes = 10;
    EXPECT_TRUE(links_.add(made));
    return made;
  }

  link_registry<told_link> links_;
};

TEST_F(links_of_a_node, are_found_by_number_while_they_are_open) {
  const auto open = add(3, true, 0);
  const auto other = add(4, false, 0);
  EXPECT_EQ(links_.find(3), open);
  EXPECT_EQ(links_.find(4), nullptr);
  EXPECT_EQ(links_.find(5), nullptr);
  EXPECT_EQ(links_.all().size(), 2u);
  ASSERT_EQ(links_.open().size(), 1u);
  EXPECT_EQ(links_.open().front(), open);
}

TEST_F(links_of_a_node, stay_in_the_sums_when_they_have_ended) {
  const auto first = add(1, true, 5);
  add(2, false, 7);
  EXPECT_EQ(links_.totals().sums.messages_sent, 12u);
  EXPECT_EQ(links_.totals().sums.credit_bytes, 10u); // Of open links only.
  EXPECT_EQ(links_.totals().links_open, 1u);
  links_.ended(first.get());
  EXPECT_EQ(links_.totals().sums.messages_sent, 12u);
  EXPECT_EQ(links_.totals().sums.credit_bytes, 0u);
  EXPECT_EQ(links_.totals().links_open, 0u);
  links_.note_late({.messages_sent = 1});
  EXPECT_EQ(links_.totals().sums.messages_sent, 13u);
  EXPECT_EQ(first.use_count(), 1);
}

TEST_F(links_of_a_node, end_once) {
  const auto link = add(1, true, 5);
  links_.ended(link.get());
  links_.ended(link.get());
  EXPECT_EQ(link->settled, 1);
  EXPECT_EQ(links_.totals().sums.messages_sent, 5u);
  told_link stranger;
  links_.ended(&stranger);
  EXPECT_EQ(stranger.settled, 0);
}

TEST_F(links_of_a_node, are_counted_when_they_open_or_are_refused) {
  links_.note_opened();
  links_.note_opened();
  links_.note_refused_peer();
  EXPECT_EQ(links_.totals().links_opened, 2u);
  EXPECT_EQ(links_.totals().peers_refused, 1u);
}

TEST_F(links_of_a_node, are_no_more_let_in_at_its_end_which_waits_for_those_that_are_there) {
  const auto link = add(1, true, 0);
  EXPECT_FALSE(links_.is_closed());
  EXPECT_EQ(links_.close().size(), 1u);
  EXPECT_TRUE(links_.is_closed());
  EXPECT_FALSE(links_.add(std::make_shared<told_link>()));
  std::jthread ending{[&] { links_.ended(link.get()); }};
  links_.wait_for_all();
  EXPECT_TRUE(links_.all().empty());
}

} // namespace
} // namespace troupe::internal
