// The spill disk is damaged, full or gone, and then works again. Only objects that lay on that disk are lost.
#include "spilling.hpp"

#include <sched.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

namespace troupe::store::test {

namespace {

/// If several requests wait, those behind the first may be told of the first instead of the disk.
[[nodiscard]] bool is_full(store_errc code) {
  return code == store_errc::full || code == store_errc::disk_full;
}

class disk_test : public spilling_test {
protected:
  /// Opens a store in which object 0 lies on disk, in a file that it shares with no other object.
  void spill_one() {
    store_.emplace(open());
    first_ = put(*store_, content(0));
    others_ = put_many(*store_, 9);
    ASSERT_TRUE(eventually([&] { return state_of(*store_, first_.id()) == object_state::spilled; }));
  }

  void TearDown() override {
    first_ = {};
    others_.clear();
    store_.reset();
    spilling_test::TearDown();
  }

  [[nodiscard]] std::filesystem::path only_file() const {
    const auto names = spill_files();
    EXPECT_GE(names.size(), 1u);
    return settings_.spill_directory / *std::ranges::min_element(names);
  }

  std::optional<object_store> store_;
  handle first_;
  std::vector<handle> others_;
};

TEST_F(disk_test, a_changed_byte_is_an_error_for_that_object_alone) {
  spill_one();
  {
    auto file = std::fstream{only_file(), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(100);
    file.put('x');
    file.seekp(101);
    file.put('y');
  }
  const auto damaged = first_.pin();
  EXPECT_EQ(code_of(damaged), store_errc::damaged);
  EXPECT_NE(message_of(damaged).find("the checksum of "), std::string::npos) << message_of(damaged);
  EXPECT_EQ(read(others_.back()), content(8));
  EXPECT_EQ(code_of(first_.pin()), store_errc::damaged);
  EXPECT_TRUE(store_->verify()) << message_of(store_->verify());
}

TEST_F(disk_test, a_file_that_is_gone_or_cut_short_is_an_error_for_its_objects_alone) {
  spill_one();
  const auto file = only_file();
  std::filesystem::resize_file(file, 10);
  EXPECT_NE(message_of(first_.pin()).find("is cut short"), std::string::npos) << message_of(first_.pin());
  std::filesystem::remove(file);
  EXPECT_NE(message_of(first_.pin()).find("is gone"), std::string::npos) << message_of(first_.pin());
  EXPECT_EQ(read(others_.back()), content(8));
  EXPECT_TRUE(store_->verify()) << message_of(store_->verify());
}

TEST_F(disk_test, a_disk_that_cannot_be_written_loses_nothing_and_is_named) {
  store_.emplace(open());
  std::filesystem::remove_all(settings_.spill_directory); // Like a disk that was taken out.
  others_ = put_many(*store_, 10);
  const auto refused = store_->put(bytes_of(content(10)));
  EXPECT_EQ(code_of(refused), store_errc::full);
  EXPECT_NE(message_of(refused).find(settings_.spill_directory.string()), std::string::npos) << message_of(refused);
  for (auto which = 0; which < 10; ++which)
    EXPECT_EQ(read(others_[static_cast<std::size_t>(which)]), content(which));
  std::filesystem::create_directories(settings_.spill_directory);
  EXPECT_TRUE(eventually([&] { return store_->put(bytes_of(content(10))).has_value(); }));
}

// --- A small disk ----------------------------------------------------------------------------------------------------

/// Mounts a file system as the spill directory, which only this process and its children see.
class small_disk_test : public spilling_test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(settings_.spill_directory);
    if (!enter_own_mount_namespace() || ::mount("tmpfs", directory(), "tmpfs", 0, "size=2m") != 0)
      GTEST_SKIP() << "no right to mount";
    is_mounted_ = true;
  }

  void TearDown() override {
    all_.clear();
    let_all_be_free();
    spilling_test::TearDown();
    if (is_mounted_) {
      EXPECT_EQ(::umount2(directory(), MNT_DETACH), 0);
    }
  }

  [[nodiscard]] const char* directory() const { return settings_.spill_directory.c_str(); }

  /// Takes all of the disk except `bytes`, with a file that is not the store's.
  void leave_free(std::size_t bytes) {
    let_all_be_free();
    auto file = std::ofstream{ballast_, std::ios::binary};
    file << std::string(std::filesystem::space(settings_.spill_directory).available - bytes, 'b');
  }

  void let_all_be_free() const { std::filesystem::remove(ballast_); }

  void become(unsigned long flags) const {
    ASSERT_TRUE(eventually([&] { return ::mount(nullptr, directory(), nullptr, MS_REMOUNT | flags, nullptr) == 0; }))
        << std::strerror(errno);
  }

