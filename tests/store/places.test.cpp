// The place of a store if other users have taken names in its directory. All processes of its user find it there.
#include "support.hpp"

#include <troupe/store/internal/host/system_error.hpp>
#include <troupe/store/internal/table/layout.hpp>
#include <troupe/store/survey.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

namespace troupe::store::test {

namespace {

constexpr auto somebody = uid_t{65534};
constexpr auto names = std::array{"lock", "data.new", "data", "control.new", "control"};

/// A directory like /dev/shm: every user may make files in it, but remove only their own.
class places_test : public store_test {
protected:
  void SetUp() override {
    if (::geteuid() != 0)
      GTEST_SKIP() << "only root can become another user";
    settings_.directory = settings_.directory / ("troupe-places-" + settings_.name);
    ASSERT_EQ(::mkdir(settings_.directory.c_str(), 0), 0);
    ASSERT_EQ(::chmod(settings_.directory.c_str(), 01777), 0);
  }

  void TearDown() override {
    if (::geteuid() != 0)
      return;
    store_test::TearDown();
    EXPECT_EQ(::rmdir(settings_.directory.c_str()), 0) << "something is left in it";
  }

  [[nodiscard]] std::filesystem::path path_of(std::string_view end, uid_t user = somebody,
                                              std::uint32_t version = internal::layout_version) const {
    auto boot = std::string{};
    std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
    std::erase(boot, '-');
    return settings_.directory
           / ("troupe." + std::to_string(user) + "." + settings_.name + "." + boot + ".v" + std::to_string(version)
              + "." + std::string{end});
  }

  /// Runs `body` in a process of another user.
  template <class Body>
  [[nodiscard]] static child as_somebody(Body body) {
    return child([body] { return ::setgid(65534) != 0 || ::setuid(somebody) != 0 ? 98 : body(); });
  }

  /// Opens the store, sets `number` to the store's number, and waits until `go_on`. Returns the exit code.
  [[nodiscard]] int open_and_say(std::atomic<std::uint64_t>& number, const std::atomic<int>& go_on) const {
    auto store = object_store::open(settings_);
    if (!store) {
      std::cerr << message_of(store) << std::endl;
      return 1;
    }
    number = store->number();
    return eventually([&] { return go_on.load() != 0; }, 60s) && store->verify() ? 0 : 2;
  }

