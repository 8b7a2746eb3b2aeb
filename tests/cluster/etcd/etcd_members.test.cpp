// What happens to a directory when members of its etcd fail.
#include "../../eventually.hpp"
#include "../directory_words.hpp"
#include "../etcd_server.hpp"
#include "../watch_record.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace troupe::tests {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using testing::HasSubstr;

/// The endpoints of all members, beginning with `first`.
std::vector<std::size_t> beginning_with(std::size_t first, const etcd_server& of) {
  std::vector<std::size_t> order;
  for (std::size_t each = 0; each < of.count(); ++each)
    order.push_back((first + each) % of.count());
  return order;
}

/// Puts until a commit does not fail. Returns the revision.
std::uint64_t put_at_last(directory& to, const std::string& key, const std::string& value) {
  std::uint64_t revision = 0;
  EXPECT_TRUE(eventually([&] {
    const auto done = to.commit({}, directory_writes{putting(key, value)});
    revision = done ? done->revision : 0;
    return done.has_value();
  }));
  return revision;
}

bool has_seen(const watch_record& record, const std::string& key) {
  return record.eventually([&](const watch_record::contents& seen) {
    return std::ranges::any_of(seen.changes, [&](const auto& change) { return change.entry.key == key; });
  });
}

void expect_rising_revisions(const watch_record& record) {
  const auto seen = record.contents_so_far();
  for (std::size_t each = 1; each < seen.changes.size(); ++each)
    EXPECT_LE(seen.changes[each - 1].entry.changed_revision, seen.changes[each].entry.changed_revision);
  for (std::size_t each = 1; each < seen.deliveries.size(); ++each)
    EXPECT_LT(seen.deliveries[each - 1].revision, seen.deliveries[each].revision);
}

TEST(etcd_members, calls_and_watches_outlive_the_leader) {
  etcd_server server{{.members = 3}};
  const auto leader = server.leader();
  const auto opened = must(open_directory(server.address("shop", beginning_with(leader, server))));
  const auto lease = must(opened->grant(60s));
  const watch_record record;
  const auto watch = must(opened->watch("", must(opened->list("")).revision + 1, record.handlers()));
  put(*opened, "before", "1", lease.id);
  server.kill(leader);
  EXPECT_EQ(keys_below(*opened, ""), std::vector<std::string>{"before"});
  put_at_last(*opened, "after", "2");
  EXPECT_TRUE(opened->keep_alive(lease.id).has_value());
  EXPECT_TRUE(has_seen(record, "after"));
  EXPECT_EQ(record.contents_so_far().changes.size(), 2U);
  expect_rising_revisions(record);
}

TEST(etcd_members, a_frozen_endpoint_is_left_within_the_timeout_and_avoided_later) {
  etcd_server server{{.members = 3}};
  const auto frozen = (server.leader() + 1) % 3;
  const auto opened = must(open_directory(server.address("shop", beginning_with(frozen, server))));
  put(*opened, "before", "1");
  server.freeze(frozen);
  auto begin = clock::now();
  EXPECT_EQ(keys_below(*opened, ""), std::vector<std::string>{"before"});
  EXPECT_LT(clock::now() - begin, 3s);
  begin = clock::now();
  for (int each = 0; each < 10; ++each)
    EXPECT_EQ(keys_below(*opened, ""), std::vector<std::string>{"before"});
  EXPECT_LT(clock::now() - begin, 1s);
}

TEST(etcd_members, a_frozen_leader_is_replaced_within_the_timeout) {
  etcd_server server{{.members = 3}};
  const auto frozen = server.leader();
  const auto opened = must(open_directory(server.address("shop", beginning_with(frozen, server))));
  put(*opened, "before", "1");
  server.freeze(frozen);
  EXPECT_EQ(keys_below(*opened, ""), std::vector<std::string>{"before"});
  put_at_last(*opened, "after", "2");
  server.thaw(frozen);
  server.wait_until_healthy();
  EXPECT_EQ(keys_below(*opened, ""), (std::vector<std::string>{"after", "before"}));
}

