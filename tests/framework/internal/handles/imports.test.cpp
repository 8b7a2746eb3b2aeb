#include <troupe/framework/internal/handles/imports.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

class imported : public part_of_a_ledger {
protected:
  imported() : from_(link(5, b)) {}

  std::optional<imports::counted> count(std::uint64_t size_bytes = 5, handle_mode mode = handle_mode::mine) {
    return imports_.count(from_, {.name = x, .mode = mode, .size_bytes = size_bytes, .offer = {}, .home = {}},
                          entry_state::remote);
  }

  link_record& from_;
  imports imports_{books_};
};

TEST_F(imported, counts_each_receipt_and_releases_all_at_once) {
  const auto first = count();
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_new);
  EXPECT_FALSE(count()->is_new);
  imports_.release(first->what);
  imports_.release(first->what);
  EXPECT_EQ(wanted(), words{"5: release 1 x2"});
  EXPECT_TRUE(from_.imports.contains(x));
}

TEST_F(imported, has_one_size_and_is_behind_or_not) {
  const auto first = count();
  EXPECT_FALSE(count(6));
  EXPECT_FALSE(count(5, handle_mode::behind));
  EXPECT_EQ(at(first->what).count, 1u);
}

TEST_F(imported, is_nobodys_import_any_more_when_it_is_forgotten) {
  const auto what = count()->what;
  imports_.forget(what);
  imports_.forget(what);
  EXPECT_EQ(wanted(), words{"5: release 1 x1"});
  EXPECT_EQ(at(what).link, 0u);
  EXPECT_TRUE(from_.imports.empty());
}

TEST_F(imported, is_not_released_over_a_lost_link) {
  const auto what = count()->what;
  lose(from_);
  imports_.forget(what);
  EXPECT_EQ(wanted(), words{});
}

} // namespace
} // namespace troupe::internal::handles
