#include <troupe/framework/internal/handles/adopting.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

using namespace std::chrono_literals;

/// Peer C has sent a handle that is behind C, and offers B as the node to adopt it from.
class adoptions : public part_of_a_ledger, protected answer_exports {
protected:
  adoptions() : from_c_(link(6, c)), what_(import(from_c_, {proxies, 1, 1}, handle_mode::behind)) {}

  std::expected<handle_descriptor, handle_errc> export_in_answer(link_record&, reference what) override {
    return handle_descriptor{
        .name = at(what).name, .mode = handle_mode::mine, .size_bytes = 5, .offer = {}, .home = {}};
  }
  void offer(std::uint64_t token = 7) { adopting_.take_offer(what_, {b, x, token}, 6); }
  /// Takes the answer to question 1 over a link.
  open_request close(link_record& over) {
    auto asked = over.questions.close(1);
    adopting_.on_closed(over, asked);
    return asked;
  }

  link_record& from_c_;
  reference what_;
  vouching vouching_{books_, *this, *this};
  adopting adopting_{books_, *this, vouching_};
};

TEST_F(adoptions, are_asked_for_where_there_is_a_link) {
  auto& to_b = link(5, b);
  offer();
  adopting_.ask(to_b);
  EXPECT_EQ(wanted(), words{"5: adopt 1"});
  EXPECT_EQ(adopting_.broken_invariant(), "");
  const auto given = import(to_b, x);
  adopting_.on_adopted(close(to_b), given);
  EXPECT_EQ(moves_, (std::vector{std::pair{what_, given}}));
}

TEST_F(adoptions, dial_where_there_is_none_and_are_asked_for_when_it_comes) {
  offer();
  EXPECT_EQ(wanted(), words{"dial 2"});
  auto& to_b = link(5, b);
  adopting_.on_link_up(to_b);
  adopting_.ask(to_b);
  EXPECT_EQ(wanted(), words{"5: adopt 1"});
}

TEST_F(adoptions, that_are_refused_are_not_asked_for_again) {
  auto& to_b = link(5, b);
  offer();
  adopting_.ask(to_b);
  adopting_.on_refused(to_b, close(to_b), handle_errc::unknown);
  EXPECT_FALSE(at(what_).adoption.offer);
  adopting_.ask(to_b);
  EXPECT_EQ(wanted(), words{"5: adopt 1"});
}

TEST_F(adoptions, that_the_exporter_is_too_busy_for_are_asked_for_again) {
  auto& to_b = link(5, b);
  offer();
  adopting_.ask(to_b);
  adopting_.on_refused(to_b, close(to_b), handle_errc::busy);
  adopting_.ask(to_b);
  EXPECT_EQ(wanted(), words{"5: adopt 1"});
  to_b.pause.end();
  adopting_.ask(to_b);
  EXPECT_EQ(wanted(), words{"5: adopt 2"});
}

TEST_F(adoptions, that_nobody_needs_are_cancelled) {
  auto& to_b = link(5, b);
  offer();
  adopting_.ask(to_b);
  adopting_.leave(what_);
  EXPECT_EQ(wanted(), (words{"5: adopt 1", "5: cancel 1"}));
  adopting_.forget_offer(what_);
  EXPECT_EQ(to_b.adoptions.asked(), 0u);
  EXPECT_EQ(adopting_.broken_invariant(), "");
}

TEST_F(adoptions, wait_for_the_newest_offer) {
  auto& to_b = link(5, b);
  offer(7);
  offer(8);
  adopting_.ask(to_b);
  const auto actions = books_.actions.take();
  EXPECT_EQ(std::get<adopt>(std::get<send_message>(actions.back()).what).token, 8u);
}

TEST_F(adoptions, go_on_over_another_link_when_one_is_lost) {
  auto& first = link(5, b);
  offer();
  lose(first);
  auto& second = link(7, b);
  adopting_.on_link_down(first);
  adopting_.ask(second);
  EXPECT_EQ(wanted(), words{"7: adopt 1"});
}

TEST_F(adoptions, do_not_close_a_circle) {
  auto& to_b = link(5, b);
  offer();
  adopting_.ask(to_b);
  books_.entries.depend(what_); // Other entries are behind it.
  const auto given = import(to_b, x, handle_mode::behind);
  adopting_.on_adopted(close(to_b), given);
  EXPECT_TRUE(moves_.empty());
  EXPECT_EQ(at(given).references, 0u);
}

TEST_F(adoptions, of_what_is_this_nodes_own_need_a_voucher) {
  auto& to_d = link(8, node_name{4, 1});
  const auto own = books_.entries.refer_to(x);
  to_d.exports[x] = {.what = own, .count = 1, .reclaimed = 0, .since = {}};
  adopting_.take_offer(what_, {self, x, 7}, 6);
  EXPECT_TRUE(moves_.empty());
  EXPECT_TRUE(vouching_.on_vouch(to_d, {x, self, 7}).value());
  adopting_.come_home({self, x, 7});
  EXPECT_EQ(moves_, (std::vector{std::pair{what_, own}}));
}

} // namespace
} // namespace troupe::internal::handles
