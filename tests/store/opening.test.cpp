// Opening and closing: one attachment per process, races, refusals, sweeping.
#include "support.hpp"

#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/layout.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstddef>
#include <fstream>

namespace troupe::store::test {

namespace {

using opening_test = store_test;

TEST_F(opening_test, opening_twice_gives_the_same_attachment) {
  auto first = open();
  auto second = open();
  EXPECT_EQ(first.self(), second.self());
  const auto made = put(first, "x");
  EXPECT_TRUE(second.contains(made.id()));
  auto any = settings_;
  any.capacity_bytes = 0;
  any.objects_max = 0;
  EXPECT_TRUE(object_store::open(any)); // Zero accepts any value, so nothing differs.
}

TEST_F(opening_test, opening_with_other_options_is_refused_and_names_the_difference) {
  const auto store = open();
  auto other = settings_;
  other.capacity_bytes = 2u << 20;
  auto refused = object_store::open(other);
  EXPECT_EQ(code_of(refused), store_errc::options_differ);
  EXPECT_EQ(message_of(refused),
            "store \"" + settings_.name + "\" is open in this process with capacity_bytes 1,048,576, not 2,097,152");
  other = settings_;
  other.lock_timeout = 1s;
  refused = object_store::open(other);
  EXPECT_NE(message_of(refused).find("lock_timeout 5000 ms, not 1000 ms"), std::string::npos) << message_of(refused);
}

TEST_F(opening_test, another_process_with_another_capacity_is_refused_too) {
  const auto store = open();
  auto other = child([&] {
    auto settings = settings_;
    settings.capacity_bytes = 2u << 20;
    const auto refused = object_store::open(settings);
    return code_of(refused) == store_errc::options_differ
                   && message_of(refused).find("has capacity_bytes 1,048,576, the options ask for 2,097,152")
                          != std::string::npos
               ? 0
               : 1;
  });
  EXPECT_EQ(other.wait(), fine);
}

TEST_F(opening_test, names_that_could_be_paths_are_refused) {
  for (const auto* name : {"", "a/b", "..", "a.b", "a b", "x\n"}) {
    settings_.name = name;
    EXPECT_EQ(code_of(object_store::open(settings_)), store_errc::invalid_argument) << name;
  }
  settings_.name = std::string(65, 'x');
  EXPECT_EQ(code_of(object_store::open(settings_)), store_errc::invalid_argument);
}

TEST_F(opening_test, the_last_close_removes_the_files_and_the_next_store_is_another_one) {
  auto number = std::uint64_t{0};
  auto id = object_id{};
  {
    auto store = open();
    number = store.number();
    id = put(store, "x").id();
    EXPECT_EQ(files().size(), 3u);
    for (const auto& name : files()) {
      struct stat status {};
      ASSERT_EQ(::stat((settings_.directory / name).c_str(), &status), 0);
      EXPECT_EQ(status.st_mode & 0777u, 0600u);
    }
  }
  EXPECT_EQ(files(), std::vector<std::string>{});
  auto store = open();
  EXPECT_NE(store.number(), number);
  EXPECT_EQ(code_of(store.find(id)), store_errc::not_found);
}

TEST_F(opening_test, the_files_stay_until_the_last_of_two_processes_leaves) {
  auto step = shared<std::atomic<int>>{};
  auto other = child([&] {
    auto store = open();
    *step = 1;
    return eventually([&] { return *step == 2; }) ? 0 : 1;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  { const auto store = open(); }
  EXPECT_EQ(files().size(), 3u);
  *step = 2;
  EXPECT_EQ(other.wait(), fine);
}

TEST_F(opening_test, when_all_were_killed_the_next_opener_starts_afresh) {
  auto step = shared<std::atomic<int>>{};
  auto number = shared<std::uint64_t>{};
  auto others = std::vector<child>{};
  for (auto count = 0; count < 3; ++count)
    others.emplace_back([&] {
      auto store = open();
      const auto made = put(store, "x");
      *number = store.number();
      ++*step;
      ::pause();
      return 1;
    });
  ASSERT_TRUE(eventually([&] { return *step == 3; }));
  others.clear();
  EXPECT_EQ(files().size(), 3u);
  auto store = open();
  EXPECT_NE(store.number(), *number);
  EXPECT_EQ(store.summary()->objects, 0u);
}

TEST_F(opening_test, a_directory_that_is_none_is_named_with_the_reason) {
  settings_.directory = "/dev/shm/nowhere-" + settings_.name;
  EXPECT_EQ(message_of(object_store::open(settings_)),
            "the store's directory \"" + settings_.directory.string() + "\" cannot be used: No such file or directory");
  settings_.directory = "/dev/null";
  EXPECT_EQ(message_of(object_store::open(settings_)), "the store's directory \"/dev/null\" is not a directory");
  settings_.directory = "/dev/shm";
}

TEST_F(opening_test, times_below_zero_are_refused) {
  settings_.lock_timeout = std::chrono::milliseconds{-1};
  EXPECT_EQ(message_of(object_store::open(settings_)), "lock_timeout is -1 ms; the minimum is 0");
}

// Goal: if a limit on file sizes is too low, opening fails with an error. Otherwise a signal would end the process.
TEST_F(opening_test, a_limit_on_the_size_of_files_is_an_error_that_names_it) {
  auto limited = child([&] {
    const rlimit small{1'000'000, 1'000'000};
    if (::setrlimit(RLIMIT_FSIZE, &small) != 0)
      return 1;
    const auto store = object_store::open(settings_);
    const auto text = message_of(store);
    std::cerr << text << std::endl;
    return !store && store.error().code() == store_errc::full && text.find("RLIMIT_FSIZE") != text.npos ? 0 : 2;
  });
  EXPECT_EQ(limited.wait(), fine);
  EXPECT_TRUE(files().empty());
}

TEST_F(opening_test, a_spill_directory_is_an_absolute_path) {
  settings_.spill_directory = "spilled";
  const auto store = object_store::open(settings_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), store_errc::invalid_argument);
  EXPECT_EQ(message_of(store), "spill_directory \"spilled\" is relative, and each process may be in another folder: "
                               "give an absolute path");
}

// Goal: the error names the owner of the folder that cannot be used, and does not ask to remove it.
TEST_F(opening_test, a_spill_directory_of_another_user_says_whose_it_is) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can become another user";
  auto other = child([&] {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0)
      return 98;
    for (const auto* path : {"/root", "/root/spilled/deep", "/usr"}) {
      settings_.spill_directory = path;
      const auto text = message_of(object_store::open(settings_));
      std::cerr << text << std::endl;
      const auto owner = path[1] == 'r' ? std::string{"/root"} : std::string{"/usr"};
      if (text
          != "spill_directory \"" + std::string{path} + "\" cannot be used: " + owner
                 + " belongs to user 0; make one that user 65534 may write, or give it to user 65534")
        return 1;
    }
    return 0;
  });
  EXPECT_EQ(other.wait(), fine);
}

TEST_F(opening_test, leftovers_of_other_boots_and_layouts_and_temporaries_are_swept) {
  { const auto store = open(); }
  const auto uid = std::to_string(::geteuid());
  auto boot = std::string{};
  std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
  std::erase(boot, '-');
  const auto prefix = "troupe." + uid + "." + settings_.name + ".";
  for (const auto& name : {prefix + "0123.v1.data", prefix + boot + ".v9.control", prefix + boot + ".v9.lock",
                           prefix + boot + ".v1.data.new", prefix + boot + ".v1.control"})
    std::ofstream{settings_.directory / name} << "left over";
  const auto neighbour = settings_.directory / ("troupe." + uid + "." + settings_.name + "x.0123.v1.data");
  std::ofstream{neighbour} << "not ours";
  {
    const auto store = open();
    EXPECT_EQ(files().size(), 3u);
  }
  EXPECT_TRUE(std::filesystem::remove(neighbour));
}

// Another container may share the directory and have another boot id.
TEST_F(opening_test, files_of_another_boot_stay_while_somebody_has_them_locked) {
  const auto prefix =
      settings_.directory / ("troupe." + std::to_string(::geteuid()) + "." + settings_.name + ".0123.v1");
  std::ofstream{prefix.string() + ".data"} << "in use";
  auto step = shared<std::atomic<int>>{};
  auto other = child([&] {
    const auto descriptor = ::open((prefix.string() + ".lock").c_str(), O_RDWR | O_CREAT, 0600);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_len = 1;
    *step = ::fcntl(descriptor, F_SETLK, &lock) == 0 ? 1 : -1;
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  tidy();
  EXPECT_EQ(files().size(), 2u);
  other.kill_and_wait();
  tidy();
}

// Method: the opener is stopped after it has checked who is attached. Then the only attached process dies.
TEST_F(opening_test, whoever_dies_while_another_opens_is_reaped) {
  auto step = shared<std::atomic<int>>{};
  auto holder = child([&] {
    auto store = open();
    const auto made = put(store, "x");
    *step = 1;
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  auto opener = child([&] {
    internal::arm_crash_point(internal::crash_point::open_swept, 1, internal::crash_action::stop);
    auto store = object_store::open(settings_);
    if (!store) {
      std::cerr << message_of(store) << std::endl;
      return 1;
    }
    return store->summary()->objects == 0 && store->verify() ? 0 : 2;
  });
  opener.wait_until_stopped();
  holder.kill_and_wait();
  opener.kill(SIGCONT);
  EXPECT_EQ(opener.wait(), fine);
}

// Goal: a process that is stopped while it opens costs others at most their lock_timeout, and their error names it.
TEST_F(opening_test, who_is_stopped_while_it_opens_is_named_by_others_and_ends_their_waiting_when_it_is_killed) {
  auto opener = child([&] {
    internal::arm_crash_point(internal::crash_point::open_swept, 1, internal::crash_action::stop);
    (void)object_store::open(settings_);
    return 0;
  });
  opener.wait_until_stopped();
  settings_.lock_timeout = 200ms;
  const auto began = std::chrono::steady_clock::now();
  const auto refused = object_store::open(settings_);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  EXPECT_EQ(code_of(refused), store_errc::busy);
  EXPECT_NE(message_of(refused).find("process " + std::to_string(opener.pid()) + " has been opening or closing "),
            std::string::npos)
      << message_of(refused);
  opener.kill_and_wait();
  EXPECT_TRUE(object_store::open(settings_));
}

// Goal: if a process closes right after the last other process was killed, it removes the files, although the kernel is
// still ending the killed process.
// Method: the kernel takes a while to free the killed process's memory, and the test closes without waiting for the
// end.
TEST_F(opening_test, whoever_closes_while_the_last_other_is_being_killed_removes_the_files) {
  for (auto times = 0; times < 5; ++times) {
    auto store = std::make_optional(open());
    auto step = shared<std::atomic<int>>{};
    auto other = child([&] {
      auto mine = open();
      auto memory = std::vector<char>(64'000'000, 'x');
      *step = memory.back();
      ::pause();
      return 1;
    });
    ASSERT_TRUE(eventually([&] { return *step != 0; }));
    other.kill();
    store.reset();
    EXPECT_TRUE(files().empty());
    EXPECT_EQ(other.wait(), killed);
  }
}

TEST_F(opening_test, whoever_closes_while_another_is_stopped_does_not_wait_for_it) {
  settings_.lock_timeout = 30s;
  auto store = std::make_optional(open());
  auto step = shared<std::atomic<int>>{};
  auto other = child([&] {
    auto mine = open();
    *step = 1;
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  other.kill(SIGSTOP);
  other.wait_until_stopped();
  const auto began = std::chrono::steady_clock::now();
  store.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  EXPECT_FALSE(files().empty());
  other.kill_and_wait();
  tidy();
}

TEST_F(opening_test, closing_does_not_remove_the_files_of_a_store_that_has_the_name_now) {
  auto store = std::make_optional(open());
  for (const auto& name : files())
    std::filesystem::remove(settings_.directory / name);
  auto step = shared<std::atomic<int>>{};
  auto other = child([&] {
    auto mine = open();
    *step = 1;
    return eventually([&] { return *step == 2; }) ? 0 : 1;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  EXPECT_TRUE(store->put(bytes_of("x"))); // Ours continues to work without names in the directory.
  store.reset();
  EXPECT_EQ(files().size(), 3u);
  *step = 2;
  EXPECT_EQ(other.wait(), fine);
}

TEST_F(opening_test, a_store_of_another_layout_version_in_use_stands_beside_this_one) {
  auto boot = std::string{};
  std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
  std::erase(boot, '-');
  const auto path =
      settings_.directory / ("troupe." + std::to_string(::geteuid()) + "." + settings_.name + "." + boot + ".v9.lock");
  auto step = shared<std::atomic<int>>{};
  auto other = child([&] {
    const auto descriptor = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_len = 1;
    *step = ::fcntl(descriptor, F_SETLK, &lock) == 0 ? 1 : -1;
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  const auto expected = ".v9 of another layout version is in use by process " + std::to_string(other.pid());
  settings_.require_layout = true;
  const auto refused = object_store::open(settings_);
  EXPECT_EQ(code_of(refused), store_errc::layout_mismatch);
  EXPECT_NE(message_of(refused).find(expected), std::string::npos) << message_of(refused);
  settings_.require_layout = false;
  {
    auto mine = object_store::open(settings_);
    ASSERT_TRUE(mine) << message_of(mine);
    EXPECT_NE(mine->notice().find(expected), std::string::npos) << mine->notice();
    EXPECT_TRUE(mine->put(bytes_of("x")));
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(std::filesystem::exists(path)) << "in use, so closing this layout's store leaves it";
  other.kill_and_wait();
  auto again = object_store::open(settings_);
  ASSERT_TRUE(again) << message_of(again);
  EXPECT_EQ(again->notice(), "");
  EXPECT_FALSE(std::filesystem::exists(path)) << "left by a dead process";
  again = std::unexpected(store_error{store_errc::none, ""});
  tidy();
}

/// Overwrites a field of a living store's header.
template <class T>
void overwrite(const std::filesystem::path& file, std::size_t offset, T value) {
  const auto descriptor = ::open(file.c_str(), O_RDWR);
  ASSERT_EQ(::pwrite(descriptor, &value, sizeof(value), static_cast<off_t>(offset)),
            static_cast<ssize_t>(sizeof(value)));
  ::close(descriptor);
}

TEST_F(opening_test, a_header_of_another_version_is_refused) {
  auto store = open();
  const auto tried = [&] {
    return child([&] { return static_cast<int>(code_of(object_store::open(settings_))); }).wait();
  };
  const auto control = file_ending_in(".control");
  overwrite(control, offsetof(internal::control_header, version), std::uint32_t{7});
  EXPECT_EQ(tried(), (ending{true, static_cast<int>(store_errc::layout_mismatch), 0}));
  overwrite(control, offsetof(internal::control_header, version), internal::layout_version);
  overwrite(control, offsetof(internal::control_header, header_bytes), std::uint32_t{7});
  EXPECT_EQ(tried(), (ending{true, static_cast<int>(store_errc::layout_mismatch), 0}));
  overwrite(control, offsetof(internal::control_header, header_bytes), std::uint32_t{sizeof(internal::control_header)});
  overwrite(control, 0, 'X');
  EXPECT_EQ(tried(), (ending{true, static_cast<int>(store_errc::layout_mismatch), 0}));
  overwrite(control, 0, internal::layout_magic[0]);
  EXPECT_EQ(tried(), fine);
}

TEST_F(opening_test, another_pid_namespace_is_refused) {
  const auto store = open();
  auto other = child([&] {
    if (::unshare(CLONE_NEWPID) != 0)
      return 77;
    return child([&] { return static_cast<int>(code_of(object_store::open(settings_))); }).wait().code;
  });
  const auto how = other.wait();
  if (how.code == 77)
    GTEST_SKIP() << "no right to make a pid namespace";
  EXPECT_EQ(how.code, static_cast<int>(store_errc::namespace_mismatch));
}

TEST_F(opening_test, another_user_gets_another_store_and_cannot_open_this_ones_files) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can become another user";
  auto store = open();
  const auto made = put(store, "private");
  auto other = child([&] {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0)
      return 1;
    for (const auto& name : files())
      if (::open((settings_.directory / name).c_str(), O_RDONLY) >= 0)
        return 2;
    const auto theirs = object_store::open(settings_);
    return theirs && theirs->number() != store.number() && !theirs->contains(made.id()) ? 0 : 3;
  });
  EXPECT_EQ(other.wait(), fine);
}

TEST_F(opening_test, what_is_no_file_in_a_files_place_is_named_as_what_to_remove) {
  std::string prefix;
  {
    const auto store = open();
    prefix = file_ending_in(".lock").string();
    prefix.resize(prefix.size() - std::string_view{"lock"}.size());
  }
  for (const auto* end : {"lock", "data.new", "data", "control.new", "control"}) {
    const std::filesystem::path path{prefix + end};
    std::filesystem::create_directory(path);
    const auto refused = object_store::open(settings_);
    EXPECT_EQ(code_of(refused), store_errc::layout_mismatch);
    EXPECT_EQ(message_of(refused), path.string() + " is a directory, but the store needs a file there; remove it");
    std::filesystem::remove(path);
    EXPECT_EQ(files(), std::vector<std::string>{}) << path;
  }
  std::filesystem::create_symlink("/dev/null", prefix + "lock");
  const auto refused = object_store::open(settings_);
  EXPECT_EQ(code_of(refused), store_errc::denied);
  EXPECT_EQ(message_of(refused), prefix + "lock" + " is a symbolic link, but the store needs a file there; remove it");
  std::filesystem::remove(prefix + "lock");
  // Files that can be removed are removed.
  ASSERT_EQ(::mkfifo((prefix + "control").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/null", prefix + "data");
  EXPECT_TRUE(object_store::open(settings_));
}

TEST_F(opening_test, first_openers_race_safely) {
  for (auto round = 0; round < 40; ++round) {
    auto start = shared<std::atomic<bool>>{};
    auto numbers = shared<std::array<std::atomic<std::uint64_t>, 4>>{};
    auto done = shared<std::atomic<int>>{};
    auto others = std::vector<child>{};
    for (auto which = std::size_t{0}; which < numbers->size(); ++which)
      others.emplace_back([&, which] {
        while (!*start)
          ::sched_yield();
        auto store = object_store::open(settings_);
        if (!store)
          return 1;
        (*numbers)[which] = store->number();
        ++*done;
        return eventually([&] { return *done == 4; }) ? 0 : 2;
      });
    *start = true;
    for (auto& other : others)
      ASSERT_EQ(other.wait(), fine) << "round " << round;
    for (const auto& number : *numbers)
      ASSERT_EQ(number, (*numbers)[0]) << "round " << round;
  }
}

TEST_F(opening_test, openers_and_closers_race_safely) {
  auto others = std::vector<child>{};
  for (auto which = 0; which < 4; ++which)
    others.emplace_back([&] {
      for (auto round = 0; round < 100; ++round) {
        auto store = object_store::open(settings_);
        if (!store) {
          std::cerr << message_of(store) << std::endl;
          return 1;
        }
        const auto made = store->put(bytes_of("x"));
        if (!made || read(*made) != "x" || !store->verify())
          return 2;
      }
      return 0;
    });
  for (auto& other : others)
    EXPECT_EQ(other.wait(), fine);
}

TEST_F(opening_test, threads_that_open_and_close_at_once_keep_the_process_attached) {
  auto step = shared<std::atomic<int>>{};
  auto threads = std::vector<std::thread>{};
  auto failures = std::atomic<int>{0};
  for (auto which = 0; which < 4; ++which)
    threads.emplace_back([&] {
      for (auto round = 0; round < 100; ++round) {
        auto store = object_store::open(settings_);
        if (!store || !store->put(bytes_of("x")) || !store->shares_with(store->self()))
          ++failures;
      }
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(opening_test, a_full_file_system_is_an_error_and_never_a_bus_error) {
  auto small = child([&] {
    if (!enter_own_mount_namespace() || ::mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=8m") != 0)
      return 77;
    settings_.capacity_bytes = 64u << 20; // More than the file system has.
    auto store = open();
    auto held = std::vector<handle>{};
    const auto block = std::string(300'000, 'x');
    auto made = store.put(bytes_of(block));
    for (; made; made = store.put(bytes_of(block)))
      held.push_back(std::move(*made));
    if (code_of(made) != store_errc::full || held.size() < 15)
      return 1;
    std::cout << held.size() << " objects, then: " << message_of(made) << std::endl;
    for (const auto& object : held)
      if (read(object) != block)
        return 2;
    held.clear();
    return store.put(bytes_of(block)) && store.verify() ? 0 : 3;
  });
  const auto how = small.wait();
  if (how.code == 77)
    GTEST_SKIP() << "no right to mount";
  EXPECT_EQ(how, fine);
}

/// Runs `body` in a child that sees a new file system at /dev/shm. If the child has no right to mount, it exits with
/// 77.
template <class Body>
ending on_file_system(const char* type, const char* what, Body body) {
  return child([&] {
           if (!enter_own_mount_namespace() || ::mount(type, "/dev/shm", type, 0, what) != 0)
             return 77;
           return body();
         })
      .wait();
}

TEST_F(opening_test, a_file_system_that_cannot_set_pages_aside_is_refused) {
  const auto how = on_file_system("ramfs", nullptr, [&] {
    const auto refused = object_store::open(settings_);
    return code_of(refused) == store_errc::system_failure
                   && message_of(refused).find("must be a tmpfs or able to fallocate") != std::string::npos
                   && files().size() <= 1
               ? 0
               : 1;
  });
  if (how.code == 77)
    GTEST_SKIP() << "no right to mount";
  EXPECT_EQ(how, fine);
}

TEST_F(opening_test, a_tmpfs_without_a_limit_gives_the_default_capacity_of_the_memory) {
  settings_.capacity_bytes = 0;
  const auto how = on_file_system("tmpfs", "size=0", [&] {
    auto store = open();
    return store.summary()->capacity_bytes > 1u << 24 && store.put(bytes_of("x")) ? 0 : 1;
  });
  if (how.code == 77)
    GTEST_SKIP() << "no right to mount";
  EXPECT_EQ(how, fine);
}

TEST_F(opening_test, the_default_capacity_is_a_share_of_memory_and_file_system) {
  settings_.capacity_bytes = 0;
  auto store = open();
  const auto capacity = store.summary()->capacity_bytes;
  EXPECT_GT(capacity, 1u << 20);
  EXPECT_LE(capacity, std::filesystem::space(settings_.directory).available);
}

// --- A small /dev/shm, as in Docker containers -----------------------------------------------------------------------

class small_memory_test : public store_test {
protected:
  small_memory_test() {
    settings_.full_grace = 5s;
    settings_.spill_directory = std::filesystem::temp_directory_path() / ("troupe-small-" + settings_.name);
  }
  ~small_memory_test() override { std::filesystem::remove_all(settings_.spill_directory); }

  /// Puts 128 MiB, twice the memory, and reads all of it again. Returns 0 if all of it is whole.
  static int fill_and_read(object_store& store) {
    auto all = std::vector<handle>{};
    const auto block = std::string(1u << 20, 'x');
    for (auto number = 0; number < 128; ++number) {
      auto made = store.put(bytes_of(block));
      if (!made) {
        std::cerr << message_of(made) << std::endl;
        return 1;
      }
      all.push_back(std::move(*made));
    }
    for (const auto& object : all)
      if (read(object) != block)
        return 2;
    return store.verify() ? 0 : 3;
  }

  void expect_fine(ending how) {
    if (how.code == 77)
      GTEST_SKIP() << "no right to mount";
    EXPECT_EQ(how, fine);
  }
};

TEST_F(small_memory_test, holds_what_fits_and_spills_the_rest) {
  settings_.capacity_bytes = 48u << 20;
  expect_fine(on_file_system("tmpfs", "size=64m", [&] {
    auto store = open();
    if (!store.notice().empty())
      return 10;
    return fill_and_read(store);
  }));
}

TEST_F(small_memory_test, that_is_smaller_than_the_store_is_no_bus_error_where_pages_run_out) {
  settings_.capacity_bytes = 60u << 20; // The tables also need room, so not all of it fits.
  expect_fine(on_file_system("tmpfs", "size=64m", [&] {
    auto other = std::ofstream{"/dev/shm/somebody else's"};
    other << std::string(20u << 20, 'x');
    other.close();
    settings_.spill_directory.clear();
    auto store = open();
    auto held = std::vector<handle>{};
    for (;;) {
      auto made = store.put(std::vector<std::byte>(1u << 20));
      if (!made)
        return code_of(made) == store_errc::full && held.size() > 30 ? 0 : 11;
      held.push_back(std::move(*made));
    }
  }));
}

TEST_F(small_memory_test, with_a_disk_to_spill_to_gives_a_store_on_that_disk_and_says_so) {
  for (const auto capacity : {std::size_t{256} << 20, std::size_t{0}}) {
    settings_.capacity_bytes = capacity;
    expect_fine(on_file_system("tmpfs", "size=64m", [&] {
      auto store = open();
      if (store.notice().find(settings_.spill_directory.string()) == std::string::npos)
        return 10;
      if (store.summary()->capacity_bytes < 256u << 20)
        return 11;
      const auto object = put(store, "found by another");
      if (child([&] { return read(*open().find(object.id())) == "found by another" ? 0 : 1; }).wait() != fine)
        return 12;
      return fill_and_read(store);
    }));
    if (IsSkipped())
      return;
    auto failure = std::error_code{};
    EXPECT_TRUE(std::filesystem::is_empty(settings_.spill_directory, failure));
  }
}

} // namespace

} // namespace troupe::store::test