  /// Puts objects until `put` fails. Returns the error.
  [[nodiscard]] store_error fill(object_store& store) {
    for (;;) {
      auto made = store.put(bytes_of(content(static_cast<int>(all_.size()))));
      if (!made)
        return made.error();
      all_.push_back(std::move(*made));
    }
  }

  /// Expects each object to be whole and to begin at a multiple of 64.
  void expect_all_readable() const {
    for (auto which = std::size_t{0}; which < all_.size(); ++which) {
      if (all_[which].empty())
        continue;
      const auto view = all_[which].pin();
      ASSERT_TRUE(view) << which << ": " << message_of(view);
      EXPECT_TRUE(text_of(view->bytes()) == content(static_cast<int>(which))) << which;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view->bytes().data()) % 64, 0u);
    }
  }

  [[nodiscard]] std::size_t count_on_disk() const {
    return static_cast<std::size_t>(std::ranges::count_if(all_, &handle::is_on_disk));
  }

  /// Drops `count` of the objects that lie in memory.
  void drop_in_memory(std::size_t count) {
    for (auto& each : all_)
      if (!each.empty() && !each.is_on_disk() && count > 0) {
        each = {};
        --count;
      }
    ASSERT_EQ(count, 0u);
  }

  bool is_mounted_ = false;
  std::vector<handle> all_;
  const std::filesystem::path ballast_ = settings_.spill_directory / "somebody else's";
};

