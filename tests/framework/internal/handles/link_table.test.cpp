#include <troupe/framework/internal/handles/link_table.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

class links : public part_of_a_ledger {
protected:
  link_table& table_ = books_.links;
};

TEST_F(links, are_found_by_number_and_by_peer) {
  auto& first = link(5, b);
  link(6, c);
  EXPECT_EQ(table_.find(5), &first);
  EXPECT_EQ(table_.find(7), nullptr);
  EXPECT_EQ(table_.up_to(b), &first);
  EXPECT_EQ(table_.to(b), std::set<link_number>{5});
  EXPECT_TRUE(table_.to(self).empty());
}

TEST_F(links, have_one_number_each) {
  link(5, b);
  EXPECT_EQ(table_.add(5, c, false), nullptr);
}

TEST_F(links, that_are_lost_are_known_and_not_up) {
  auto& first = link(5, b);
  lose(first);
  EXPECT_EQ(table_.up(5), nullptr);
  EXPECT_EQ(table_.up_to(b), nullptr);
  auto& second = link(6, b);
  EXPECT_EQ(table_.up_to(b), &second);
  EXPECT_EQ(table_.find(5), &first);
}

TEST_F(links, that_are_forgotten_leave_no_deadline) {
  lose(link(5, b));
  EXPECT_TRUE(books_.timers.next());
  table_.forget(5);
  EXPECT_FALSE(books_.timers.next());
  EXPECT_TRUE(table_.to(b).empty());
  EXPECT_EQ(table_.broken_invariant(), "");
}

TEST_F(links, that_are_touched_are_looked_at_once) {
  table_.touch(5);
  table_.touch(5);
  EXPECT_EQ(table_.take_touched(), std::set<link_number>{5});
  EXPECT_TRUE(table_.take_touched().empty());
}

} // namespace
} // namespace troupe::internal::handles
