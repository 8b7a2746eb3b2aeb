#include "members_conformance.hpp"

#include "../directory_words.hpp"
#include "../watch_record.hpp"

#include <algorithm>
#include <atomic>
#include <string>

namespace troupe::tests {

// A kind whose library was left out has no instance.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(directory_of_members);

namespace {

using contents = watch_record::contents;

const std::string first = "tcp://10.0.0.5:4000";
const std::string second = "tcp://10.0.0.6:4000";

std::string key_of_member(const std::string& address) {
  return "members/" + address;
}

bool has_change(const contents& seen, directory_change::kind what, const std::string& address) {
  return std::ranges::any_of(seen.changes, [&](const directory_change& change) {
    return change.what == what && change.entry.key == key_of_member(address);
  });
}

} // namespace

std::shared_ptr<directory> directory_of_members::open(const std::vector<std::string>& members) {
  place_->set(members);
  return must(open_directory(place_->address(), place_->options()));
}

TEST_P(directory_of_members, a_list_has_an_entry_for_each_member_in_order) {
  const auto opened = open({second, first});
  const auto listing = must(opened->list("members/"));
  ASSERT_EQ(keys_of(listing.entries), (std::vector{key_of_member(first), key_of_member(second)}));
  EXPECT_EQ(listing.entries[0].value, R"({"addresses":["tcp://10.0.0.5:4000"]})");
  EXPECT_LE(listing.entries[0].changed_revision, listing.revision);
  EXPECT_GE(listing.entries[0].created_revision, 1U);
  EXPECT_EQ(listing.entries[0].lease, 0U);
  EXPECT_EQ(must(opened->list("")).entries, listing.entries);
  EXPECT_EQ(keys_below(*opened, key_of_member(second)), std::vector{key_of_member(second)});
  EXPECT_EQ(keys_below(*opened, "names/"), std::vector<std::string>{});
}

TEST_P(directory_of_members, a_watch_sees_members_that_are_added_and_removed_at_rising_revisions) {
  const auto opened = open({first});
  const auto revision = must(opened->list("")).revision;
  watch_record record;
  const auto watch = must(opened->watch("members/", revision + 1, record.handlers()));
  place_->set({first, second});
  ASSERT_TRUE(
      record.eventually([](const contents& seen) { return has_change(seen, directory_change::kind::put, second); }));
  place_->set({second});
  ASSERT_TRUE(
      record.eventually([](const contents& seen) { return has_change(seen, directory_change::kind::removed, first); }));
  const auto seen = record.contents_so_far();
  EXPECT_EQ(seen.changes.size(), 2U);
  auto last = revision;
  for (const auto& change : seen.changes) {
    EXPECT_GT(change.entry.changed_revision, last);
    last = change.entry.changed_revision;
  }
  EXPECT_EQ(seen.deliveries.back().revision, last);
  const auto listing = must(opened->list(""));
  EXPECT_EQ(listing.revision, last);
  EXPECT_EQ(keys_of(listing.entries), std::vector{key_of_member(second)});
}

TEST_P(directory_of_members, a_member_that_comes_back_has_a_higher_created_revision) {
  const auto opened = open({first});
  const auto created = entry_of(*opened, key_of_member(first)).created_revision;
  watch_record record;
  const auto watch = must(opened->watch("", must(opened->list("")).revision + 1, record.handlers()));
  place_->set({});
  ASSERT_TRUE(record.has_changes(1));
  place_->set({first});
  ASSERT_TRUE(record.has_changes(2));
  EXPECT_GT(entry_of(*opened, key_of_member(first)).created_revision, created);
}

TEST_P(directory_of_members, a_watch_begins_at_its_revision_and_has_its_prefix) {
  const auto opened = open({first});
  const auto revision = must(opened->list("")).revision;
  watch_record all, later, other;
  const auto watch_all = must(opened->watch("", revision + 1, all.handlers()));
  const auto watch_other = must(opened->watch("names/", revision + 1, other.handlers()));
  place_->set({first, second});
  ASSERT_TRUE(all.has_changes(1));
  const auto watch_later = must(opened->watch("", revision + 1, later.handlers()));
  EXPECT_TRUE(later.has_changes(1)) << "a change that was made before the watch";
  EXPECT_TRUE(other.contents_so_far().changes.empty());
}

TEST_P(directory_of_members, a_handler_may_list_and_destroy_its_watch) {
  const auto opened = open({first});
  std::unique_ptr<directory_watch> watch;
  std::mutex mutex; // Guards watch, which the handler must not touch before it is set.
  std::atomic<std::size_t> listed{0};
  {
    const std::lock_guard guard{mutex};
    watch = must(opened->watch("", must(opened->list("")).revision + 1, {.on_changes = [&](auto, auto) {
                                 const std::lock_guard inner{mutex};
                                 listed = must(opened->list("")).entries.size();
                                 watch.reset();
                               }}));
  }
  place_->set({first, second});
  watch_record record;
  const auto other = must(opened->watch("", 1, record.handlers()));
  ASSERT_TRUE(record.has_changes(2));
  place_->set({});
  ASSERT_TRUE(record.has_changes(4));
  EXPECT_EQ(listed, 2U) << "once, for the first change";
}

TEST_P(directory_of_members, close_ends_each_watch_once_and_fails_calls) {
  const auto opened = open({first});
  watch_record record;
  const auto watch = must(opened->watch("", 1, record.handlers()));
  ASSERT_TRUE(record.has_changes(1));
  opened->close();
  opened->close();
  EXPECT_EQ(record.end_code(), directory_errc::closed);
  EXPECT_EQ(record.contents_so_far().calls_after_end, 0);
  EXPECT_EQ(code_of(opened->list("")), directory_errc::closed);
  EXPECT_EQ(code_of(opened->identity()), directory_errc::closed);
  EXPECT_EQ(code_of(opened->watch("", 1, {})), directory_errc::closed);
}

TEST_P(directory_of_members, the_last_owner_closes_the_directory) {
  auto opened = open({first});
  watch_record record;
  const auto watch = must(opened->watch("", 1, record.handlers()));
  opened.reset();
  EXPECT_EQ(record.end_code(), directory_errc::closed);
}

TEST_P(directory_of_members, an_impossible_prefix_is_refused) {
  const auto opened = open({first});
  const std::string longer(directory::key_bytes_max + 1, 'k');
  EXPECT_EQ(code_of(opened->list(longer)), directory_errc::invalid_argument);
  EXPECT_EQ(code_of(opened->watch(longer, 1, {})), directory_errc::invalid_argument);
}

TEST_P(directory_of_members, what_needs_a_writable_directory_fails_with_read_only_and_says_which_kinds_can) {
  const auto opened = open({first});
  EXPECT_EQ(opened->is_writable(), GetParam().is_writable);
  EXPECT_EQ(opened->shown_address(), place_->address());
  EXPECT_FALSE(must(opened->identity()).empty());
  if (GetParam().is_writable)
    return;
  EXPECT_EQ(code_of(opened->grant(std::chrono::seconds{1})), directory_errc::read_only);
  EXPECT_EQ(code_of(opened->keep_alive(1)), directory_errc::read_only);
  EXPECT_EQ(code_of(opened->revoke(1)), directory_errc::read_only);
  const auto commit = opened->commit({}, directory_writes{putting("a", "1")});
  ASSERT_EQ(code_of(commit), directory_errc::read_only);
  EXPECT_NE(commit.error().message().find("etcd:// or host://"), std::string::npos) << commit.error().message();
}

TEST_P(directory_of_members, two_openings_have_different_identities_unless_they_share_their_revisions) {
  const auto one = open({first});
  const auto two = must(open_directory(place_->address(), place_->options()));
  EXPECT_EQ(must(one->identity()) == must(two->identity()), GetParam().is_writable);
}

} // namespace troupe::tests