TEST(etcd_members, a_commit_after_a_silence_does_not_fail_because_its_endpoint_is_frozen) {
  etcd_server server{{.members = 3}};
  const auto frozen = (server.leader() + 1) % 3;
  const auto opened = must(open_directory(server.address("shop", beginning_with(frozen, server))));
  server.freeze(frozen);
  std::this_thread::sleep_for(1'100ms); // The silence.
  put(*opened, "a", "1");
  EXPECT_EQ(keys_below(*opened, ""), std::vector<std::string>{"a"});
}

TEST(etcd_members, watches_leave_a_frozen_endpoint_with_the_first_keep_alive) {
  etcd_server server{{.members = 3}};
  const auto frozen = (server.leader() + 1) % 3;
  const auto opened = must(open_directory(server.address("shop", beginning_with(frozen, server))));
  const auto other = must(open_directory(server.address("shop", {server.leader()})));
  const auto lease = must(opened->grant(60s));
  std::vector<watch_record> records(5);
  std::vector<std::unique_ptr<directory_watch>> watches;
  const auto from = must(opened->list("")).revision + 1;
  for (const auto& record : records)
    watches.push_back(must(opened->watch("", from, record.handlers())));
  put(*other, "before", "1");
  for (const auto& record : records)
    ASSERT_TRUE(record.has_changes(1));
  server.freeze(frozen);
  put(*other, "after", "2");
  EXPECT_TRUE(opened->keep_alive(lease.id).has_value());
  for (const auto& record : records) {
    EXPECT_TRUE(has_seen(record, "after"));
    EXPECT_EQ(record.contents_so_far().changes.size(), 2U);
  }
  server.thaw(frozen);
  put(*other, "last", "3");
  for (const auto& record : records) {
    EXPECT_TRUE(record.has_changes(3));
    expect_rising_revisions(record);
  }
}

TEST(etcd_members, an_endpoint_that_has_lost_the_others_is_left) {
  etcd_server server{{.members = 3}};
  const auto opened = must(open_directory(server.address("shop"), {.timeout = 1s}));
  put(*opened, "a", "1");
  server.kill(1);
  server.kill(2);
  const auto begin = clock::now();
  const auto listing = opened->list("");
  EXPECT_LT(clock::now() - begin, 1'500ms);
  ASSERT_EQ(code_of(listing), directory_errc::unavailable);
  EXPECT_THAT(listing.error().message(), HasSubstr("1000 ms"));
  server.start(1);
  EXPECT_TRUE(eventually([&] { return opened->list("").has_value(); }));
}

TEST(etcd_members, a_directory_goes_on_when_all_members_come_back) {
  etcd_server server{{.members = 3}};
  const auto opened = must(open_directory(server.address("shop"), {.timeout = 500ms}));
  const watch_record record;
  const auto watch = must(opened->watch("", must(opened->list("")).revision + 1, record.handlers()));
  put(*opened, "before", "1");
  ASSERT_TRUE(has_seen(record, "before"));
  for (std::size_t each = 0; each < 3; ++each)
    server.kill(each);
  const auto begin = clock::now();
  EXPECT_EQ(code_of(opened->list("")), directory_errc::unavailable);
  EXPECT_EQ(code_of(opened->grant(10s)), directory_errc::unavailable);
  EXPECT_EQ(code_of(opened->commit({}, directory_writes{putting("lost", "")})), directory_errc::unavailable);
  EXPECT_EQ(code_of(open_directory(server.address("shop"), {.timeout = 500ms})), directory_errc::unavailable);
  EXPECT_LT(clock::now() - begin, 4s);
  for (std::size_t each = 0; each < 3; ++each)
    server.start(each);
  put_at_last(*opened, "after", "2");
  EXPECT_TRUE(has_seen(record, "after"));
  EXPECT_EQ(record.contents_so_far().changes.size(), 2U);
  EXPECT_FALSE(record.contents_so_far().end);
}

TEST(etcd_members, a_change_of_leader_does_not_end_a_lease_that_is_kept_alive) {
  etcd_server server{{.members = 3}};
  const auto opened = must(open_directory(server.address("shop")));
  const auto lease = must(opened->grant(2s));
  put(*opened, "leased", "1", lease.id);
  server.kill(server.leader());
  const auto until = clock::now() + 4s;
  while (clock::now() < until) {
    EXPECT_TRUE(opened->keep_alive(lease.id).has_value());
    std::this_thread::sleep_for(200ms);
  }
  EXPECT_EQ(keys_below(*opened, ""), std::vector<std::string>{"leased"});
}

TEST(etcd_members, an_etcd_that_was_wiped_is_another_cluster) {
  etcd_server server;
  const auto opened = must(open_directory(server.address("shop")));
  const auto identity = must(opened->identity());
  const watch_record record;
  const auto watch = must(opened->watch("", 1, record.handlers()));
  put(*opened, "a", "1");
  put(*opened, "a", "2");
  ASSERT_TRUE(record.has_changes(2));
  server.kill(0);
  server.wipe(0);
  server.start(0);
  server.wait_until_healthy();
  const auto listing = opened->list("");
  ASSERT_EQ(code_of(listing), directory_errc::another_cluster);
  EXPECT_THAT(listing.error().message(), HasSubstr("lost"));
  EXPECT_EQ(record.end_code(), directory_errc::another_cluster);
  const auto anew = must(open_directory(server.address("shop")));
  EXPECT_NE(must(anew->identity()), identity);
}

TEST(etcd_members, an_etcd_that_was_wiped_is_another_cluster_even_if_it_has_caught_up) {
  etcd_server server;
  const auto opened = must(open_directory(server.address("shop")));
  const auto identity = must(opened->identity());
  const watch_record record;
  const auto watch = must(opened->watch("", 1, record.handlers()));
  put(*opened, "a", "1");
  ASSERT_TRUE(record.has_changes(1));
  server.kill(0);
  server.wipe(0);
  server.move(0);
  server.start(0);
  server.wait_until_healthy();
  {
    const auto other = must(open_directory(server.address("shop")));
    EXPECT_NE(must(other->identity()), identity);
    for (int each = 0; each < 20; ++each)
      put(*other, "b", "2");
  }
  server.kill(0);
  server.move(0);
  server.start(0);
  server.wait_until_healthy();
  EXPECT_EQ(code_of(opened->commit({}, directory_writes{putting("a", "2")})), directory_errc::another_cluster);
  EXPECT_EQ(code_of(opened->list("")), directory_errc::another_cluster);
}

TEST(etcd_members, a_member_that_was_wiped_and_added_again_serves_the_directory) {
  etcd_server server{{.members = 3}};
  const auto wiped = (server.leader() + 1) % 3;
  const auto opened = must(open_directory(server.address("shop", beginning_with(wiped, server))));
  const watch_record record;
  const auto watch = must(opened->watch("", must(opened->list("")).revision + 1, record.handlers()));
  put(*opened, "before", "1");
  ASSERT_TRUE(has_seen(record, "before"));
  server.kill(wiped);
  server.wipe(wiped);
  server.add_again(wiped);
  server.wait_until_healthy();
  put_at_last(*opened, "after", "2");
  EXPECT_TRUE(has_seen(record, "after"));
  EXPECT_EQ(record.contents_so_far().changes.size(), 2U);
  const auto there = must(open_directory(server.address("shop", {wiped})));
  EXPECT_EQ(keys_below(*there, ""), (std::vector<std::string>{"after", "before"}));
  EXPECT_EQ(must(there->identity()), must(opened->identity()));
}

TEST(etcd_members, endpoints_of_two_clusters_are_refused) {
  etcd_server one, other;
  const auto opened = must(open_directory("etcd://" + one.endpoint(0) + ',' + other.endpoint(0) + "/shop"));
  put(*opened, "a", "1");
  one.kill(0);
  EXPECT_EQ(code_of(opened->list("")), directory_errc::another_cluster);
}

} // namespace

} // namespace troupe::tests
