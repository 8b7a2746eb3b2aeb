// What an etcd refuses because of its size or its history.
#include "../../eventually.hpp"
#include "../directory_words.hpp"
#include "../etcd_server.hpp"
#include "../watch_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe::tests {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

void compact(etcd_server& server, std::uint64_t revision) {
  server.post(0, "kv/compaction", R"({"physical":true,"revision":")" + std::to_string(revision) + "\"}");
}

TEST(etcd_limits, a_watch_from_before_a_compaction_ends_with_its_name) {
  etcd_server server;
  const auto opened = must(open_directory(server.address("shop")));
  const auto first = put(*opened, "a", "1");
  const auto last = put(*opened, "a", "2");
  compact(server, last);
  const watch_record record;
  const auto watch = must(opened->watch("", first, record.handlers()));
  EXPECT_EQ(record.end_code(), directory_errc::compacted);
  EXPECT_EQ(record.contents_so_far().calls_after_end, 0);
  EXPECT_THAT(record.contents_so_far().end->message(), HasSubstr(std::to_string(last)));
  // What the error advises.
  const watch_record anew;
  const auto watch_anew = must(opened->watch("", must(opened->list("")).revision + 1, anew.handlers()));
  put(*opened, "a", "3");
  EXPECT_TRUE(anew.has_changes(1));
}

TEST(etcd_limits, a_watch_that_was_away_during_a_compaction_ends_with_its_name) {
  etcd_server server;
  const auto opened = must(open_directory(server.address("shop"), {.timeout = 500ms}));
  const watch_record record;
  const auto watch = must(opened->watch("", must(opened->list("")).revision + 1, record.handlers()));
  put(*opened, "a", "1");
  ASSERT_TRUE(record.has_changes(1));
  // While the client cannot reach it, another one writes and compacts.
  server.kill(0);
  server.move(0);
  server.start(0);
  server.wait_until_healthy();
  {
    const auto other = must(open_directory(server.address("shop")));
    put(*other, "a", "2");
    compact(server, put(*other, "a", "3"));
  }
  server.kill(0);
  server.move(0);
  server.start(0);
  EXPECT_EQ(record.end_code(), directory_errc::compacted);
}

TEST(etcd_limits, an_etcd_without_room_is_full_and_still_takes_removals) {
  etcd_server server{{.words = {"--quota-backend-bytes", "1000000"}}};
  const auto opened = must(open_directory(server.address("shop")));
  const auto lease = must(opened->grant(60s));
  const std::string large(directory::value_bytes_max, 'v');
  put(*opened, "first", "", lease.id);
  std::optional<directory_error> error;
  ASSERT_TRUE(eventually([&] {
    const auto done = opened->commit({}, directory_writes{putting("large", large)});
    if (!done)
      error = done.error();
    return error.has_value();
  }));
  EXPECT_EQ(error->code(), directory_errc::full);
  EXPECT_THAT(error->message(), HasSubstr("--quota-backend-bytes"));
  EXPECT_EQ(code_of(opened->grant(60s)), directory_errc::full);
  EXPECT_TRUE(opened->keep_alive(lease.id).has_value());
  EXPECT_EQ(keys_below(*opened, "").size(), 2U);
  remove(*opened, "large");
  EXPECT_TRUE(opened->revoke(lease.id).has_value());
  EXPECT_EQ(keys_below(*opened, "").size(), 0U);
}

TEST(etcd_limits, a_commit_that_is_too_large_for_this_etcd_is_refused) {
  etcd_server server{{.words = {"--max-request-bytes", "100000"}}};
  const auto opened = must(open_directory(server.address("shop")));
  const std::string large(directory::value_bytes_max, 'v');
  EXPECT_EQ(code_of(opened->commit({}, directory_writes{putting("a", large), putting("b", large)})),
            directory_errc::invalid_argument);
  put(*opened, "a", large);
}

TEST(etcd_limits, times_of_leases_are_whole_seconds_and_not_below_what_etcd_grants) {
  etcd_server server;
  const auto opened = must(open_directory(server.address("shop")));
  EXPECT_EQ(must(opened->grant(1'001ms)).time, 2s);
  EXPECT_EQ(must(opened->grant(60s)).time, 60s);
  EXPECT_GE(must(opened->grant(1ms)).time, 1s);
  EXPECT_EQ(code_of(opened->grant(std::chrono::seconds{9'000'000'001})), directory_errc::invalid_argument);
}

} // namespace

} // namespace troupe::tests
