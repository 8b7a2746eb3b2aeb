// One process's view of directories of kind host://.
#include "recorded_watch.hpp"
#include "temporary_state.hpp"

#include <troupe/framework/cluster/internal/host/clock.hpp>
#include <troupe/framework/cluster/internal/host/host_directory.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../eventually.hpp"

#include <fstream>
#include <set>
#include <thread>

#include <sys/stat.h>

namespace troupe::tests {

namespace {

using namespace std::chrono_literals;
using cluster_directories::host_settings;
using cluster_directories::open_host_directory;
using cluster_directories::settings_of_host;
using ::testing::HasSubstr;

class host_directory_test : public ::testing::Test {
protected:
  [[nodiscard]] static std::shared_ptr<directory> open(const std::string& name = "shop") {
    auto opened = open_host_directory(name, {});
    if (!opened)
      throw std::runtime_error{opened.error().message()};
    return *std::move(opened);
  }
  [[nodiscard]] static std::shared_ptr<directory> open(const host_settings& settings) {
    auto opened = cluster_directories::open_host_file("host://shop", settings);
    if (!opened)
      throw std::runtime_error{opened.error().message()};
    return *std::move(opened);
  }
  [[nodiscard]] static directory_error error_of_open(const std::string& name = "shop") {
    auto opened = open_host_directory(name, {});
    return opened ? directory_error{directory_errc::none, ""} : opened.error();
  }
  [[nodiscard]] static host_settings settings(const std::string& name = "shop") {
    return settings_of_host(name, {}).value();
  }

  /// Puts a key, and returns the revision.
  static std::uint64_t put(directory& to, const std::string& key, const std::string& value = "x",
                           std::uint64_t lease = 0) {
    const std::vector<directory_write> writes{{.key = key, .value = value, .lease = lease}};
    auto done = to.commit({}, writes);
    EXPECT_TRUE(done) << done.error().message();
    return done ? done->revision : 0;
  }
  static std::uint64_t revision_of(directory& of) { return of.list("").value().revision; }
  static std::size_t count(directory& of, const std::string& prefix = "") { return of.list(prefix)->entries.size(); }