  /// Expects that two processes of another user, one with and one without XDG_RUNTIME_DIR, open the same store.
  void expect_one_store_for_all(const std::string& what) {
    auto numbers = shared<std::array<std::atomic<std::uint64_t>, 2>>{};
    auto go_on = shared<std::atomic<int>>{};
    auto others = std::vector<child>{};
    for (auto which = std::size_t{0}; which < 2; ++which) {
      others.push_back(as_somebody([&, which] {
        which == 0 ? ::unsetenv("XDG_RUNTIME_DIR") : ::setenv("XDG_RUNTIME_DIR", settings_.directory.c_str(), 1);
        return open_and_say((*numbers)[which], *go_on);
      }));
      EXPECT_TRUE(eventually([&] { return (*numbers)[which] != 0; })) << what;
    }
    EXPECT_EQ((*numbers)[0], (*numbers)[1]) << what;
    *go_on = 1;
    for (auto& other : others)
      EXPECT_EQ(other.wait(), fine) << what;
  }
};

TEST_F(places_test, the_environment_of_a_login_changes_nothing) {
  expect_one_store_for_all("nothing taken");
}

TEST_F(places_test, names_that_another_user_took_keep_nobody_from_opening_and_all_come_to_one_store) {
  for (const auto* end : names) {
    std::ofstream{path_of(end)} << "squatter";
    expect_one_store_for_all(end);
    EXPECT_EQ(files().size(), 1u) << end; // The squatter's file stays, and nothing else.
    std::filesystem::remove(path_of(end));
  }
}

// Goal: another user's file that looks like one of an older layout is not taken for a store in use.
TEST_F(places_test, an_older_layouts_lock_file_of_another_user_keeps_nobody_out_of_a_new_or_a_running_store) {
  std::ofstream{path_of("lock", somebody, 1)} << "squatter";
  ASSERT_EQ(::chmod(path_of("lock", somebody, 1).c_str(), 0), 0);
  expect_one_store_for_all("an older lock");
  std::filesystem::remove(path_of("lock", somebody, 1));
}

TEST_F(places_test, a_store_in_its_own_folder_is_listed_and_cleaned_as_any_other) {
  std::ofstream{path_of("control")} << "squatter";
  auto step = shared<std::atomic<int>>{};
  auto victim = as_somebody([&] {
    auto mine = open();
    const auto object = put(mine, "left");
    *step = 1;
    ::pause();
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  const auto pid = victim.pid();
  EXPECT_EQ(as_somebody([&] {
              const auto all = find_stores(settings_.directory);
              const auto summary = inspect(settings_.name, settings_.directory);
              return all.size() == 1 && all[0].in_use_by == pid && summary && summary->objects == 1 ? 0 : 1;
            }).wait(),
            fine);
  victim.kill_and_wait();
  EXPECT_EQ(as_somebody([&] {
              const auto all = find_stores(settings_.directory);
              const auto summary = inspect(settings_.name, settings_.directory);
              if (all.size() != 1 || all[0].in_use_by || !summary || summary->objects != 1)
                return 1;
              const auto cleaned = clean(settings_.name, settings_.directory);
              return cleaned && !*cleaned && find_stores(settings_.directory).empty() ? 0 : 2;
            }).wait(),
            fine);
  std::filesystem::remove(path_of("control"));
}

TEST_F(places_test, where_every_place_is_taken_the_files_to_remove_are_named) {
  std::ofstream{path_of("lock")} << "squatter";
  const auto folder = settings_.directory / ("troupe." + std::to_string(somebody));
  ASSERT_EQ(::mkdir(folder.c_str(), 0777), 0);
  EXPECT_EQ(as_somebody([&] {
              const auto refused = object_store::open(settings_);
              const auto text = message_of(refused);
              const auto names_both =
                  text.find(path_of("lock").string()) != text.npos && text.find(folder.string()) != text.npos;
              if (code_of(refused) == store_errc::denied && names_both)
                return 0;
              std::cerr << text << std::endl;
              return 1;
            }).wait(),
            fine);
  ASSERT_EQ(::rmdir(folder.c_str()), 0);
  std::filesystem::remove(path_of("lock"));
}

TEST_F(places_test, a_name_that_was_given_back_before_anybody_looked_was_another_users) {
  errno = EEXIST;
  EXPECT_EQ(internal::system_failure("open", path_of("data")).code(), store_errc::denied);
}

// Goal: all processes that open at the same moment open one store, although names are taken and freed meanwhile.
// Method: a squatter takes and frees one name after the other without a pause, while eight processes open at once.
TEST_F(places_test, whoever_opens_while_names_are_taken_and_given_back_comes_to_the_one_store) {
  constexpr auto openers = std::size_t{8};
  constexpr auto rounds = 25;
  auto ends = shared<std::atomic<int>>{};
  auto squatter = child([&] {
    for (auto which = std::size_t{0}; *ends == 0; ++which) {
      const auto path = path_of(names[which % names.size()]);
      const auto descriptor = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
      if (descriptor < 0)
        continue;
      ::close(descriptor);
      std::this_thread::sleep_for(std::chrono::microseconds{which % 7 * 50});
      ::unlink(path.c_str());
    }
    return 0;
  });
  for (auto round = 0; round < rounds && !HasFailure(); ++round) {
    auto numbers = shared<std::array<std::atomic<std::uint64_t>, openers>>{};
    auto go_on = shared<std::atomic<int>>{};
    auto others = std::vector<child>{};
    for (auto which = std::size_t{0}; which < openers; ++which)
      others.push_back(as_somebody([&, which] { return open_and_say((*numbers)[which], *go_on); }));
    const auto all_have_opened = [&] {
      return std::ranges::none_of(*numbers, [](const auto& number) { return number.load() == 0; });
    };
    EXPECT_TRUE(eventually(all_have_opened, 20s)) << "round " << round;
    for (const auto& number : *numbers)
      EXPECT_EQ(number, (*numbers)[0]) << "round " << round;
    *go_on = 1;
    for (auto& other : others)
      EXPECT_EQ(other.wait(), fine) << "round " << round;
  }
  *ends = 1;
  EXPECT_EQ(squatter.wait(), fine);
}

} // namespace

} // namespace troupe::store::test
