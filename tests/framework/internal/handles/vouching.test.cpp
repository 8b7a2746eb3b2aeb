#include <troupe/framework/internal/handles/vouching.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

using namespace std::chrono_literals;

/// B was sent x, and vouches for C.
class vouched_handles : public part_of_a_ledger, protected answer_exports {
protected:
  vouched_handles() : to_b_(link(5, b)), to_c_(link(6, c)) {
    to_b_.exports[x] = {.what = books_.entries.refer_to(x), .count = 1, .reclaimed = 0, .since = {}};
  }

  std::expected<handle_descriptor, handle_errc> export_in_answer(link_record&, reference) override {
    if (objects_.is_busy)
      return std::unexpected{handle_errc::busy};
    return handle_descriptor{.name = x, .mode = handle_mode::mine, .size_bytes = 5, .offer = {}, .home = {}};
  }

  link_record& to_b_;
  link_record& to_c_;
  vouching vouching_{books_, *this, *this};
};

TEST_F(vouched_handles, are_adopted_once) {
  EXPECT_EQ(vouching_.on_vouch(to_b_, {x, c, 7}), true);
  vouching_.on_adopt(to_c_, {1, x, 7});
  EXPECT_EQ(wanted(), words{"6: adopted 1"});
  vouching_.on_adopt(to_c_, {2, x, 7});
  EXPECT_EQ(wanted(), words{}); // It waits for another voucher.
  EXPECT_EQ(vouching_.vouchers().size(), 0u);
}

TEST_F(vouched_handles, may_be_asked_for_before_their_voucher_comes) {
  vouching_.on_adopt(to_c_, {1, x, 7});
  EXPECT_EQ(wanted(), words{});
  EXPECT_EQ(vouching_.on_vouch(to_b_, {x, c, 7}), false);
  EXPECT_EQ(wanted(), words{"6: adopted 1"});
  EXPECT_TRUE(to_c_.parked.empty());
}

TEST_F(vouched_handles, are_refused_when_no_voucher_comes) {
  vouching_.on_adopt(to_c_, {1, x, 7});
  const auto due = books_.timers.take_due(10s);
  ASSERT_TRUE(due);
  vouching_.refuse_parked(due->owner, due->number);
  EXPECT_EQ(wanted(), words{"6: refused 1 unknown"});
}

TEST_F(vouched_handles, are_not_for_others) {
  EXPECT_EQ(vouching_.on_vouch(to_b_, {x, c, 7}), true);
  vouching_.on_adopt(to_b_, {1, x, 7});
  EXPECT_EQ(wanted(), words{});
}

TEST_F(vouched_handles, must_have_been_sent_to_who_vouches) {
  EXPECT_FALSE(vouching_.on_vouch(to_c_, {x, b, 7}));
  EXPECT_FALSE(vouching_.on_vouch(to_b_, {y, c, 7}));
}

TEST_F(vouched_handles, keep_their_voucher_while_the_store_is_busy) {
  EXPECT_EQ(vouching_.on_vouch(to_b_, {x, c, 7}), true);
  EXPECT_EQ(vouching_.on_vouch(to_b_, {x, c, 7}), false); // The same vouch again.
  objects_.is_busy = true;
  vouching_.on_adopt(to_c_, {1, x, 7});
  EXPECT_EQ(wanted(), words{"6: refused 1 busy"});
  EXPECT_EQ(vouching_.vouchers().size(), 1u);
}

TEST_F(vouched_handles, do_not_come_home_with_another_size) {
  const auto what = import(to_c_, y, handle_mode::behind);
  at(what).size_bytes = 6;
  EXPECT_EQ(vouching_.on_vouch(to_b_, {x, self, 7}), true);
  EXPECT_FALSE(vouching_.come_home(what, {self, x, 7}));
  at(what).size_bytes = 5;
  EXPECT_TRUE(vouching_.come_home(what, {self, x, 7}));
  EXPECT_EQ(moves_.size(), 1u);
}

} // namespace
} // namespace troupe::internal::handles