  temporary_state state_;
};

TEST_F(host_directory_test, a_new_directory_is_empty_and_starts_at_revision_one) {
  const auto opened = open();
  const auto listing = opened->list("");
  ASSERT_TRUE(listing);
  EXPECT_EQ(listing->revision, 1u);
  EXPECT_TRUE(listing->entries.empty());
  EXPECT_EQ(opened->shown_address(), "host://shop");
}

TEST_F(host_directory_test, revisions_identity_and_entries_survive_the_last_close) {
  auto opened = open();
  const auto identity = opened->identity().value();
  const auto revision = put(*opened, "a");
  opened.reset();
  EXPECT_FALSE(std::filesystem::exists(state_.file("shop").string() + "-wal"));
  opened = open();
  EXPECT_EQ(opened->identity().value(), identity);
  EXPECT_EQ(revision_of(*opened), revision);
  EXPECT_EQ(count(*opened), 1u);
  EXPECT_GT(put(*opened, "b"), revision);
  EXPECT_NE(open("other")->identity().value(), identity);
}

TEST_F(host_directory_test, several_directories_on_one_name_in_one_process_see_each_others_changes) {
  const auto one = open();
  auto two = open();
  const auto seen = std::make_shared<recorded_watch>();
  const auto watch = two->watch("", 2, recorded_watch::handlers_of(seen)).value();
  put(*one, "a");
  EXPECT_TRUE(eventually([&] { return seen->count() == 1; }));
  // Closing one of them drops no lock of the other one.
  open().reset();
  put(*one, "b");
  EXPECT_TRUE(eventually([&] { return seen->count() == 2; }));
  EXPECT_EQ(seen->breach(), "");
}

// Method: the fastest of five, because the machine may be loaded.
TEST_F(host_directory_test, a_watch_of_another_opening_sees_a_commit_within_100_ms) {
  const auto one = open();
  const auto two = open();
  const auto seen = std::make_shared<recorded_watch>();
  const auto watch = two->watch("", 2, recorded_watch::handlers_of(seen)).value();
  auto fastest = std::chrono::steady_clock::duration::max();
  for (std::size_t each = 1; each <= 5; ++each) {
    put(*one, "a", std::to_string(each));
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually([&] { return seen->count() == each; }));
    fastest = std::min(fastest, std::chrono::steady_clock::now() - begin);
  }
  EXPECT_LT(fastest, 100ms);
}

TEST_F(host_directory_test, a_start_of_the_host_ends_all_leases_and_their_entries_and_keeps_the_others) {
  auto booted = settings();
  booted.boot = "first boot";
  auto opened = open(booted);
  const auto lease = opened->grant(1min).value();
  put(*opened, "leased", "x", lease.id);
  const auto before = put(*opened, "lasting");
  opened.reset();
  booted.boot = "second boot";
  opened = open(booted);
  EXPECT_EQ(opened->keep_alive(lease.id).error().code(), directory_errc::lease_gone);
  EXPECT_EQ(count(*opened, "leased"), 0u);
  EXPECT_EQ(count(*opened, "lasting"), 1u);
  EXPECT_GT(revision_of(*opened), before);
  EXPECT_EQ(opened->watch("", before, {}).error().code(), directory_errc::compacted);
}

// Goal: revisions do not fall if the host loses its power after writes that were not written to the disk.
// Method: a copy of the files as the last write to the disk left them takes the place of the newer ones.
TEST_F(host_directory_test, no_revision_is_used_again_after_a_power_failure) {
  auto booted = settings();
  booted.boot = "first boot";
  booted.reserved_revisions = 50;
  std::uint64_t last = 0;
  const auto saved = state_.path() / "saved";
  {
    const auto opened = open(booted);
    put(*opened, "lasting"); // Is written to the disk, with everything before.
    std::filesystem::copy(state_.folder(), saved);
    const auto lease = opened->grant(1min).value();
    for (int each = 0; each < 40; ++each)
      last = put(*opened, "leased", std::to_string(each), lease.id);
  }
  std::filesystem::remove_all(state_.folder());
  std::filesystem::rename(saved, state_.folder());
  std::filesystem::permissions(state_.folder(), std::filesystem::perms::owner_all);
  std::filesystem::remove(state_.file("shop").string() + "-shm");
  booted.boot = "second boot";
  const auto opened = open(booted);
  EXPECT_GT(revision_of(*opened), last);
  EXPECT_GT(opened->list("lasting").value().revision, last);
  EXPECT_EQ(count(*opened), 1u);
}

TEST_F(host_directory_test, more_revisions_are_reserved_before_the_reserved_ones_are_used_up) {
  auto few = settings();
  few.reserved_revisions = 4;
  const auto opened = open(few);
  const auto lease = opened->grant(1min).value();
  auto last = revision_of(*opened);
  for (int each = 0; each < 30; ++each) {
    const auto next = put(*opened, "leased", "x", lease.id);
    EXPECT_EQ(next, last + 1);
    last = next;
    cluster_directories::sqlite_connection file{few.path};
    EXPECT_EQ(file.value_of("SELECT reserved >= revision FROM head"), "1");
  }
}

TEST_F(host_directory_test, a_watch_that_is_further_behind_than_the_kept_changes_ends_with_compacted) {
  auto bounded = settings();
  bounded.history.changes = 16;
  const auto opened = open(bounded);
  const auto early = put(*opened, "a");
  for (int each = 0; each < 40; ++each)
    put(*opened, "b", std::to_string(each));
  EXPECT_EQ(opened->watch("", early, {}).error().code(), directory_errc::compacted);
  const auto seen = std::make_shared<recorded_watch>();
  const auto watch = opened->watch("", revision_of(*opened) - 8, recorded_watch::handlers_of(seen));
  ASSERT_TRUE(watch);
  EXPECT_TRUE(eventually([&] { return seen->count() == 9; }));
}

// Method: the handler is blocked while more changes are written than are kept.
TEST_F(host_directory_test, a_watch_whose_handler_is_too_slow_ends_with_compacted) {
  auto bounded = settings();
  bounded.history.changes = 16;
  const auto opened = open(bounded);
  std::atomic<bool> goes_on{false};
  std::atomic<int> calls{0};
  std::atomic<directory_errc> end{directory_errc::none};
  const auto watch = opened->watch("", 2,
                                   {.on_changes =
                                        [&](auto, auto) {
                                          ++calls;
                                          goes_on.wait(false);
                                        },
                                    .on_end = [&](const directory_error& why) { end = why.code(); }});
  ASSERT_TRUE(watch);
  put(*opened, "a");
  ASSERT_TRUE(eventually([&] { return calls == 1; }));
  for (int each = 0; each < 40; ++each)
    put(*opened, "b", std::to_string(each));
  goes_on = true;
  goes_on.notify_all();
  EXPECT_TRUE(eventually([&] { return end == directory_errc::compacted; }));
}

TEST_F(host_directory_test, a_history_that_is_too_large_in_bytes_is_forgotten_too) {
  auto bounded = settings();
  bounded.history.bytes = 100'000;
  const auto opened = open(bounded);
  const auto early = put(*opened, "a");
  for (int each = 0; each < 4; ++each)
    put(*opened, "b", std::string(60'000, 'x'));
  EXPECT_EQ(opened->watch("", early, {}).error().code(), directory_errc::compacted);
  const auto seen = std::make_shared<recorded_watch>();
  const auto newest = opened->watch("", revision_of(*opened), recorded_watch::handlers_of(seen));
  ASSERT_TRUE(newest) << "the newest revision is always kept";
  EXPECT_TRUE(eventually([&] { return seen->count() == 1; }));
}

TEST_F(host_directory_test, many_changes_come_in_several_calls_and_no_revision_is_split) {
  const auto opened = open();
  std::vector<directory_write> writes;
  for (int each = 0; each < 100; ++each)
    writes.push_back({.key = "k" + std::to_string(each), .value = std::string(10'450, 'v')});
  for (int each = 0; each < 5; ++each)
    ASSERT_TRUE(opened->commit({}, writes));
  std::mutex mutex;
  std::vector<std::set<std::uint64_t>> calls;
  const auto watch = opened->watch("", 2, {.on_changes = [&](std::span<const directory_change> what, std::uint64_t) {
                                     const std::lock_guard guard{mutex};
                                     calls.emplace_back();
                                     for (const auto& change : what)
                                       calls.back().insert(change.entry.changed_revision);
                                   }});
  ASSERT_TRUE(watch);
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard guard{mutex};
    return calls.size() == 5;
  }));
  for (const auto& call : calls)
    EXPECT_EQ(call.size(), 1u);
}

TEST_F(host_directory_test, a_lease_ends_when_its_time_is_over_and_watches_see_it) {
  const auto opened = open();
  const auto other = open();
  const auto seen = std::make_shared<recorded_watch>();
  const auto watch = other->watch("", 2, recorded_watch::handlers_of(seen)).value();
  const auto lease = opened->grant(1ms).value();
  EXPECT_EQ(lease.time, 100ms) << "the shortest";
  put(*opened, "a", "x", lease.id);
  EXPECT_TRUE(eventually([&] { return seen->has_removed("a"); }));
  EXPECT_EQ(opened->keep_alive(lease.id).error().code(), directory_errc::lease_gone);
  EXPECT_EQ(seen->breach(), "");
}

TEST_F(host_directory_test, without_any_watch_whoever_looks_next_ends_the_lease) {
  const auto opened = open();
  const auto lease = opened->grant(100ms).value();
  put(*opened, "a", "x", lease.id);
  EXPECT_TRUE(eventually([&] { return count(*opened) == 0; }));
  const auto again = opened->grant(100ms).value();
  put(*opened, "a", "x", again.id);
  const std::vector<directory_condition> absent{{.key = "a"}};
  EXPECT_TRUE(eventually([&] { return opened->commit(absent, {})->is_applied; }));
}

TEST_F(host_directory_test, close_in_a_handler_ends_the_watch_and_destroying_the_directory_there_is_safe) {
  auto opened = open();
  std::atomic<directory_errc> end{directory_errc::none};
  auto other = open();
  const auto watch = opened->watch("", 2,
                                   {.on_changes =
                                        [&](auto, auto) {
                                          opened->close();
                                          opened.reset();
                                        },
                                    .on_end = [&](const directory_error& why) { end = why.code(); }});
  ASSERT_TRUE(watch);
  put(*other, "a");
  EXPECT_TRUE(eventually([&] { return end == directory_errc::closed; }));
  EXPECT_EQ(opened, nullptr);
}

TEST_F(host_directory_test, a_handler_may_call_the_directory_and_destroy_its_own_watch) {
  const auto opened = open();
  std::unique_ptr<directory_watch> watch;
  std::atomic<int> calls{0};
  std::atomic<bool> is_set{false};
  watch = opened
              ->watch("a", 2,
                      {.on_changes =
                           [&](auto, auto) {
                             ++calls;
                             is_set.wait(false);
                             EXPECT_EQ(opened->list("")->entries.size(), 1u);
                             put(*opened, "b");
                             watch.reset();
                           }})
              .value();
  is_set = true;
  is_set.notify_all();
  put(*opened, "a");
  EXPECT_TRUE(eventually([&] { return calls == 1; }));
  put(*opened, "a");
  const auto seen = std::make_shared<recorded_watch>();
  const auto later = opened->watch("", 2, recorded_watch::handlers_of(seen));
  EXPECT_TRUE(eventually([&] { return seen->count() == 3; }));
  EXPECT_EQ(calls, 1);
}

TEST_F(host_directory_test, threads_that_share_a_directory_lose_no_commit) {
  const auto opened = open();
  const auto seen = std::make_shared<recorded_watch>();
  const auto watch = opened->watch("", 2, recorded_watch::handlers_of(seen)).value();
  const auto lease = opened->grant(1min).value();
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        for (int each = 0; each < 50; ++each) {
          put(*opened, std::to_string(thread) + '/' + std::to_string(each), "x", lease.id);
          static_cast<void>(opened->list("0/"));
          static_cast<void>(opened->keep_alive(lease.id));
        }
      });
  }
  EXPECT_EQ(count(*opened), 200u);
  EXPECT_TRUE(eventually([&] { return seen->count() == 200; }));
  EXPECT_EQ(seen->breach(), "");
}