// Goal: if the disk is full, `put` fails with the numbers and the reason. No object is lost, and all can be read as
// soon as the disk has room again.
TEST_F(small_disk_test, that_runs_full_loses_nothing_and_goes_on_when_there_is_room_again) {
  auto store = open();
  leave_free(512u << 10);
  const auto refused = fill(store);
  EXPECT_EQ(refused.code(), store_errc::disk_full);
  for (const auto* part : {"object of 104,832 bytes, store has ", " free of 1,048,576", "No space left on device"})
    EXPECT_NE(refused.message().find(part), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find(directory()), std::string::npos) << refused.message();
  EXPECT_GE(all_.size(), 13u); // Ten in memory and four on disk, minus one if a write was in progress.
  expect_all_readable();
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  let_all_be_free();
  EXPECT_TRUE(eventually([&] { return all_.front().pin() && !all_.front().is_on_disk(); }));
  expect_all_readable();
  EXPECT_TRUE(eventually([&] { return store.put(bytes_of(content(99))).has_value(); }));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

// Goal: a full disk, which other callers retry for half a second, does not delay a reader that has no time to wait.
// Method: nine in ten of all reads return within half of that time; a few may wait for a processor.
TEST_F(small_disk_test, that_is_full_keeps_nobody_longer_than_it_can_wait) {
  settings_.full_grace = 1s;
  auto store = open();
  leave_free(512u << 10);
  EXPECT_EQ(fill(store).code(), store_errc::disk_full);
  auto has_ended = std::atomic{false};
  auto patient = std::jthread{[&] { // Retries for as long as it may.
    while (!has_ended)
      (void)store.put(bytes_of(content(99)));
  }};
  auto pins = 0;
  auto late = 0;
  const auto pin_all = [&](std::chrono::milliseconds within) {
    for (const auto& each : all_) {
      const auto begin = std::chrono::steady_clock::now();
      const auto view = each.pin(within);
      ++pins;
      late += std::chrono::steady_clock::now() - begin - within < 250ms ? 0 : 1;
      EXPECT_TRUE(view) << message_of(view);
    }
  };
  // After a failure the store leaves the disk alone for a second.
  const auto until = std::chrono::steady_clock::now() + 2500ms;
  while (std::chrono::steady_clock::now() < until) {
    pin_all(0ms);
    pin_all(20ms);
  }
  has_ended = true;
  EXPECT_LT(10 * late, pins);
}

TEST_F(small_disk_test, that_is_full_has_room_again_when_objects_are_let_go) {
  auto store = open();
  leave_free(512u << 10);
  EXPECT_EQ(fill(store).code(), store_errc::disk_full);
  const auto before = all_.size();
  for (auto which = std::size_t{0}; which < before; which += 2)
    all_[which] = {};
  auto again = std::vector<handle>{};
  for (auto count = 0; count < 3; ++count) { // More would leave no room to restore.
    auto made = store.put(bytes_of(content(100)), {}, {}, 10s);
    ASSERT_TRUE(made) << message_of(made);
    again.push_back(std::move(*made));
  }
  for (auto which = std::size_t{1}; which < before; which += 2)
    EXPECT_TRUE(eventually([&] { return read(all_[which]) == content(static_cast<int>(which)); })) << which;
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

// Goal: if neither memory nor disk has room, all held objects can still be read, because they are read in place on the
// disk.
TEST_F(small_disk_test, that_is_full_beside_full_memory_lets_all_that_is_held_be_read_by_everybody) {
  auto store = open();
  leave_free(1u << 20);
  EXPECT_EQ(fill(store).code(), store_errc::disk_full);
  const auto on_disk = count_on_disk();
  EXPECT_GT(on_disk, 4u);
  expect_all_readable();
  auto views = std::vector<pin>{};
  for (const auto& each : all_)
    views.push_back(*each.pin(0ms)); // All pinned at the same time.
  for (auto which = std::size_t{0}; which < all_.size(); ++which)
    EXPECT_TRUE(text_of(views[which].bytes()) == content(static_cast<int>(which))) << which;
  EXPECT_EQ(count_on_disk(), on_disk);
  views.clear();
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  if (may_fork_beside_threads) {
    EXPECT_EQ(child([&] {
                auto theirs = open();
                for (auto which = std::size_t{0}; which < all_.size(); ++which)
                  if (const auto found = theirs.find(all_[which].id());
                      !found || read(*found) != content(static_cast<int>(which)))
                    return 1;
                return 0;
              }).wait(),
              fine);
  }
}

// Goal: an object that still has a copy on disk is evicted without a write.
// Method: a few objects are dropped from memory. Each object that is read after that takes the place of one that was
// read before.
TEST_F(small_disk_test, that_is_full_lets_what_was_read_back_make_room_for_what_is_read_next) {
  auto store = open();
  leave_free(1u << 20);
  EXPECT_EQ(fill(store).code(), store_errc::disk_full);
  drop_in_memory(2);
  auto read_back = 0;
  for (const auto& each : all_)
    if (each.is_on_disk()) {
      EXPECT_TRUE(each.pin());
      EXPECT_FALSE(each.is_on_disk());
      ++read_back;
    }
  EXPECT_GT(read_back, 4);
  expect_all_readable();
  // A new object also finds room there.
  const auto made = store.put(bytes_of(content(200)));
  EXPECT_TRUE(made) << message_of(made);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

// Goal: if many small objects would go to one file but the disk has room for only some of them, those are spilled.
TEST_F(small_disk_test, that_has_room_for_a_few_takes_those) {
  auto store = open();
  constexpr auto small = tenth / 16;
  leave_free(4 * small);
  auto made = store.put(bytes_of(content(0, small)));
  for (auto which = 1; made; ++which) {
    all_.push_back(std::move(*made));
    made = store.put(bytes_of(content(which, small)));
  }
  EXPECT_EQ(code_of(made), store_errc::disk_full);
  EXPECT_GE(count_on_disk(), 2u);
  for (auto which = std::size_t{0}; which < all_.size(); ++which)
    EXPECT_TRUE(read(all_[which]) == content(static_cast<int>(which), small)) << which;
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(small_disk_test, that_cannot_be_written_for_a_while_can_still_be_read) {
  auto store = open();
  for (auto which = 0; which < 14; ++which)
    all_.push_back(put(store, content(which)));
  ASSERT_TRUE(is_calm(store));
  become(MS_RDONLY);
  all_.erase(all_.begin() + 8, all_.end()); // Makes room in memory for the objects on disk.
  expect_all_readable();
  const auto refused = fill(store);
  EXPECT_EQ(refused.code(), store_errc::full);
  EXPECT_NE(refused.message().find("Read-only file system"), std::string::npos) << refused.message();
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  expect_all_readable();
  become(0);
  expect_all_readable();
  EXPECT_TRUE(eventually([&] { return store.put(bytes_of(content(99))).has_value(); }));
}

/// Counts the files created in a directory.
class made_files {
public:
  explicit made_files(const std::filesystem::path& directory) : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(::inotify_add_watch(events_, directory.c_str(), IN_CREATE), 0);
  }
  made_files(const made_files&) = delete;
  made_files& operator=(const made_files&) = delete;
  ~made_files() { ::close(events_); }

  [[nodiscard]] std::size_t count() {
    alignas(inotify_event) auto buffer = std::array<char, 4096>{};
    for (auto got = ::read(events_, buffer.data(), buffer.size()); got > 0;
         got = ::read(events_, buffer.data(), buffer.size()))
      for (auto at = std::size_t{0}; at < static_cast<std::size_t>(got); ++count_)
        at += sizeof(inotify_event) + reinterpret_cast<const inotify_event*>(buffer.data() + at)->len;
    return count_;
  }

private:
  int events_;
  std::size_t count_ = 0;
};

// Goal: a full disk is retried about once a second, not continuously, and a process that waits for it does not spin.
TEST_F(small_disk_test, that_stays_full_is_tried_about_once_a_second_and_costs_little_time_of_the_processor) {
  if (!may_fork_beside_threads)
    GTEST_SKIP() << "ThreadSanitizer cannot follow processes forked beside threads";
  settings_.full_grace = 3s;
  auto store = open();
  leave_free(64u << 10);
  for (auto which = 0; which < 10; ++which)
    all_.push_back(put(store, content(which)));
  auto tries = made_files{settings_.spill_directory};
  const auto began = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  auto others = std::vector<child>{};
  for (auto number = 0; number < 2; ++number)
    others.emplace_back([&] {
      auto mine = open();
      if (const auto made = mine.put(bytes_of(content(50))); !is_full(code_of(made))) {
        std::cerr << "put: " << message_of(made) << std::endl;
        return 1;
      }
      auto used = rusage{};
      ::getrusage(RUSAGE_SELF, &used);
      const auto worked = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
                          + static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
      if (worked < elapsed() / 4)
        return 0;
      std::cerr << "worked for " << worked << " s of " << elapsed() << " s" << std::endl;
      return 2;
    });
  const auto refused = store.put(bytes_of(content(50)));
  EXPECT_TRUE(is_full(code_of(refused))) << message_of(refused);
  for (auto& other : others)
    EXPECT_EQ(other.wait(), fine);
  // There are three processes. One that gives up may make another one try at once.
  EXPECT_LE(tries.count(), 4 * 3 * (1 + static_cast<std::size_t>(elapsed()))) << "in " << elapsed() << " s";
  expect_all_readable();
}

// Method: threads run out of time one after the other, which cuts the tries of the others short.
TEST_F(small_disk_test, that_stays_full_is_tried_seldom_by_threads_that_run_out_of_time) {
  settings_.full_grace = 300ms;
  auto store = open();
  leave_free(64u << 10);
  for (auto which = 0; which < 10; ++which)
    all_.push_back(put(store, content(which)));
  auto tries = made_files{settings_.spill_directory};
  const auto began = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  std::atomic<int> others{0};
  {
    auto threads = std::vector<std::jthread>{};
    for (auto number = 0; number < 8; ++number)
      threads.emplace_back([&, number] {
        std::this_thread::sleep_for(number * 40ms);
        for (auto round = 0; round < 6; ++round)
          if (const auto made = store.put(bytes_of(content(50))); !is_full(code_of(made)))
            ++others;
      });
  }
  EXPECT_EQ(others, 0);
  EXPECT_LE(tries.count(), 15 * (1 + static_cast<std::size_t>(elapsed()))) << "in " << elapsed() << " s";
  expect_all_readable();
}

// Method: four processes fill memory and disk at once, each until its `put` fails. Then each process releases half of
// its objects and reads the others.
TEST_F(small_disk_test, that_several_processes_fill_at_once_tells_each_of_them_and_loses_nothing) {
  auto store = open();
  auto step = shared<std::array<std::atomic<int>, 3>>{};
  const auto all_reach = [&](std::size_t which) {
    ++(*step)[which];
    return eventually([&] { return (*step)[which] == 4; }, 60s);
  };
  auto others = std::vector<child>{};
  for (auto number = 0; number < 4; ++number)
    others.emplace_back([&, number] {
      auto mine = open();
      const auto text = [&](std::size_t which) { return content(static_cast<int>(which) * 4 + number); };
      auto held = std::vector<handle>{};
      auto made = mine.put(bytes_of(text(0)));
      for (; made; made = mine.put(bytes_of(text(held.size()))))
        held.push_back(std::move(*made));
      if (!is_full(code_of(made))) {
        std::cerr << message_of(made) << std::endl;
        return 1;
      }
      if (!all_reach(0))
        return 2;
      for (auto which = std::size_t{0}; which < held.size(); which += 2)
        held[which] = {};
      if (!all_reach(1))
        return 3;
      for (auto which = std::size_t{1}; which < held.size(); which += 2)
        if (!eventually([&] { return read(held[which]) == text(which); }, 20s))
          return 4;
      return all_reach(2) && mine.verify() ? 0 : 5;
    });
  for (auto& other : others)
    EXPECT_EQ(other.wait(), fine);
  EXPECT_EQ(store.summary()->objects, 0u);
  EXPECT_TRUE(eventually([&] { return spill_files().empty(); }));
  EXPECT_TRUE(store.put(bytes_of(content(0, capacity))));
}

} // namespace

} // namespace troupe::store::test
