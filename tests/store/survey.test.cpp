// Listing, inspecting and cleaning stores from outside.
#include "support.hpp"

#include <troupe/store/survey.hpp>

#include <filesystem>
#include <fstream>
#include <tuple>

namespace troupe::store::test {

namespace {

class reports_test : public store_test {
protected:
  [[nodiscard]] std::optional<found_store> found() const {
    for (auto& store : find_stores(settings_.directory))
      if (store.name == settings_.name)
        return store;
    return std::nullopt;
  }

  [[nodiscard]] auto inspected() const { return inspect(settings_.name, settings_.directory); }
  [[nodiscard]] auto cleaned() const { return clean(settings_.name, settings_.directory); }

  [[nodiscard]] static int first_byte_of(const std::filesystem::path& file) { return std::ifstream{file}.get(); }

  /// Leaves behind a store with two objects, whose only process was killed.
  void leave_one_behind() const {
    auto step = shared<std::atomic<int>>{};
    auto victim = child([&] {
      auto store = open();
      const auto inner = put(store, "inner");
      const auto outer = put(store, "outer", std::vector{inner.id()});
      *step = 1;
      ::pause();
      return 0;
    });
    ASSERT_TRUE(eventually([&] { return *step == 1; }));
    victim.kill_and_wait();
  }
};

TEST_F(reports_test, a_store_that_is_not_there_is_not_made) {
  EXPECT_EQ(code_of(inspected()), store_errc::not_found);
  EXPECT_EQ(code_of(cleaned()), store_errc::not_found);
  settings_.must_exist = true;
  EXPECT_EQ(message_of(object_store::open(settings_)), "no process has store \"" + settings_.name + "\" open");
  EXPECT_FALSE(found());
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(reports_test, a_store_in_use_is_found_and_looked_into_by_another_process) {
  auto store = open();
  const auto kept = put(store, "kept");
  EXPECT_EQ(found()->in_use_by, ::getpid());
  EXPECT_EQ(child([&] {
              const auto there = found();
              if (!there || there->in_use_by != ::getppid() || !there->is_of_this_layout || there->memory_bytes == 0)
                return 1;
              const auto summary = inspected();
              return summary && summary->rows.size() == 1 && summary->rows[0].id == kept.id() ? 0 : 2;
            }).wait(),
            fine);
  EXPECT_TRUE(inspected()); // Also by a process that has it open, whatever its options.
  EXPECT_TRUE(store.find(kept.id())) << "looking has dropped this process's locks";
  EXPECT_EQ(child([&] { return open().contains(kept.id()) ? 0 : 1; }).wait(), fine);
}

TEST_F(reports_test, what_dead_processes_left_is_seen_as_they_left_it_and_removed_on_demand) {
  leave_one_behind();
  const auto there = found();
  ASSERT_TRUE(there);
  EXPECT_EQ(there->in_use_by, std::nullopt);
  const auto lock = file_ending_in(".lock");
  std::filesystem::last_write_time(lock, std::filesystem::last_write_time(lock) - 2h);
  const auto state_of_lock = [&] {
    return std::tuple{std::filesystem::last_write_time(lock), std::filesystem::file_size(lock), first_byte_of(lock)};
  };
  const auto before = state_of_lock();
  for (auto round = 0; round < 2; ++round) { // Inspecting changes nothing, not even the time of last use.
    const auto summary = inspected();
    ASSERT_TRUE(summary) << message_of(summary);
    ASSERT_EQ(summary->rows.size(), 2u);
    EXPECT_EQ(summary->rows[0].captured_by, std::vector{summary->rows[1].id});
    EXPECT_EQ(state_of_lock(), before);
  }
  const auto removed = cleaned();
  ASSERT_TRUE(removed) << message_of(removed);
  EXPECT_EQ(*removed, std::nullopt);
  EXPECT_FALSE(found());
  EXPECT_EQ(files(), std::vector<std::string>{});
}

// Goal: a summary limited to the largest objects has the same rows for them as a full summary, and counts the others.
TEST_F(reports_test, a_summary_of_the_largest_objects_says_the_same_of_them_as_one_of_all) {
  auto store = open();
  auto held = std::vector<handle>{};
  for (auto which = 0; which < 600; ++which) {
    const auto captured = which < 10 ? std::vector<object_id>{} : std::vector{held.back().id()};
    held.push_back(put(store, std::string(static_cast<std::size_t>(which * 7 % 600 + 1), 'x'), captured));
  }
  auto theirs = child([&] {
    auto mine = open();
    const auto found = *mine.find(held[5].id());
    const auto own = mine.summary({.only_own = true});
    return own && own->rows.size() == 1 && own->rows[0].id == found.id() && own->rows_left_off == 0 ? 0 : 1;
  });
  EXPECT_EQ(theirs.wait(), fine);
  const auto all = store.summary().value();
  const auto some = store.summary({.rows_max = 25}).value();
  ASSERT_EQ(some.rows.size(), 25u);
  EXPECT_EQ(some.rows_left_off, 575u);
  auto bytes = std::size_t{0};
  for (const auto& row : all.rows)
    bytes += row.size_bytes;
  for (const auto& row : some.rows) {
    bytes -= row.size_bytes;
    EXPECT_GT(row.size_bytes, 575u);
    const auto same = std::ranges::find(all.rows, row.id, &object_row::id);
    ASSERT_NE(same, all.rows.end());
    EXPECT_EQ(row.captured_by, same->captured_by);
    EXPECT_EQ(row.captures, same->captures);
    EXPECT_EQ(row.holders, same->holders);
  }
  EXPECT_EQ(some.bytes_left_off, bytes);
  EXPECT_EQ(some.objects, 600u);
  EXPECT_EQ(store.summary({.rows_max = 0})->rows_left_off, 600u);
}

TEST_F(reports_test, cleaning_all_removes_what_is_left_and_reaps_what_is_in_use) {
  settings_.directory = settings_.directory / ("troupe-clean-all-" + settings_.name);
  std::filesystem::create_directory(settings_.directory);
  const auto kept_name = settings_.name;
  {
    auto store = open();
    const auto kept = put(store, "kept");
    for (const auto* number : {"_1", "_2"}) {
      settings_.name = kept_name + number;
      leave_one_behind();
    }
    const auto prefix = "troupe." + std::to_string(::geteuid()) + "." + kept_name + "_old.";
    for (const auto* end : {"0123.v5.data", "0123.v5.lock", "4567.v1.control"})
      std::ofstream{settings_.directory / (prefix + end)} << "left";
    EXPECT_EQ(child([&] {
                const auto cleaned = clean_all(settings_.directory);
                const auto removed = std::ranges::count(cleaned, true, &cleaned_store::is_removed);
                const auto problems =
                    std::ranges::count_if(cleaned, [](const auto& each) { return !each.problem.empty(); });
                return cleaned.size() == 5 && removed == 4 && problems == 0 ? 0 : 1;
              }).wait(),
              fine);
    const auto left = find_stores(settings_.directory);
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(left[0].name, kept_name);
    EXPECT_EQ(read(kept), "kept");
  }
  EXPECT_TRUE(std::filesystem::is_empty(settings_.directory));
  std::filesystem::remove(settings_.directory);
  settings_.directory = "/dev/shm"; // The fixture looks for leftover files here.
}

// Goal: the leftover files of a store whose name is never used again do not stay until the next boot.
// Method: the files are those that a first opener leaves if it is killed between creating two of them.
TEST_F(reports_test, cleaning_removes_what_an_opener_left_that_was_killed_early) {
  const auto of_a_store = [&] {
    auto store = open();
    auto lock = std::filesystem::path{};
    for (const auto& file : files())
      if (file.ends_with(".lock"))
        lock = settings_.directory / file;
    return lock;
  }();
  ASSERT_FALSE(of_a_store.empty());
  const auto make = [&](const std::string& end) {
    auto path = of_a_store;
    std::ofstream{path.replace_extension(end)} << "";
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  };
  for (const auto& left : std::vector<std::vector<std::string>>{
           {"lock"}, {"lock", "data.new"}, {"data.new"}, {"lock", "data", "control.new"}}) {
    std::ranges::for_each(left, make);
    EXPECT_EQ(inspect(settings_.name, settings_.directory).error().code(), store_errc::not_found);
    const auto by_name = clean(settings_.name, settings_.directory);
    EXPECT_TRUE(by_name && !*by_name) << message_of(by_name);
    EXPECT_TRUE(files().empty()) << files().front();
    std::ranges::for_each(left, make);
    for (const auto& each : clean_all(settings_.directory)) {
      if (each.store.name == settings_.name) {
        EXPECT_TRUE(each.is_removed) << each.problem;
      }
    }
    EXPECT_TRUE(files().empty()) << files().front();
  }
}

TEST_F(reports_test, opening_any_store_removes_those_that_were_left_an_hour_ago) {
  settings_.directory = settings_.directory / ("troupe-forgotten-" + settings_.name);
  std::filesystem::create_directory(settings_.directory);
  const auto open_another = [&] {
    auto other = settings_;
    other.name += "_another";
    (void)open(other);
  };
  leave_one_behind();
  open_another();
  EXPECT_TRUE(found());
  const auto lock = file_ending_in(".lock");
  std::filesystem::last_write_time(lock, std::filesystem::last_write_time(lock) - 2h);
  {
    const auto used = open(); // Opening counts as use, however old the last use is.
    open_another();
    EXPECT_TRUE(found());
  }
  leave_one_behind();
  const auto again = file_ending_in(".lock");
  std::filesystem::last_write_time(again, std::filesystem::last_write_time(again) - 2h);
  open_another();
  EXPECT_FALSE(found());
  EXPECT_TRUE(std::filesystem::is_empty(settings_.directory));
  std::filesystem::remove(settings_.directory);
  settings_.directory = "/dev/shm"; // The fixture looks for leftover files here.
}

TEST_F(reports_test, cleaning_a_store_in_use_reaps_the_dead_only) {
  auto store = open();
  const auto kept = put(store, "kept");
  auto step = shared<std::atomic<int>>{};
  auto victim = child([&] {
    auto mine = open();
    const auto own = put(mine, "own");
    *step = 1;
    ::pause();
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  victim.kill_and_wait();
  EXPECT_EQ(child([&] { // Opening the store reaps already.
              const auto reaped = cleaned();
              return reaped && *reaped ? 0 : 1;
            })
                .wait(),
            fine);
  EXPECT_EQ(store.summary()->rows.size(), 1u);
  EXPECT_TRUE(store.contains(kept.id()));
}

} // namespace

} // namespace troupe::store::test