// Goal: SQLite begins the log anew only at a moment without readers, which never comes under such a load by itself.
TEST_F(host_directory_test, a_log_that_many_use_all_the_time_does_not_grow_beyond_its_bound) {
  auto bounded = settings();
  bounded.log_pages_max = 1'200;
  std::atomic<int> failures{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        const auto own = open(bounded);
        const auto lease = own->grant(1min).value();
        for (int each = 0; each < 300; ++each) {
          const std::vector<directory_write> writes{
              {.key = std::to_string(thread), .value = std::string(16'000, 'x'), .lease = lease.id}};
          failures += own->commit({}, writes) && own->list("") ? 0 : 1;
        }
      });
  }
  EXPECT_EQ(failures, 0);
}

TEST_F(host_directory_test, a_removed_file_is_another_cluster_for_those_that_have_it_open) {
  const auto opened = open();
  const auto seen = std::make_shared<recorded_watch>();
  const auto watch = opened->watch("", 2, recorded_watch::handlers_of(seen)).value();
  const auto identity = opened->identity().value();
  std::filesystem::remove(state_.file("shop"));
  EXPECT_EQ(opened->list("").error().code(), directory_errc::another_cluster);
  EXPECT_EQ(opened->grant(1s).error().code(), directory_errc::another_cluster);
  EXPECT_TRUE(eventually([&] { return seen->end() == directory_errc::another_cluster; }));
  std::filesystem::remove(state_.file("shop").string() + "-wal");
  std::filesystem::remove(state_.file("shop").string() + "-shm");
  EXPECT_NE(open()->identity().value(), identity);
}

TEST_F(host_directory_test, a_foreign_file_a_newer_one_and_a_damaged_one_are_refused_by_name) {
  open().reset();
  const auto write = [&](std::streamoff at, const std::string& bytes) {
    std::fstream file{state_.file("shop"), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(at);
    file << bytes;
  };
  const auto change = [&](const char* sql) {
    cluster_directories::sqlite_connection connection{state_.file("shop")};
    connection.execute(sql);
  };
  change("PRAGMA user_version = 2");
  EXPECT_EQ(error_of_open().code(), directory_errc::version_mismatch);
  EXPECT_THAT(error_of_open().message(), HasSubstr("another version"));
  change("PRAGMA user_version = 1; PRAGMA application_id = 7");
  EXPECT_EQ(error_of_open().code(), directory_errc::version_mismatch);
  EXPECT_THAT(error_of_open().message(), HasSubstr("is not the database of a directory"));
  change("PRAGMA application_id = 1414680644");
  EXPECT_EQ(error_of_open().code(), directory_errc::none);

  change("UPDATE head SET revision = -4");
  EXPECT_EQ(error_of_open().code(), directory_errc::system_failure);
  EXPECT_THAT(error_of_open().message(), HasSubstr("is damaged"));
  change("DELETE FROM head");
  EXPECT_THAT(error_of_open().message(), HasSubstr("is damaged"));

  write(4096, std::string(3 * 4096, '\x7f'));
  EXPECT_EQ(error_of_open().code(), directory_errc::system_failure);
  EXPECT_THAT(error_of_open().message(), HasSubstr("is damaged"));
  EXPECT_THAT(error_of_open().message(), HasSubstr("remove it"));
  write(0, std::string(200, 'z'));
  EXPECT_EQ(error_of_open().code(), directory_errc::version_mismatch);
}

TEST_F(host_directory_test, a_folder_or_file_that_others_can_read_or_that_is_a_link_is_refused_by_name) {
  open().reset();
  const auto folder = state_.folder();
  const auto file = state_.file("shop");
  ASSERT_EQ(::chmod(folder.c_str(), 0750), 0);
  EXPECT_EQ(error_of_open().code(), directory_errc::refused);
  EXPECT_THAT(error_of_open().message(), HasSubstr("chmod 700 " + folder.string()));
  ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0604), 0);
  EXPECT_EQ(error_of_open().code(), directory_errc::refused);
  EXPECT_THAT(error_of_open().message(), HasSubstr("chmod 600 " + file.string()));
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_EQ(error_of_open().code(), directory_errc::none);

  std::filesystem::rename(file, state_.path() / "elsewhere");
  std::filesystem::create_symlink(state_.path() / "elsewhere", file);
  EXPECT_EQ(error_of_open().code(), directory_errc::refused);
  EXPECT_THAT(error_of_open().message(), HasSubstr("symbolic link"));
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_EQ(error_of_open().code(), directory_errc::refused);
  std::filesystem::remove(file);
  std::filesystem::rename(folder, state_.path() / "other");
  std::filesystem::create_directory_symlink(state_.path() / "other", folder);
  EXPECT_EQ(error_of_open().code(), directory_errc::refused);
}

