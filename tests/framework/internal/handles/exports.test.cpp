#include <troupe/framework/internal/handles/exports.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

using namespace std::chrono_literals;

class exported : public part_of_a_ledger, protected answer_exports {
protected:
  exported() : to_(link(5, b)), what_(books_.entries.refer_to(x)) {}
  void TearDown() override { EXPECT_EQ(exports_.broken_invariant(), ""); }

  std::expected<handle_descriptor, handle_errc> export_in_answer(link_record&, reference) override {
    return std::unexpected{handle_errc::busy};
  }

  link_record& to_;
  reference what_;
  imports imports_{books_};
  shared_fetches fetches_{books_, imports_, *this, serving_};
  serving serving_{books_, fetches_, *this};
  voucher_book vouchers_{{}};
  exports exports_{books_, serving_, vouchers_};
};

TEST_F(exported, counts_until_all_is_released) {
  exports_.count(to_, x, what_);
  exports_.count(to_, x, what_);
  EXPECT_EQ(at(what_).dependents, 1u);
  EXPECT_EQ(exports_.on_release(to_, {x, 1}), "");
  EXPECT_EQ(to_.exports.at(x).count, 1u);
  EXPECT_EQ(exports_.on_release(to_, {x, 1}), "");
  EXPECT_TRUE(to_.exports.empty());
  EXPECT_EQ(at(what_).dependents, 0u);
}

TEST_F(exported, refuses_releases_of_more_than_was_sent) {
  exports_.count(to_, x, what_);
  EXPECT_NE(exports_.on_release(to_, {x, 2}), "");
  EXPECT_NE(exports_.on_release(to_, {x, 0}), "");
  EXPECT_NE(exports_.on_release(to_, {y, 1}), "");
}

TEST_F(exported, is_found_by_what_it_is_of) {
  auto& other = link(6, c);
  exports_.count(to_, x, what_);
  exports_.count(other, x, what_);
  const auto places = exports_.places_of(what_);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].link, 5u);
  EXPECT_EQ(places[1].link, 6u);
}

TEST_F(exported, takes_its_vouchers_and_pulls_along) {
  exports_.count(to_, x, what_);
  vouchers_.add({x, c, 7, 5});
  serving_.on_pull(to_, {1, x}, false);
  exports_.drop(to_, x);
  EXPECT_EQ(vouchers_.size(), 0u);
  EXPECT_TRUE(to_.servings.empty());
}

TEST_F(exported, knows_since_when) {
  pass(3s);
  EXPECT_EQ(exports_.count(to_, x, what_).since, time_point{3s});
  pass(1s);
  EXPECT_EQ(exports_.count(to_, x, what_).since, time_point{3s});
  exports_.drop_all(to_);
  EXPECT_TRUE(to_.exports.empty());
}

} // namespace
} // namespace troupe::internal::handles
