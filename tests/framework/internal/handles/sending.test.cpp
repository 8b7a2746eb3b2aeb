#include <troupe/framework/internal/handles/sending.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

class handles_on_their_way_out : public part_of_a_ledger {
protected:
  imports imports_{books_};
  shared_fetches fetches_{books_, imports_, *this, serving_};
  serving serving_{books_, fetches_, sending_};
  voucher_book vouchers_{{}};
  exports exports_{books_, serving_, vouchers_};
  mark_book marks_{[this] { return ++last_token_; }};
  sending sending_{books_, exports_, marks_};
};

TEST_F(handles_on_their_way_out, are_mine_for_what_is_here) {
  auto& to = link(5, b);
  const auto handle = sending_.export_in_message(to, books_.entries.refer_to(x)).value();
  EXPECT_EQ(handle.mode, handle_mode::mine);
  EXPECT_EQ(handle.name, x);
  EXPECT_EQ(handle.home, (home_name{x, 77}));
  EXPECT_EQ(to.exports.at(x).count, 1u);
}

TEST_F(handles_on_their_way_out, are_handed_over_in_a_shared_store_by_answers_only) {
  auto& to = link(5, b, true);
  const auto what = books_.entries.refer_to(x);
  const auto told = sending_.export_in_message(to, what).value();
  EXPECT_EQ(told.mode, handle_mode::behind);
  EXPECT_TRUE(sending_.is_proxy(told.name));
  EXPECT_FALSE(told.offer);
  EXPECT_TRUE(objects_.handed_over.empty());
  EXPECT_EQ(sending_.export_in_answer(to, what)->mode, handle_mode::shared);
  EXPECT_EQ(objects_.handed_over, std::vector{x});
  objects_.is_busy = true;
  EXPECT_EQ(sending_.export_in_answer(to, what).error(), handle_errc::busy);
  EXPECT_EQ(to.exports.at(x).count, 1u);
}

TEST_F(handles_on_their_way_out, go_home_uncounted) {
  auto& to = link(5, b);
  const auto handle = sending_.export_in_message(to, import(to, x)).value();
  EXPECT_EQ(handle.mode, handle_mode::yours);
  EXPECT_EQ(handle.name, x);
  EXPECT_TRUE(to.exports.empty());
}

TEST_F(handles_on_their_way_out, offer_what_is_behind_and_vouch_for_it) {
  auto& source = link(5, b);
  auto& to = link(6, c);
  const auto handle = sending_.export_in_message(to, import(source, x)).value();
  EXPECT_EQ(handle.mode, handle_mode::behind);
  ASSERT_TRUE(handle.offer);
  EXPECT_EQ(handle.offer->exporter, b);
  EXPECT_EQ(handle.offer->name, x);
  EXPECT_NE(handle.mark, 0u);
  EXPECT_EQ(handle.hops, 1u);
  EXPECT_EQ(wanted(), words{"5: vouch 1 for 3"});
}

TEST_F(handles_on_their_way_out, offer_nothing_while_the_source_is_lost) {
  auto& source = link(5, b);
  auto& to = link(6, c);
  const auto what = import(source, x);
  lose(source);
  const auto handle = sending_.export_in_answer(to, what).value();
  EXPECT_FALSE(handle.offer);
  EXPECT_EQ(handle.mark, 0u); // An answer goes only one way.
  EXPECT_EQ(wanted(), words{});
}

TEST_F(handles_on_their_way_out, are_not_of_what_is_lost) {
  auto& to = link(5, b);
  const auto gone = books_.entries.make(entry_state::lost);
  EXPECT_EQ(sending_.export_in_message(to, gone).error(), handle_errc::object_lost);
}

} // namespace
} // namespace troupe::internal::handles
