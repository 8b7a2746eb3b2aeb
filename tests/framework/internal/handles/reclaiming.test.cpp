#include <troupe/framework/internal/handles/reclaiming.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

class after_a_loss : public part_of_a_ledger, protected answer_exports {
protected:
  std::expected<handle_descriptor, handle_errc> export_in_answer(link_record&, reference) override {
    return std::unexpected{handle_errc::busy};
  }

  imports imports_{books_};
  shared_fetches fetches_{books_, imports_, *this, serving_};
  serving serving_{books_, fetches_, *this};
  voucher_book vouchers_{{}};
  exports exports_{books_, serving_, vouchers_};
  reclaiming reclaiming_{books_, exports_, fetches_, vouchers_, *this};
};

class importer_after_a_loss : public after_a_loss {
protected:
  importer_after_a_loss() : lost_(link(5, b)), what_(import(lost_, x)) {
    lose(lost_);
    at(what_).count = 0;
  }

  link_record& lost_;
  reference what_;
};

TEST_F(importer_after_a_loss, asks_for_what_it_had_when_another_link_is_up) {
  reclaiming_.ask(b);
  EXPECT_EQ(wanted(), words{});
  auto& next = link(6, b);
  reclaiming_.ask(b);
  reclaiming_.ask(b);
  EXPECT_EQ(wanted(), words{"6: reclaim 1 of 5"});
  EXPECT_EQ(reclaiming_.on_reclaimed(next, {1, x}), "");
  EXPECT_EQ(at(what_).link, 6u);
  EXPECT_EQ(at(what_).count, 1u);
  EXPECT_TRUE(lost_.imports.empty());
  EXPECT_EQ(next.imports.at(x), what_);
}

TEST_F(importer_after_a_loss, joins_what_was_sent_anew_meanwhile) {
  auto& next = link(6, b);
  reclaiming_.ask(b);
  const auto anew = import(next, x);
  EXPECT_EQ(reclaiming_.on_reclaimed(next, {1, x}), "");
  EXPECT_EQ(moves_, (std::vector{std::pair{what_, anew}}));
  EXPECT_EQ(at(anew).count, 2u);
}

TEST_F(importer_after_a_loss, lets_go_of_what_is_not_wanted_any_more) {
  auto& next = link(6, b);
  reclaiming_.ask(b);
  at(what_).reclaiming = 0;
  EXPECT_EQ(reclaiming_.on_reclaimed(next, {1, x}), "");
  EXPECT_EQ(wanted(), (words{"6: reclaim 1 of 5", "6: release 1 x1"}));
}

TEST_F(importer_after_a_loss, refuses_answers_to_what_it_has_not_asked) {
  auto& next = link(6, b);
  EXPECT_NE(reclaiming_.on_reclaimed(next, {1, x}), "");
  reclaiming_.ask(b);
  EXPECT_NE(reclaiming_.on_reclaimed(next, {1, y}), "");
}

TEST_F(importer_after_a_loss, asks_again_over_the_next_link_when_the_answer_was_lost) {
  auto& next = link(6, b);
  reclaiming_.ask(b);
  lose(next);
  reclaiming_.on_given_up(next, next.questions.close(1).about);
  link(7, b);
  reclaiming_.ask(b);
  EXPECT_EQ(wanted(), (words{"6: reclaim 1 of 5", "7: reclaim 1 of 5"}));
}

class exporter_after_a_loss : public after_a_loss {
protected:
  exporter_after_a_loss() : lost_(link(5, b)), what_(books_.entries.refer_to(x)) {
    exports_.count(lost_, x, what_);
    exports_.count(lost_, x, what_);
    vouchers_.add({x, c, 7, 5});
    lose(lost_);
  }

  link_record& lost_;
  reference what_;
};

TEST_F(exporter_after_a_loss, counts_one_on_the_new_link_and_no_longer_on_the_old) {
  auto& next = link(6, b);
  reclaiming_.on_reclaim(next, {1, x, 5});
  EXPECT_EQ(wanted(), words{"6: reclaimed 1"});
  EXPECT_EQ(next.exports.at(x).count, 1u);
  EXPECT_TRUE(lost_.exports.empty());
  EXPECT_EQ(vouchers_.size_of(6, x), 1u);
  EXPECT_EQ(exports_.broken_invariant(), "");
}

TEST_F(exporter_after_a_loss, gives_what_was_reclaimed_to_who_asks_again) {
  auto& next = link(6, b);
  reclaiming_.on_reclaim(next, {1, x, 5});
  lose(next); // The answer is lost with it.
  auto& third = link(7, b);
  reclaiming_.on_reclaim(third, {1, x, 5});
  EXPECT_EQ(wanted(), (words{"6: reclaimed 1", "7: reclaimed 1"}));
  EXPECT_TRUE(next.exports.empty());
  EXPECT_EQ(third.exports.at(x).count, 1u);
}

TEST_F(exporter_after_a_loss, refuses_what_the_peer_was_not_given) {
  auto& next = link(6, b);
  reclaiming_.on_reclaim(next, {1, y, 5});
  EXPECT_EQ(wanted(), words{"6: refused 1 unknown"});
  auto& other = link(8, c);
  reclaiming_.on_reclaim(other, {1, x, 5});
  EXPECT_EQ(wanted(), words{"8: refused 1 unknown"});
}

} // namespace
} // namespace troupe::internal::handles