TEST_F(host_directory_test, a_name_that_is_not_a_file_name_of_the_folder_is_a_bad_address) {
  for (const auto* name : {"", ".", "..", ".x", "-x", "a/b", "../a", "a b", "\xc3\xa4"})
    EXPECT_EQ(error_of_open(name).code(), directory_errc::bad_address) << name;
  EXPECT_EQ(error_of_open(std::string(65, 'a')).code(), directory_errc::bad_address);
  EXPECT_EQ(error_of_open(std::string(64, 'a')).code(), directory_errc::none);
  EXPECT_EQ(error_of_open("Shop_1.eu-west").code(), directory_errc::none);
}

TEST_F(host_directory_test, the_folder_comes_from_the_first_variable_that_is_set) {
  const auto parent = state_.path();
  ::unsetenv("TROUPE_STATE_DIR");
  ::setenv("XDG_STATE_HOME", (parent / "xdg").c_str(), 1);
  open().reset();
  EXPECT_TRUE(std::filesystem::exists(parent / "xdg/troupe/clusters/shop.sqlite"));
  ::setenv("XDG_STATE_HOME", "relative", 1); // Is to be ignored, says the XDG specification.
  const auto home = std::string{std::getenv("HOME") != nullptr ? std::getenv("HOME") : ""};
  ::setenv("HOME", (parent / "home").c_str(), 1);
  open().reset();
  EXPECT_TRUE(std::filesystem::exists(parent / "home/.local/state/troupe/clusters/shop.sqlite"));
  ::setenv("TROUPE_STATE_DIR", "relative", 1);
  EXPECT_EQ(error_of_open().code(), directory_errc::bad_address);
  ::unsetenv("TROUPE_STATE_DIR");
  ::unsetenv("HOME");
  EXPECT_EQ(error_of_open().code(), directory_errc::bad_address);
  ::setenv("HOME", home.c_str(), 1);
  ::unsetenv("XDG_STATE_HOME");
}

TEST_F(host_directory_test, a_directory_with_too_many_pages_is_full_and_stays_readable) {
  auto small = settings();
  small.pages_max = 40;
  const auto opened = open(small);
  std::expected<directory_commit, directory_error> last;
  for (int each = 0; each < 100 && last; ++each) {
    const std::vector<directory_write> writes{{.key = std::to_string(each), .value = std::string(4'000, 'x')}};
    last = opened->commit({}, writes);
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code(), directory_errc::full);
  const auto listing = opened->list("");
  ASSERT_TRUE(listing);
  ASSERT_FALSE(listing->entries.empty());
  const std::vector<directory_write> removal{{.key = listing->entries[0].key, .what = directory_write::kind::remove}};
  EXPECT_TRUE(opened->commit({}, removal));
  EXPECT_EQ(count(*opened), listing->entries.size() - 1);
}

} // namespace

} // namespace troupe::tests
