#include <troupe/framework/cluster/internal/members/member_history.hpp>

#include <gtest/gtest.h>

namespace troupe::tests {

namespace {

using cluster_directories::member_history;

TEST(member_history_test, each_change_of_the_list_has_one_revision_and_the_same_list_has_none) {
  member_history history;
  EXPECT_EQ(history.revision(), 1u);
  EXPECT_TRUE(history.update({"tcp://b:1", "tcp://a:1", "tcp://b:1"}));
  EXPECT_FALSE(history.update({"tcp://a:1", "tcp://b:1"}));
  EXPECT_EQ(history.revision(), 2u);
  EXPECT_EQ(history.count(), 2u);
  EXPECT_TRUE(history.update({"tcp://c:1", "tcp://b:1"}));
  const auto changes = history.changes("", 3).value();
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].what, directory_change::kind::removed);
  EXPECT_EQ(changes[0].entry, (directory_entry{.key = "members/tcp://a:1", .changed_revision = 3}));
  EXPECT_EQ(changes[1].entry.key, "members/tcp://c:1");
  EXPECT_EQ(changes[1].entry.created_revision, 3u);
}

TEST(member_history_test, a_member_that_comes_back_is_created_anew) {
  member_history history;
  history.update({"tcp://a:1"});
  history.update({});
  history.update({"tcp://a:1"});
  EXPECT_EQ(history.list("members/").entries.at(0).created_revision, 4u);
}

TEST(member_history_test, changes_that_are_no_longer_kept_are_compacted_in_whole_revisions) {
  member_history history{3};
  history.update({"tcp://a:1", "tcp://b:1"});
  history.update({"tcp://a:1", "tcp://b:1", "tcp://c:1"});
  EXPECT_EQ(history.changes("", 2)->size(), 3u);
  history.update({});
  EXPECT_EQ(history.changes("", 3).error().code(), directory_errc::compacted);
  EXPECT_EQ(history.changes("", 4)->size(), 3u) << "the newest revision is kept";
  EXPECT_EQ(history.changes("", 0).error().code(), directory_errc::compacted);
}

TEST(member_history_test, a_list_and_changes_are_those_below_the_prefix) {
  member_history history;
  history.update({"tcp://a:1", "tls://a:1"});
  EXPECT_EQ(history.list("members/tls").entries.size(), 1u);
  EXPECT_EQ(history.list("names/").entries.size(), 0u);
  EXPECT_EQ(history.changes("members/tcp", 1)->size(), 1u);
}

} // namespace

} // namespace troupe::tests
