#include "directory_conformance.hpp"

#include "../eventually.hpp"
#include "directory_words.hpp"
#include "watch_record.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include <troupe/processes/process.hpp>

namespace troupe::tests {

using namespace std::chrono_literals;

// A kind whose library was left out has no instance.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(writable_directory);

namespace {

using change_kind = directory_change::kind;

std::string numbered(std::string_view start, int number) {
  auto digits = std::to_string(number);
  return std::string{start} + std::string(5 - digits.size(), '0') + digits;
}

/// Puts `count` keys, as many in one commit as are allowed.
void put_many(directory& to, std::string_view start, int count) {
  directory_writes writes;
  for (int i = 0; i < count; ++i) {
    writes.push_back(putting(numbered(start, i), "x"));
    if (writes.size() == directory::writes_max || i + 1 == count) {
      commit_if(to, {}, writes);
      writes.clear();
    }
  }
}

bool is_gone(directory& from, std::string_view prefix) {
  return keys_below(from, prefix).empty();
}

} // namespace

void writable_directory::SetUp() {
  place_ = GetParam().make();
  directory_ = open_another();
}

void writable_directory::TearDown() {
  directory_.reset();
  place_.reset();
}

std::shared_ptr<directory> writable_directory::open_another() const {
  return must(open_directory(place_->address(), place_->options()));
}

// --- identity ---

TEST_P(writable_directory, it_is_writable) {
  EXPECT_TRUE(directory_->is_writable());
}

TEST_P(writable_directory, clients_of_one_directory_have_the_same_identity) {
  const auto identity = must(directory_->identity());
  EXPECT_FALSE(identity.empty());
  EXPECT_EQ(must(open_another()->identity()), identity);
}

TEST_P(writable_directory, two_directories_have_different_identities) {
  const auto other_place = GetParam().make();
  const auto other = must(open_directory(other_place->address(), other_place->options()));
  EXPECT_NE(must(other->identity()), must(directory_->identity()));
}

TEST_P(writable_directory, two_directories_do_not_see_each_others_keys) {
  const auto other_place = GetParam().make();
  const auto other = must(open_directory(other_place->address(), other_place->options()));
  put(*directory_, "a", "1");
  EXPECT_EQ(keys_below(*other, ""), std::vector<std::string>{});
}

TEST_P(writable_directory, it_shows_its_address) {
  EXPECT_EQ(directory_->shown_address(), place_->address());
}

// --- reading and writing ---

TEST_P(writable_directory, a_fresh_directory_is_empty) {
  EXPECT_EQ(must(directory_->list("")).entries, std::vector<directory_entry>{});
}

TEST_P(writable_directory, an_entry_is_read_as_it_was_put) {
  const auto revision = put(*directory_, "a/b", "value");
  const auto listing = must(open_another()->list(""));
  EXPECT_EQ(
      listing.entries,
      (std::vector<directory_entry>{
          {.key = "a/b", .value = "value", .created_revision = revision, .changed_revision = revision, .lease = 0}}));
  EXPECT_GE(listing.revision, revision);
}

TEST_P(writable_directory, each_write_has_a_higher_revision) {
  const auto first = put(*directory_, "a", "1");
  const auto second = put(*open_another(), "b", "1");
  const auto third = put(*directory_, "a", "1");
  const auto fourth = remove(*directory_, "a");
  EXPECT_GT(first, 0U);
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_LT(third, fourth);
}

TEST_P(writable_directory, a_changed_entry_keeps_its_created_revision) {
  const auto created = put(*directory_, "a", "1");
  const auto changed = put(*directory_, "a", "2");
  const auto entry = entry_of(*directory_, "a");
  EXPECT_EQ(entry.value, "2");
  EXPECT_EQ(entry.created_revision, created);
  EXPECT_EQ(entry.changed_revision, changed);
}

TEST_P(writable_directory, a_key_that_is_made_anew_has_a_higher_created_revision) {
  const auto created = put(*directory_, "a", "1");
  const auto removed = remove(*directory_, "a");
  put(*directory_, "a", "1");
  EXPECT_GT(entry_of(*directory_, "a").created_revision, removed);
  EXPECT_GT(removed, created);
}

TEST_P(writable_directory, removing_an_absent_key_is_applied_and_changes_nothing) {
  const auto before = put(*directory_, "a", "1");
  const auto done = commit_if(*directory_, {}, {removing("b")});
  EXPECT_TRUE(done.is_applied);
  EXPECT_GE(done.revision, before);
  EXPECT_EQ(keys_below(*directory_, ""), std::vector<std::string>{"a"});
}

TEST_P(writable_directory, a_listing_has_only_what_begins_with_the_prefix) {
  for (const auto* key : {"a", "aa", "ab", "ab/c", "ac", "b"})
    put(*directory_, key, "x");
  EXPECT_EQ(keys_below(*directory_, "ab"), (std::vector<std::string>{"ab", "ab/c"}));
  EXPECT_EQ(keys_below(*directory_, "ab/c/"), std::vector<std::string>{});
  EXPECT_EQ(keys_below(*directory_, ""), (std::vector<std::string>{"a", "aa", "ab", "ab/c", "ac", "b"}));
}

TEST_P(writable_directory, a_listing_is_in_the_order_of_the_keys_bytes) {
  using namespace std::string_literals;
  const std::vector<std::string> ordered{"\0"s, "\0\0"s, "\x01", "A",    "A\0"s,    "B",
                                         "a",   "\x7f",  "\x80", "\xff", "\xff\xff"};
  for (auto key = ordered.rbegin(); key != ordered.rend(); ++key)
    put(*directory_, *key, "x");
  EXPECT_EQ(keys_below(*directory_, ""), ordered);
}

TEST_P(writable_directory, prefixes_that_end_with_the_highest_byte_are_listed) {
  for (const auto* key : {"a", "a\xff", "a\xff\xff", "a\xff\xff\x01", "b", "\xff", "\xff\xff"})
    put(*directory_, key, "x");
  EXPECT_EQ(keys_below(*directory_, "a\xff"), (std::vector<std::string>{"a\xff", "a\xff\xff", "a\xff\xff\x01"}));
  EXPECT_EQ(keys_below(*directory_, "\xff"), (std::vector<std::string>{"\xff", "\xff\xff"}));
  EXPECT_EQ(keys_below(*directory_, "\xff\xff"), (std::vector<std::string>{"\xff\xff"}));
}

TEST_P(writable_directory, keys_and_values_may_have_any_bytes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all.push_back(static_cast<char>(byte));
  put(*directory_, all, all + all);
  put(*directory_, "empty", "");
  EXPECT_EQ(entry_of(*directory_, all).value, all + all);
  EXPECT_EQ(entry_of(*directory_, "empty").value, "");
}

TEST_P(writable_directory, a_long_listing_is_complete) {
  put_many(*directory_, "k/", 1'300);
  const auto keys = keys_below(*directory_, "k/");
  ASSERT_EQ(keys.size(), 1'300U);
  EXPECT_EQ(keys.front(), numbered("k/", 0));
  EXPECT_EQ(keys.back(), numbered("k/", 1'299));
  EXPECT_TRUE(std::ranges::is_sorted(keys));
}

TEST_P(writable_directory, a_listing_of_large_values_is_complete) {
  const std::string large(directory::value_bytes_max, 'v');
  for (int i = 0; i < 40; ++i)
    put(*directory_, numbered("k/", i), large);
  const auto entries = must(directory_->list("k/")).entries;
  ASSERT_EQ(entries.size(), 40U);
  EXPECT_TRUE(std::ranges::all_of(entries, [&](const auto& each) { return each.value == large; }));
}

// The first and the last key are always changed together, with many keys between them.
TEST_P(writable_directory, a_listing_is_of_one_revision) {
  put_many(*directory_, "k/m", 1'000);
  std::jthread writer{[&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i)
      commit_if(*directory_, {}, {putting("k/a", std::to_string(i)), putting("k/z", std::to_string(i))});
  }};
  const auto reader = open_another();
  ASSERT_TRUE(eventually([&] { return !keys_below(*reader, "k/z").empty(); }));
  std::set<std::string> seen;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (int i = 0; i < 20 || (seen.size() < 2 && std::chrono::steady_clock::now() < until); ++i) {
    const auto listing = must(reader->list("k/"));
    ASSERT_EQ(listing.entries.size(), 1'002U);
    ASSERT_EQ(listing.entries.front().value, listing.entries.back().value);
    for (const auto& each : listing.entries)
      ASSERT_LE(each.changed_revision, listing.revision);
    seen.insert(listing.entries.front().value);
  }
  EXPECT_GT(seen.size(), 1U);
}

// --- bounds ---

TEST_P(writable_directory, an_impossible_key_is_refused) {
  EXPECT_EQ(code_of(directory_->commit({}, directory_writes{putting("", "x")})), directory_errc::invalid_argument);
  EXPECT_EQ(code_of(directory_->commit(directory_conditions{is_absent("")}, {})), directory_errc::invalid_argument);
  const std::string longest(directory::key_bytes_max, 'k');
  put(*directory_, longest, "x");
  EXPECT_EQ(keys_below(*directory_, longest), std::vector<std::string>{longest});
  const auto refused = directory_->commit({}, directory_writes{putting(longest + 'k', "x")});
  ASSERT_EQ(code_of(refused), directory_errc::invalid_argument);
  EXPECT_NE(refused.error().message().find("1025"), std::string::npos) << refused.error().message();
  EXPECT_EQ(code_of(directory_->list(longest + 'k')), directory_errc::invalid_argument);
  EXPECT_EQ(code_of(directory_->watch(longest + 'k', 1, watch_record{}.handlers())), directory_errc::invalid_argument);
}

TEST_P(writable_directory, a_value_beyond_the_bound_is_refused) {
  const std::string largest(directory::value_bytes_max, 'v');
  put(*directory_, "a", largest);
  const auto refused = directory_->commit({}, directory_writes{putting("a", largest + 'v')});
  ASSERT_EQ(code_of(refused), directory_errc::invalid_argument);
  EXPECT_NE(refused.error().message().find("65537"), std::string::npos) << refused.error().message();
  EXPECT_EQ(entry_of(*directory_, "a").value, largest);
}

TEST_P(writable_directory, a_commit_has_as_many_writes_and_conditions_as_the_bound_says) {
  directory_conditions conditions;
  directory_writes writes;
  for (int i = 0; i < static_cast<int>(directory::writes_max); ++i) {
    conditions.push_back(is_absent(numbered("k/", i)));
    writes.push_back(putting(numbered("k/", i), "x"));
  }
  EXPECT_TRUE(commit_if(*directory_, conditions, writes).is_applied);
  EXPECT_EQ(commit_if(*directory_, conditions, writes).found.size(), directory::writes_max);
  EXPECT_EQ(keys_below(*directory_, "k/").size(), directory::writes_max);
  conditions.push_back(is_absent("one/more"));
  EXPECT_EQ(code_of(directory_->commit(conditions, {})), directory_errc::invalid_argument);
  writes.push_back(putting("one/more", "x"));
  EXPECT_EQ(code_of(directory_->commit({}, writes)), directory_errc::invalid_argument);
  EXPECT_TRUE(is_gone(*directory_, "one/more"));
}

TEST_P(writable_directory, a_commit_has_as_many_bytes_as_the_bound_says) {
  directory_writes writes;
  for (std::size_t i = 0; i < directory::commit_bytes_max / directory::value_bytes_max; ++i)
    writes.push_back(putting(numbered("k/", static_cast<int>(i)), std::string(directory::value_bytes_max - 7, 'v')));
  EXPECT_TRUE(commit_if(*directory_, {}, writes).is_applied);
  writes.push_back(putting("more", ""));
  EXPECT_EQ(code_of(directory_->commit({}, writes)), directory_errc::invalid_argument);
}

TEST_P(writable_directory, a_commit_names_no_key_twice) {
  EXPECT_EQ(code_of(directory_->commit({}, directory_writes{putting("a", "1"), removing("a")})),
            directory_errc::invalid_argument);
  EXPECT_EQ(code_of(directory_->commit(directory_conditions{is_absent("a"), is_created_at("a", 1)}, {})),
            directory_errc::invalid_argument);
  EXPECT_TRUE(commit_if(*directory_, {is_absent("a")}, {putting("a", "1")}).is_applied);
}

TEST_P(writable_directory, an_impossible_time_of_a_lease_is_refused) {
  EXPECT_EQ(code_of(directory_->grant(0ms)), directory_errc::invalid_argument);
  EXPECT_EQ(code_of(directory_->grant(-1ms)), directory_errc::invalid_argument);
  EXPECT_EQ(code_of(directory_->grant(std::chrono::milliseconds::max())), directory_errc::invalid_argument);
}

// --- commits ---

TEST_P(writable_directory, a_commit_applies_all_writes_at_one_revision) {
  put(*directory_, "c", "old");
  const auto done = commit_if(*directory_, {}, {putting("a", "1"), putting("b", "2"), removing("c")});
  EXPECT_TRUE(done.is_applied);
  EXPECT_TRUE(done.found.empty());
  const auto entries = must(directory_->list("")).entries;
  ASSERT_EQ(keys_of(entries), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(entries[0].changed_revision, done.revision);
  EXPECT_EQ(entries[1].changed_revision, done.revision);
}

TEST_P(writable_directory, a_key_that_must_be_absent_is_made_once) {
  const auto first = commit_if(*directory_, {is_absent("a")}, {putting("a", "1")});
  EXPECT_TRUE(first.is_applied);
  const auto second = commit_if(*open_another(), {is_absent("a")}, {putting("a", "2"), putting("b", "2")});
  EXPECT_FALSE(second.is_applied);
  EXPECT_GE(second.revision, first.revision);
  EXPECT_EQ(second.found, (std::vector<directory_entry>{{.key = "a",
                                                         .value = "1",
                                                         .created_revision = first.revision,
                                                         .changed_revision = first.revision,
                                                         .lease = 0}}));
  EXPECT_EQ(entry_of(*directory_, "a").value, "1");
  EXPECT_TRUE(is_gone(*directory_, "b"));
}

TEST_P(writable_directory, a_commit_may_depend_on_the_created_revision) {
  const auto created = put(*directory_, "a", "1");
  const auto changed = put(*directory_, "a", "2");
  EXPECT_FALSE(commit_if(*directory_, {is_created_at("a", changed)}, {putting("a", "3")}).is_applied);
  EXPECT_FALSE(commit_if(*directory_, {is_created_at("absent", created)}, {putting("a", "3")}).is_applied);
  EXPECT_EQ(entry_of(*directory_, "a").value, "2");
  EXPECT_TRUE(commit_if(*directory_, {is_created_at("a", created)}, {putting("a", "3")}).is_applied);
  EXPECT_EQ(entry_of(*directory_, "a").value, "3");
  remove(*directory_, "a");
  put(*directory_, "a", "4");
  EXPECT_FALSE(commit_if(*directory_, {is_created_at("a", created)}, {removing("a")}).is_applied);
}

TEST_P(writable_directory, a_commit_may_depend_on_the_changed_revision) {
  const auto created = put(*directory_, "a", "1");
  const auto changed = put(*directory_, "a", "2");
  EXPECT_FALSE(commit_if(*directory_, {is_changed_at("a", created)}, {removing("a")}).is_applied);
  EXPECT_FALSE(commit_if(*directory_, {is_changed_at("absent", changed)}, {removing("a")}).is_applied);
  EXPECT_EQ(entry_of(*directory_, "a").value, "2");
  EXPECT_TRUE(commit_if(*directory_, {is_changed_at("a", changed)}, {removing("a")}).is_applied);
  EXPECT_TRUE(is_gone(*directory_, "a"));
}

TEST_P(writable_directory, no_entry_has_an_impossible_revision) {
  put(*directory_, "a", "1");
  for (const auto revision : {std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_FALSE(commit_if(*directory_, {is_created_at("a", revision)}, {}).is_applied);
    EXPECT_FALSE(commit_if(*directory_, {is_changed_at("a", revision)}, {}).is_applied);
    EXPECT_FALSE(commit_if(*directory_, {is_created_at("absent", revision)}, {}).is_applied);
    EXPECT_FALSE(commit_if(*directory_, {is_changed_at("absent", revision)}, {}).is_applied);
  }
}

TEST_P(writable_directory, nothing_is_written_if_one_of_several_conditions_does_not_hold) {
  const auto at = put(*directory_, "a", "1");
  put(*directory_, "b", "1");
  const auto done = commit_if(*directory_, {is_changed_at("a", at), is_absent("c"), is_absent("b")},
                              {putting("a", "2"), removing("b"), putting("c", "2")});
  EXPECT_FALSE(done.is_applied);
  auto found = keys_of(done.found);
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(entry_of(*directory_, "a").value, "1");
  EXPECT_EQ(keys_below(*directory_, ""), (std::vector<std::string>{"a", "b"}));
}

TEST_P(writable_directory, a_commit_without_writes_only_compares) {
  const auto at = put(*directory_, "a", "1");
  const auto holds = commit_if(*directory_, {is_changed_at("a", at)}, {});
  EXPECT_TRUE(holds.is_applied);
  EXPECT_GE(holds.revision, at);
  const auto fails = commit_if(*directory_, {is_absent("a")}, {});
  EXPECT_FALSE(fails.is_applied);
  EXPECT_EQ(keys_of(fails.found), std::vector<std::string>{"a"});
}

TEST_P(writable_directory, counting_by_compare_and_swap_loses_nothing) {
  constexpr int clients = 3;
  constexpr int each_counts = 15;
  put(*directory_, "count", "0");
  std::vector<std::future<void>> counting;
  for (int i = 0; i < clients; ++i)
    counting.push_back(std::async(std::launch::async, [client = i == 0 ? directory_ : open_another()] {
      for (int counted = 0; counted < each_counts;) {
        const auto entry = entry_of(*client, "count");
        const auto next = std::to_string(std::stoi(entry.value) + 1);
        if (commit_if(*client, {is_changed_at("count", entry.changed_revision)}, {putting("count", next)}).is_applied)
          ++counted;
      }
    }));
  for (auto& each : counting)
    each.get();
  EXPECT_EQ(entry_of(*directory_, "count").value, std::to_string(clients * each_counts));
}

// --- leases ---

TEST_P(writable_directory, an_entry_under_a_lease_names_it) {
  const auto lease = must(directory_->grant(60s));
  EXPECT_NE(lease.id, 0U);
  EXPECT_GT(lease.time, 0ms);
  put(*directory_, "a", "1", lease.id);
  EXPECT_EQ(entry_of(*open_another(), "a").lease, lease.id);
}

TEST_P(writable_directory, leases_differ) {
  std::set<std::uint64_t> ids;
  const auto other = open_another();
  for (int i = 0; i < 10; ++i)
    ids.insert(must((i % 2 == 0 ? directory_ : other)->grant(60s)).id);
  EXPECT_EQ(ids.size(), 10U);
}

TEST_P(writable_directory, entries_are_removed_when_their_lease_expires) {
  const auto before = must(directory_->list("")).revision;
  const auto lease = must(directory_->grant(GetParam().short_lease));
  watch_record record;
  const auto watch = must(directory_->watch("", before + 1, record.handlers()));
  commit_if(*directory_, {}, {putting("a", "1", lease.id), putting("b", "1", lease.id), putting("c", "1")});
  ASSERT_TRUE(record.has_changes(5));
  EXPECT_EQ(keys_below(*directory_, ""), std::vector<std::string>{"c"});
  const auto changes = record.contents_so_far().changes;
  EXPECT_EQ(changes[3].what, change_kind::removed);
  EXPECT_EQ(changes[4].what, change_kind::removed);
  EXPECT_EQ((std::set<std::string>{changes[3].entry.key, changes[4].entry.key}), (std::set<std::string>{"a", "b"}));
  EXPECT_GT(changes[3].entry.changed_revision, changes[0].entry.changed_revision);
}

TEST_P(writable_directory, entries_stay_for_the_time_of_their_lease) {
  const auto granted_after = std::chrono::steady_clock::now();
  const auto lease = must(directory_->grant(GetParam().short_lease));
  EXPECT_GE(lease.time, GetParam().short_lease);
  put(*directory_, "a", "1", lease.id);
  ASSERT_TRUE(eventually([&] { return is_gone(*directory_, "a"); }));
  EXPECT_GE(std::chrono::steady_clock::now() - granted_after, lease.time);
}

TEST_P(writable_directory, a_lease_that_is_kept_alive_does_not_expire) {
  const auto lease = must(directory_->grant(GetParam().short_lease));
  put(*directory_, "a", "1", lease.id);
  const auto until = std::chrono::steady_clock::now() + 3 * lease.time;
  while (std::chrono::steady_clock::now() < until) {
    ASSERT_EQ(must(directory_->keep_alive(lease.id)), lease.time);
    std::this_thread::sleep_for(lease.time / 5);
  }
  EXPECT_FALSE(is_gone(*directory_, "a"));
  EXPECT_TRUE(eventually([&] { return is_gone(*directory_, "a"); }));
}

TEST_P(writable_directory, a_lease_outlives_the_client_that_it_was_granted_to) {
  auto other = open_another();
  const auto lease = must(other->grant(60s));
  put(*other, "a", "1", lease.id);
  other->close();
  other.reset();
  EXPECT_EQ(must(directory_->keep_alive(lease.id)), lease.time);
  EXPECT_EQ(entry_of(*directory_, "a").lease, lease.id);
}

TEST_P(writable_directory, a_lease_that_is_gone_is_said_to_be_gone) {
  const auto lease = must(directory_->grant(GetParam().short_lease));
  put(*directory_, "a", "1", lease.id);
  ASSERT_TRUE(eventually([&] { return is_gone(*directory_, "a"); }));
  EXPECT_EQ(code_of(directory_->keep_alive(lease.id)), directory_errc::lease_gone);
  EXPECT_EQ(code_of(directory_->commit({}, directory_writes{putting("b", "1"), putting("c", "1", lease.id)})),
            directory_errc::lease_gone);
  EXPECT_TRUE(is_gone(*directory_, ""));
}

TEST_P(writable_directory, a_lease_that_was_never_granted_is_gone) {
  for (const auto lease : {std::uint64_t{12'345}, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(code_of(directory_->keep_alive(lease)), directory_errc::lease_gone);
    EXPECT_EQ(code_of(directory_->commit({}, directory_writes{putting("a", "1", lease)})), directory_errc::lease_gone);
    EXPECT_TRUE(directory_->revoke(lease));
  }
  EXPECT_EQ(code_of(directory_->keep_alive(0)), directory_errc::lease_gone);
  EXPECT_TRUE(directory_->revoke(0));
}

TEST_P(writable_directory, revoking_a_lease_removes_its_entries_and_may_be_repeated) {
  const auto lease = must(directory_->grant(60s));
  const auto other_lease = must(directory_->grant(60s));
  commit_if(*directory_, {},
            {putting("a", "1", lease.id), putting("b", "1", lease.id), putting("c", "1", other_lease.id)});
  ASSERT_TRUE(open_another()->revoke(lease.id));
  EXPECT_EQ(keys_below(*directory_, ""), std::vector<std::string>{"c"});
  EXPECT_EQ(code_of(directory_->keep_alive(lease.id)), directory_errc::lease_gone);
  EXPECT_TRUE(directory_->revoke(lease.id));
  EXPECT_EQ(code_of(directory_->commit({}, directory_writes{putting("d", "1", lease.id)})), directory_errc::lease_gone);
}

TEST_P(writable_directory, an_entry_is_under_the_lease_of_its_last_put) {
  const auto first = must(directory_->grant(60s));
  const auto second = must(directory_->grant(60s));
  commit_if(*directory_, {},
            {putting("none", "1", first.id), putting("other", "1", first.id), putting("same", "1", first.id)});
  put(*directory_, "none", "2");
  put(*directory_, "other", "2", second.id);
  put(*directory_, "same", "2", first.id);
  must(directory_->revoke(first.id));
  EXPECT_EQ(keys_below(*directory_, ""), (std::vector<std::string>{"none", "other"}));
  EXPECT_EQ(entry_of(*directory_, "none").lease, 0U);
  must(directory_->revoke(second.id));
  EXPECT_EQ(keys_below(*directory_, ""), std::vector<std::string>{"none"});
}

TEST_P(writable_directory, a_key_that_was_made_anew_without_the_lease_survives_it) {
  const auto lease = must(directory_->grant(60s));
  put(*directory_, "a", "1", lease.id);
  remove(*directory_, "a");
  put(*directory_, "a", "2");
  must(directory_->revoke(lease.id));
  EXPECT_EQ(entry_of(*directory_, "a").value, "2");
}

// --- watches ---

TEST_P(writable_directory, a_watch_delivers_puts_and_removals) {
  const auto revision = must(directory_->list("")).revision;
  watch_record record;
  const auto watch = must(directory_->watch("", revision + 1, record.handlers()));
  const auto other = open_another();
  const auto created = put(*other, "a", "1");
  const auto changed = put(*directory_, "a", "2");
  const auto removed = remove(*other, "a");
  ASSERT_TRUE(record.has_changes(3));
  const auto seen = record.contents_so_far();
  EXPECT_EQ(seen.changes[0].what, change_kind::put);
  EXPECT_EQ(seen.changes[0].entry, (directory_entry{"a", "1", created, created, 0}));
  EXPECT_EQ(seen.changes[1].what, change_kind::put);
  EXPECT_EQ(seen.changes[1].entry, (directory_entry{"a", "2", created, changed, 0}));
  EXPECT_EQ(seen.changes[2].what, change_kind::removed);
  EXPECT_EQ(seen.changes[2].entry.key, "a");
  EXPECT_EQ(seen.changes[2].entry.changed_revision, removed);
  EXPECT_EQ(seen.deliveries.back().revision, removed);
  EXPECT_FALSE(seen.end);
}

TEST_P(writable_directory, a_watch_names_the_lease_of_an_entry) {
  const auto revision = must(directory_->list("")).revision;
  const auto lease = must(directory_->grant(60s));
  watch_record record;
  const auto watch = must(directory_->watch("", revision + 1, record.handlers()));
  put(*directory_, "a", "1", lease.id);
  ASSERT_TRUE(record.has_changes(1));
  EXPECT_EQ(record.contents_so_far().changes[0].entry.lease, lease.id);
}

TEST_P(writable_directory, a_watch_delivers_changes_that_were_made_before_it) {
  const auto revision = must(directory_->list("")).revision;
  put(*directory_, "a", "1");
  const auto second = put(*directory_, "a", "2");
  put(*directory_, "b", "3");
  watch_record all;
  const auto watch_of_all = must(directory_->watch("", revision + 1, all.handlers()));
  watch_record later;
  const auto watch_of_later = must(directory_->watch("", second, later.handlers()));
  ASSERT_TRUE(all.has_changes(3));
  EXPECT_EQ(all.contents_so_far().changes[0].entry.value, "1");
  ASSERT_TRUE(later.has_changes(2));
  EXPECT_EQ(later.contents_so_far().changes[0].entry.value, "2");
}

TEST_P(writable_directory, a_watch_delivers_only_what_begins_with_its_prefix) {
  const auto revision = must(directory_->list("")).revision;
  watch_record record;
  const auto watch = must(directory_->watch("ab", revision + 1, record.handlers()));
  watch_record highest;
  const auto watch_of_highest = must(directory_->watch("\xff", revision + 1, highest.handlers()));
  for (const auto* key : {"a", "ab", "ab/c", "ac", "\xff", "\xff\xff"})
    put(*directory_, key, "x");
  ASSERT_TRUE(highest.has_changes(2));
  ASSERT_TRUE(record.has_changes(2));
  put(*directory_, "ab/last", "x");
  ASSERT_TRUE(record.has_changes(3));
  EXPECT_EQ(record.contents_so_far().changes[0].entry.key, "ab");
  EXPECT_EQ(record.contents_so_far().changes[1].entry.key, "ab/c");
  EXPECT_EQ(record.contents_so_far().changes[2].entry.key, "ab/last");
  EXPECT_EQ(highest.contents_so_far().changes[0].entry.key, "\xff");
}

TEST_P(writable_directory, a_watch_from_a_later_revision_does_not_see_earlier_ones) {
  const auto revision = must(directory_->list("")).revision;
  watch_record record;
  // Others may write to the same server, but not so much.
  const auto watch = must(directory_->watch("", revision + 20, record.handlers()));
  std::uint64_t last = 0;
  while (last < revision + 20)
    last = put(*directory_, "a", std::to_string(last));
  ASSERT_TRUE(record.has_changes(1));
  for (const auto& each : record.contents_so_far().changes)
    EXPECT_GE(each.entry.changed_revision, revision + 20);
}

TEST_P(writable_directory, all_changes_of_a_revision_come_in_one_call) {
  const auto revision = must(directory_->list("")).revision;
  watch_record record;
  const auto watch = must(directory_->watch("", revision + 1, record.handlers()));
  directory_writes writes;
  for (int i = 0; i < static_cast<int>(directory::writes_max); ++i)
    writes.push_back(putting(numbered("k/", i), std::string(4'000, 'v')));
  for (int round = 0; round < 5; ++round)
    commit_if(*directory_, {}, writes);
  ASSERT_TRUE(record.has_changes(5 * directory::writes_max));
  for (const auto& each : record.contents_so_far().deliveries) {
    std::map<std::uint64_t, std::size_t> changes_of_revision;
    for (const auto& change : each.changes)
      ++changes_of_revision[change.entry.changed_revision];
    for (const auto& [of, count] : changes_of_revision)
      EXPECT_EQ(count, directory::writes_max) << "revision " << of;
    EXPECT_GE(each.revision, each.changes.back().entry.changed_revision);
  }
}

// A listing and a watch from its revision on together give every change, while other clients write.
TEST_P(writable_directory, nothing_is_missed_between_a_listing_and_a_watch) {
  constexpr int count = 200;
  std::jthread writer{[&, to = open_another()] {
    for (int i = 0; i < count; ++i)
      put(*to, numbered("k/", i), "x");
  }};
  ASSERT_TRUE(eventually([&] { return keys_below(*directory_, "k/").size() > 10; }));
  for (int round = 0; round < 5; ++round) {
    const auto listing = must(directory_->list("k/"));
    watch_record record;
    const auto watch = must(directory_->watch("k/", listing.revision + 1, record.handlers()));
    ASSERT_TRUE(record.has_changes(count - listing.entries.size()));
    const auto seen = record.contents_so_far();
    ASSERT_EQ(seen.changes.size(), count - listing.entries.size());
    for (std::size_t i = 0; i < seen.changes.size(); ++i)
      ASSERT_EQ(seen.changes[i].entry.key, numbered("k/", static_cast<int>(listing.entries.size() + i)));
  }
}

TEST_P(writable_directory, a_watch_sees_the_revisions_of_concurrent_writers_in_order) {
  constexpr int writers = 4;
  constexpr int each_writes = 25;
  const auto revision = must(directory_->list("")).revision;
  watch_record record;
  const auto watch = must(directory_->watch("", revision + 1, record.handlers()));
  std::vector<std::future<std::vector<std::uint64_t>>> writing;
  for (int writer = 0; writer < writers; ++writer)
    writing.push_back(std::async(std::launch::async, [writer, to = writer < 2 ? directory_ : open_another()] {
      std::vector<std::uint64_t> revisions;
      for (int i = 0; i < each_writes; ++i)
        revisions.push_back(put(*to, "w/" + std::to_string(writer), std::to_string(i)));
      return revisions;
    }));
  std::set<std::uint64_t> written;
  for (auto& each : writing)
    for (const auto of : each.get())
      written.insert(of);
  EXPECT_EQ(written.size(), static_cast<std::size_t>(writers * each_writes));
  ASSERT_TRUE(record.has_changes(writers * each_writes));
  const auto seen = record.contents_so_far();
  std::vector<std::uint64_t> watched;
  for (const auto& each : seen.changes)
    watched.push_back(each.entry.changed_revision);
  EXPECT_EQ(watched, std::vector<std::uint64_t>(written.begin(), written.end()));
  for (std::size_t i = 1; i < seen.deliveries.size(); ++i)
    EXPECT_LT(seen.deliveries[i - 1].revision, seen.deliveries[i].changes.front().entry.changed_revision);
}

TEST_P(writable_directory, several_watches_do_not_disturb_each_other) {
  const auto revision = must(directory_->list("")).revision;
  std::vector<watch_record> records(20);
  std::vector<std::unique_ptr<directory_watch>> watches;
  for (std::size_t i = 0; i < records.size(); ++i)
    watches.push_back(
        must(directory_->watch(numbered("k/", static_cast<int>(i) / 2), revision + 1, records[i].handlers())));
  for (int i = 0; i < 10; ++i)
    put(*directory_, numbered("k/", i), "1");
  for (const auto& each : records)
    ASSERT_TRUE(each.has_changes(1));
  for (std::size_t i = 0; i < watches.size(); i += 2)
    watches[i].reset();
  for (int i = 0; i < 10; ++i)
    put(*directory_, numbered("k/", i), "2");
  for (std::size_t i = 1; i < records.size(); i += 2)
    ASSERT_TRUE(records[i].has_changes(2));
  for (std::size_t i = 0; i < records.size(); i += 2)
    EXPECT_EQ(records[i].contents_so_far().changes.size(), 1U);
}

TEST_P(writable_directory, a_destroyed_watch_calls_nobody) {
  const auto revision = must(directory_->list("")).revision;
  watch_record record;
  auto watch = must(directory_->watch("", revision + 1, record.handlers()));
  put(*directory_, "a", "1");
  ASSERT_TRUE(record.has_changes(1));
  watch.reset();
  watch_record other;
  const auto other_watch = must(directory_->watch("", revision + 1, other.handlers()));
  put(*directory_, "a", "2");
  ASSERT_TRUE(other.has_changes(2));
  EXPECT_EQ(record.contents_so_far().changes.size(), 1U);
  EXPECT_FALSE(record.contents_so_far().end);
}

TEST_P(writable_directory, destroying_a_watch_waits_for_its_handler) {
  std::promise<void> entered;
  std::promise<void> may_leave;
  std::atomic<bool> has_left = false;
  const auto revision = must(directory_->list("")).revision;
  auto watch = must(directory_->watch("", revision + 1,
                                      {.on_changes =
                                           [&](auto, auto) {
                                             entered.set_value();
                                             may_leave.get_future().wait();
                                             has_left = true;
                                           },
                                       .on_end = {}}));
  put(*directory_, "a", "1");
  entered.get_future().wait();
  std::jthread releasing{[&] {
    std::this_thread::sleep_for(20ms);
    may_leave.set_value();
  }};
  watch.reset();
  EXPECT_TRUE(has_left);
}

TEST_P(writable_directory, a_watch_may_be_destroyed_in_its_own_handler) {
  const auto revision = must(directory_->list("")).revision;
  std::unique_ptr<directory_watch> watch;
  std::mutex mutex; // Guards watch, which the handler must not touch before it is set.
  std::atomic<int> calls = 0;
  {
    const std::lock_guard guard{mutex};
    watch = must(directory_->watch("", revision + 1,
                                   {.on_changes =
                                        [&](auto, auto) {
                                          const std::lock_guard inner{mutex};
                                          ++calls;
                                          watch.reset();
                                        },
                                    .on_end = [&](const auto&) { ++calls; }}));
  }
  put(*directory_, "a", "1");
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard guard{mutex};
    return watch == nullptr;
  }));
  watch_record other;
  const auto other_watch = must(directory_->watch("", revision + 1, other.handlers()));
  put(*directory_, "a", "2");
  ASSERT_TRUE(other.has_changes(2));
  EXPECT_EQ(calls, 1);
}

TEST_P(writable_directory, a_handler_may_call_the_directory) {
  const auto revision = must(directory_->list("")).revision;
  std::promise<std::vector<std::string>> listed;
  const auto watch = must(directory_->watch("a", revision + 1,
                                            {.on_changes =
                                                 [&](auto, auto) {
                                                   put(*directory_, "b", "from the handler");
                                                   listed.set_value(keys_below(*directory_, ""));
                                                 },
                                             .on_end = {}}));
  put(*directory_, "a", "1");
  auto keys = listed.get_future();
  ASSERT_EQ(keys.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(keys.get(), (std::vector<std::string>{"a", "b"}));
}

TEST_P(writable_directory, handlers_that_are_left_out_are_not_called) {
  const auto revision = must(directory_->list("")).revision;
  const auto silent = must(directory_->watch("", revision + 1, {}));
  watch_record record;
  const auto watch = must(directory_->watch("", revision + 1, record.handlers()));
  put(*directory_, "a", "1");
  EXPECT_TRUE(record.has_changes(1));
  directory_->close();
  EXPECT_EQ(record.end_code(), directory_errc::closed);
}

// --- closing ---

TEST_P(writable_directory, a_closed_directory_fails_calls_by_name) {
  const auto lease = must(directory_->grant(60s));
  directory_->close();
  directory_->close();
  EXPECT_EQ(code_of(directory_->list("")), directory_errc::closed);
  EXPECT_EQ(code_of(directory_->grant(60s)), directory_errc::closed);
  EXPECT_EQ(code_of(directory_->keep_alive(lease.id)), directory_errc::closed);
  EXPECT_EQ(code_of(directory_->revoke(lease.id)), directory_errc::closed);
  EXPECT_EQ(code_of(directory_->commit({}, directory_writes{putting("a", "1")})), directory_errc::closed);
  EXPECT_EQ(code_of(directory_->watch("", 1, watch_record{}.handlers())), directory_errc::closed);
}

TEST_P(writable_directory, closing_ends_watches_once) {
  const auto revision = must(directory_->list("")).revision;
  std::vector<watch_record> records(3);
  std::vector<std::unique_ptr<directory_watch>> watches;
  for (const auto& each : records)
    watches.push_back(must(directory_->watch("", revision + 1, each.handlers())));
  directory_->close();
  for (const auto& each : records) {
    EXPECT_EQ(each.end_code(), directory_errc::closed);
    EXPECT_EQ(each.contents_so_far().calls_after_end, 0);
  }
}

TEST_P(writable_directory, the_last_owner_closes_the_directory) {
  const auto revision = must(directory_->list("")).revision;
  watch_record record;
  const auto watch = must(directory_->watch("", revision + 1, record.handlers()));
  directory_.reset();
  EXPECT_EQ(record.end_code(), directory_errc::closed);
}

TEST_P(writable_directory, a_directory_may_be_closed_in_a_handler) {
  const auto revision = must(directory_->list("")).revision;
  std::promise<void> closed;
  std::promise<directory_errc> ended;
  const auto watch = must(directory_->watch("", revision + 1,
                                            {.on_changes =
                                                 [&](auto, auto) {
                                                   directory_->close();
                                                   closed.set_value();
                                                 },
                                             .on_end = [&](const auto& error) { ended.set_value(error.code()); }}));
  put(*open_another(), "a", "1");
  ASSERT_EQ(closed.get_future().wait_for(10s), std::future_status::ready);
  auto end = ended.get_future();
  ASSERT_EQ(end.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(end.get(), directory_errc::closed);
}

TEST_P(writable_directory, closing_ends_calls_of_other_threads) {
  std::atomic<int> running = 0;
  std::vector<std::future<directory_errc>> calling;
  for (int i = 0; i < 4; ++i)
    calling.push_back(std::async(std::launch::async, [&, i] {
      for (int count = 0;; ++count) {
        const auto done = directory_->commit({}, directory_writes{putting("k" + std::to_string(i), "x")});
        if (count == 0)
          ++running;
        if (!done)
          return done.error().code();
      }
    }));
  ASSERT_TRUE(eventually([&] { return running == 4; }));
  directory_->close();
  for (auto& each : calling) {
    ASSERT_EQ(each.wait_for(10s), std::future_status::ready);
    EXPECT_EQ(each.get(), directory_errc::closed);
  }
}

TEST_P(writable_directory, entries_stay_when_every_client_has_closed) {
  const auto revision = put(*directory_, "a", "1");
  directory_->close();
  directory_.reset();
  directory_ = open_another();
  EXPECT_EQ(entry_of(*directory_, "a").created_revision, revision);
  EXPECT_GT(put(*directory_, "b", "1"), revision);
}

// --- several processes ---

TEST_P(writable_directory, processes_that_contend_for_a_key_are_told_apart) {
  constexpr int rounds = 50;
  std::vector<processes::process> contenders;
  for (const auto* name : {"first", "second"}) {
    auto started =
        processes::process::start({.program = DIRECTORY_CONTENDER,
                                   .words = {"directory_contender", place_->address(), name, std::to_string(rounds)},
                                   .input = processes::lines{},
                                   .output = processes::lines{}});
    ASSERT_TRUE(started);
    contenders.push_back(std::move(*started));
  }
  for (auto& each : contenders)
    ASSERT_EQ(each.channel().read_line(), "ready");
  for (auto& each : contenders)
    each.channel().write_line("go");
  std::map<std::string, int> made;
  made["first"] = std::stoi(contenders[0].channel().read_line().value_or("-1"));
  made["second"] = std::stoi(contenders[1].channel().read_line().value_or("-1"));
  EXPECT_EQ(made["first"] + made["second"], rounds);
  std::map<std::string, int> found;
  for (const auto& each : must(directory_->list("race/")).entries)
    ++found[each.value];
  EXPECT_EQ(found["first"], made["first"]);
  EXPECT_EQ(found["second"], made["second"]);
}

// Each owner takes the key under its own lease, with a number that is higher than that of all earlier ones.
TEST_P(writable_directory, fencing_numbers_rise_with_each_owner) {
  constexpr int owners = 3;
  constexpr int turns = 4;
  std::mutex mutex;
  std::vector<std::uint64_t> numbers; // Guarded by mutex. Appended by an owner only while it owns the key.
  std::vector<std::future<void>> owning;
  for (int i = 0; i < owners; ++i)
    owning.push_back(std::async(std::launch::async, [&, client = open_another()] {
      for (int turn = 0; turn < turns;) {
        const auto lease = must(client->grant(60s));
        const auto done = commit_if(*client, {is_absent("owner")}, {putting("owner", "me", lease.id)});
        if (done.is_applied) {
          ++turn;
          const std::lock_guard guard{mutex};
          numbers.push_back(done.revision);
        }
        must(client->revoke(lease.id));
      }
    }));
  for (auto& each : owning)
    each.get();
  ASSERT_EQ(numbers.size(), static_cast<std::size_t>(owners * turns));
  for (std::size_t i = 1; i < numbers.size(); ++i)
    EXPECT_LT(numbers[i - 1], numbers[i]);
}

} // namespace troupe::tests
