#include <troupe/framework/internal/handles/receiving.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

class handles_on_their_way_in : public part_of_a_ledger, protected answer_exports, protected pull_server {
protected:
  using came = receiving::came;

  handles_on_their_way_in() : from_(link(5, b)) {}

  std::expected<handle_descriptor, handle_errc> export_in_answer(link_record&, reference) override {
    return std::unexpected{handle_errc::busy};
  }
  void serve(const peer_waiter&, reference) override {}
  void refuse(const peer_waiter&, const fetch_error&) override {}

  static handle_descriptor handle(const object_id& name, handle_mode mode = handle_mode::mine,
                                  std::uint64_t size_bytes = 5) {
    return {.name = name, .mode = mode, .size_bytes = size_bytes, .offer = {}, .home = {}};
  }
  std::optional<reference> receive(link_record& from, const handle_descriptor& what) {
    return receiving_.import_one(from, what, came::in_message);
  }

  link_record& from_;
  imports imports_{books_};
  shared_fetches fetches_{books_, imports_, *this, *this};
  vouching vouching_{books_, *this, *this};
  adopting adopting_{books_, *this, vouching_};
  mark_book marks_{[this] { return ++last_token_; }};
  receiving receiving_{books_, imports_, fetches_, adopting_, marks_, *this};
};

TEST_F(handles_on_their_way_in, of_one_name_are_one_entry) {
  const auto first = receive(from_, handle(x));
  ASSERT_TRUE(first);
  EXPECT_EQ(receive(from_, handle(x)), first);
  EXPECT_EQ(at(*first).references, 2u);
  EXPECT_EQ(at(*first).count, 2u);
  imports_.release(*first);
  EXPECT_EQ(wanted(), words{"5: release 1 x2"});
}

TEST_F(handles_on_their_way_in, have_one_size_and_are_behind_or_not) {
  ASSERT_TRUE(receive(from_, handle(x)));
  EXPECT_FALSE(receive(from_, handle(x, handle_mode::mine, 6)));
  EXPECT_FALSE(receive(from_, handle(x, handle_mode::behind)));
}

TEST_F(handles_on_their_way_in, are_all_taken_or_none) {
  EXPECT_FALSE(receiving_.import_all(from_, std::vector{handle(x), handle(y, handle_mode::yours)}, came::in_message));
  EXPECT_EQ(at(from_.imports.at(x)).references, 0u);
}

TEST_F(handles_on_their_way_in, bring_home_what_was_exported) {
  const auto own = books_.entries.refer_to(x);
  from_.exports[x] = {.what = own, .count = 1, .reclaimed = 0, .since = {}};
  EXPECT_EQ(receive(from_, handle(x, handle_mode::yours)), own);
  EXPECT_EQ(at(own).references, 2u);
}

TEST_F(handles_on_their_way_in, lead_to_what_was_put_here) {
  objects_.hold(x);
  auto copy = handle(y);
  copy.home = home_name{x, 77};
  const auto own = receive(from_, copy);
  ASSERT_TRUE(own);
  EXPECT_EQ(at(*own).place, x);
  EXPECT_EQ(wanted(), words{"5: release 2 x1"});
  EXPECT_EQ(objects_.holds.at(x), 2u); // The entry's hold and the test's.
}

TEST_F(handles_on_their_way_in, are_taken_out_of_a_shared_store) {
  auto& from = link(6, c, true);
  EXPECT_FALSE(receive(from, handle(x, handle_mode::shared))); // Nothing is in flight.
  objects_.in_flight[x] = 2;
  const auto what = receive(from, handle(x, handle_mode::shared));
  ASSERT_TRUE(what);
  EXPECT_EQ(at(*what).state, entry_state::here);
  EXPECT_EQ(receive(from, handle(x, handle_mode::shared)), what);
  EXPECT_EQ(wanted(), words{"6: release 1 x1"}); // The node keeps only the first one's count.
  EXPECT_EQ(objects_.holds.at(x), 1u);
}

TEST_F(handles_on_their_way_in, are_lost_when_the_store_is_busy_and_taken_out_later) {
  auto& from = link(6, c, true);
  objects_.in_flight[x] = 1;
  objects_.is_busy = true;
  const auto what = receive(from, handle(x, handle_mode::shared));
  ASSERT_TRUE(what);
  EXPECT_EQ(at(*what).state, entry_state::lost);
  EXPECT_EQ(wanted(), words{"6: release 1 x1"});
  receiving_.claim(from);
  EXPECT_EQ(from.unclaimed.size(), 1u);
  objects_.is_busy = false;
  receiving_.claim(from);
  EXPECT_TRUE(from.unclaimed.empty());
  EXPECT_EQ(objects_.in_flight.at(x), 0u);
  EXPECT_TRUE(objects_.holds.empty());
}

TEST_F(handles_on_their_way_in, that_have_come_round_are_what_was_sent_on) {
  const auto own = books_.entries.refer_to(x);
  handle_descriptor sent;
  marks_.leave(own, at(own).trail, sent);
  auto back = handle({proxies, 3, 1}, handle_mode::behind);
  back.mark = sent.mark;
  const auto what = receive(from_, back);
  ASSERT_TRUE(what);
  EXPECT_EQ(moves_, (std::vector{std::pair{*what, own}}));
  EXPECT_TRUE(receiving_.import_one(from_, handle({proxies, 4, 1}, handle_mode::behind), came::in_answer));
  EXPECT_EQ(moves_.size(), 1u);
}

TEST_F(handles_on_their_way_in, may_offer_only_what_is_behind) {
  auto what = handle(x);
  what.offer = adoption_offer{c, y, 7};
  EXPECT_FALSE(receive(from_, what));
  what.mode = handle_mode::behind;
  EXPECT_TRUE(receive(from_, what));
  EXPECT_EQ(wanted(), words{"dial 3"});
}

} // namespace
} // namespace troupe::internal::handles
