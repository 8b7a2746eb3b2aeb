// Pages of the data file: they are ready before they are needed, huge if requested, and protected if requested.
#include "spilling.hpp"

#include <troupe/store/internal/host/crash_point.hpp>

#include <sys/resource.h>

#include <sys/stat.h>

#include <cstring>
#include <fstream>

namespace troupe::store::test {

namespace {

constexpr auto mebibyte = std::size_t{1} << 20;
constexpr auto page = std::size_t{4096};

/// Returns the number of minor page faults of this thread so far.
long faults() {
  auto usage = rusage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

/// Returns the bytes that a file takes, in memory or on disk, or SIZE_MAX if there is no such file.
std::size_t blocks_of(const std::filesystem::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? static_cast<std::size_t>(status.st_blocks) * 512 : SIZE_MAX;
}

class pages_test : public store_test {
protected:
  pages_test() { settings_.capacity_bytes = 64 * mebibyte; }

  /// Returns the number of page faults that writing a new object causes.
  static long faults_of_writing(object_store& store, std::size_t size_bytes, std::vector<builder>& kept) {
    auto made = store.create(size_bytes);
    EXPECT_TRUE(made) << message_of(made);
    const auto before = faults();
    std::ranges::fill(made->bytes(), std::byte{1});
    const auto after = faults();
    kept.push_back(*std::move(made));
    return after - before;
  }
};

TEST_F(pages_test, that_are_made_ready_in_the_background_cost_no_fault) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer has faults of its own";
#endif
  settings_.pretouch_bytes = 16 * mebibyte;
  auto store = open();
  auto kept = std::vector<builder>{};
  const auto is_ready = [&](std::size_t bytes) {
    return eventually([&] { return store.summary()->committed_bytes >= bytes; });
  };
  // The last piece is counted before it is ready, so the test looks at the pages before it.
  ASSERT_TRUE(is_ready(16 * mebibyte)) << "before anything was put";
  EXPECT_LT(faults_of_writing(store, 8 * mebibyte, kept), 100);
  ASSERT_TRUE(is_ready(24 * mebibyte));
  EXPECT_LT(faults_of_writing(store, 8 * mebibyte, kept), 100);
}

TEST_F(pages_test, are_made_ready_up_to_the_end_of_the_store_and_no_further) {
  settings_.pretouch_bytes = 1u << 30;
  auto store = open();
  EXPECT_TRUE(eventually([&] { return store.summary()->committed_bytes == settings_.capacity_bytes; }));
  EXPECT_TRUE(store.create(settings_.capacity_bytes));
}

TEST_F(pages_test, are_all_made_ready_where_more_than_any_number_is_asked_for) {
  settings_.pretouch_bytes = SIZE_MAX;
  auto store = open();
  const auto kept = store.create(1);
  EXPECT_TRUE(eventually([&] { return store.summary()->committed_bytes == settings_.capacity_bytes; }));
}

TEST_F(pages_test, cost_their_faults_at_the_first_use_where_that_is_not_asked_for) {
  auto store = open();
  auto kept = std::vector<builder>{};
  EXPECT_GT(faults_of_writing(store, 8 * mebibyte, kept), 1000);
}

TEST_F(pages_test, a_process_that_ends_does_not_wait_until_all_are_ready) {
  settings_.capacity_bytes = 8192 * mebibyte;
  settings_.pretouch_bytes = 8192 * mebibyte;
  if (std::filesystem::space(settings_.directory).available < 9216 * mebibyte)
    GTEST_SKIP() << "not enough memory";
  const auto began = std::chrono::steady_clock::now();
  { const auto store = open(); }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1s);
}

TEST_F(pages_test, that_the_file_system_does_not_have_are_an_error_for_who_needs_them_only) {
  const auto how = in_small_file_system("size=16m", [&] {
    settings_.pretouch_bytes = 64 * mebibyte;
    auto store = open();
    auto kept = std::vector<handle>{};
    for (auto made = store.put(bytes_of(std::string(mebibyte, 'x'))); made;
         made = store.put(bytes_of(std::string(mebibyte, 'x'))))
      kept.push_back(*std::move(made));
    return kept.size() > 4 && store.verify() ? 0 : 1;
  });
  if (how == no_mount)
    GTEST_SKIP() << "no right to mount";
  EXPECT_EQ(how, fine);
}

// Goal: an object that does not fit into the rest of the file system takes none of that rest.
TEST_F(pages_test, that_the_file_system_does_not_have_all_are_not_taken_in_part) {
  const auto how = in_small_file_system("size=40m", [&] {
    settings_.capacity_bytes = 128 * mebibyte;
    auto store = open();
    const auto data = file_ending_in(".data");
    const auto small = put(store, "before");
    const auto before = blocks_of(data);
    if (code_of(store.put(bytes_of(std::string(100 * mebibyte, 'x')))) != store_errc::full)
      return 1;
    if (blocks_of(data) != before)
      return 2;
    auto claim = store.create_growing({}, 100 * mebibyte);
    if (claim->building->commit(100 * mebibyte) || blocks_of(data) != before)
      return 3;
    claim->building.reset();
    // Pages that were taken but not written count as present, so another process gets the same room without taking
    // more.
    { (void)store.create(34 * mebibyte); }
    return child([&] {
             auto mine = open();
             return mine.create(34 * mebibyte) ? 0 : 1;
           }).wait()
                   == fine
               ? 0
               : 4;
  });
  if (how == no_mount)
    GTEST_SKIP() << "no right to mount";
  EXPECT_EQ(how, fine);
}

// --- Huge ------------------------------------------------------------------------------------------------------------

/// Returns the bytes in huge pages in this process's mapping of the file whose name ends with `name`.
std::size_t huge_bytes_of(std::string_view name) {
  auto smaps = std::ifstream{"/proc/self/smaps"};
  auto is_in_it = false;
  auto total = std::size_t{0};
  for (auto line = std::string{}; std::getline(smaps, line);) {
    if (line.find('-') < line.find(' ')) // The first line of a mapping.
      is_in_it = line.ends_with(name);
    else if (is_in_it && (line.starts_with("ShmemPmdMapped:") || line.starts_with("FilePmdMapped:")))
      total += std::stoul(line.substr(line.find(':') + 1)) * 1024;
  }
  return total;
}

TEST_F(pages_test, are_huge_where_asked_for_and_the_file_system_has_them) {
  const auto directory = std::filesystem::temp_directory_path() / ("troupe-pages-" + settings_.name);
  std::filesystem::create_directories(directory);
  constexpr auto no_huge_page = ending{true, 78, 0};
  const auto how = child([&] {
                     if (!enter_own_mount_namespace()
                         || ::mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=128m,huge=advise") != 0)
                       return no_mount.code;
                     settings_.directory = directory;
                     settings_.huge_pages = true;
                     auto store = open();
                     if (!store.notice().empty())
                       return 1;
                     const auto object = put(store, std::string(16 * mebibyte, 'x'));
                     if (text_of(object.pin()->bytes()) != std::string(16 * mebibyte, 'x'))
                       return 2;
                     return huge_bytes_of(".data") >= 2 * mebibyte ? 0 : no_huge_page.code;
                   }).wait();
  std::filesystem::remove_all(directory);
  if (how == no_mount)
    GTEST_SKIP() << "no right to mount, or a kernel without huge pages";
  if (how == no_huge_page && !std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "a kernel without huge pages";
  EXPECT_EQ(how, fine);
}

TEST_F(pages_test, are_not_huge_elsewhere_and_the_store_says_so) {
  settings_.huge_pages = true;
  auto store = open();
  if (store.notice().empty())
    GTEST_SKIP() << settings_.directory << " has huge pages";
  EXPECT_NE(store.notice().find("huge pages were asked for"), std::string::npos) << store.notice();
  EXPECT_EQ(read(put(store, "x")), "x");
}

TEST_F(pages_test, huge_ones_are_what_the_first_opener_has_decided) {
  auto store = open();
  auto other = settings_;
  other.huge_pages = true;
  EXPECT_EQ(code_of(object_store::open(other)), store_errc::options_differ);
  EXPECT_EQ(child([&] { return static_cast<int>(code_of(object_store::open(other))); }).wait(),
            (ending{true, static_cast<int>(store_errc::options_differ), 0}));
}

// --- Protected -------------------------------------------------------------------------------------------------------

class protected_pages_test : public spilling_test {
protected:
  void SetUp() override { ::setenv("TROUPE_PROTECT_SEALED", "1", 1); }
  void TearDown() override {
    ::unsetenv("TROUPE_PROTECT_SEALED");
    spilling_test::TearDown();
  }
};

TEST_F(protected_pages_test, trap_a_write_after_seal) {
  EXPECT_EQ(child([&] {
              ::signal(SIGSEGV, SIG_DFL); // A sanitizer would turn it into an exit code.
              auto store = open();
              auto building = store.create(4 * page);
              const auto bytes = building->bytes();
              bytes[2 * page] = std::byte{1};
              const auto object = std::move(*building).seal();
              bytes[2 * page] = std::byte{2};
              return 0;
            }).wait(),
            (ending{false, 0, SIGSEGV}));
  tidy();
}

TEST_F(protected_pages_test, are_written_again_by_what_comes_after) {
  auto store = open();
  for (auto round = 0; round < 200; ++round) {
    auto objects = std::vector<handle>{};
    for (auto which = 0; which < 8; ++which)
      objects.push_back(put(store, content(which, (static_cast<std::size_t>(round) * 131 + 977) % (3 * page) + 1)));
    for (auto which = 0; which < 8; ++which)
      ASSERT_EQ(read(objects[static_cast<std::size_t>(which)]),
                content(which, (static_cast<std::size_t>(round) * 131 + 977) % (3 * page) + 1));
  }
}

TEST_F(protected_pages_test, are_written_by_what_comes_back_from_disk) {
  auto store = open();
  const auto all = put_many(store, 30);
  for (auto round = 0; round < 3; ++round)
    for (auto which = 0; which < 30; ++which)
      ASSERT_EQ(read(all[static_cast<std::size_t>(which)]), content(which));
}

class growing_test : public spilling_test {};

// Goal: an object whose bytes may never come takes pages only as it grows, in memory and in a file of its own.
TEST_F(growing_test, an_object_takes_pages_as_it_grows) {
  settings_.capacity_bytes = 64 * mebibyte;
  auto store = open();
  const auto data = file_ending_in(".data");
  auto made = store.create_growing({}, 48 * mebibyte);
  ASSERT_TRUE(made) << message_of(made);
  auto& building = *made->building;
  EXPECT_EQ(blocks_of(data), 0u);
  const auto whole = content(1, 48 * mebibyte);
  for (auto at = std::size_t{0}; at < whole.size(); at += mebibyte) {
    ASSERT_TRUE(building.commit(at + mebibyte));
    EXPECT_EQ(blocks_of(data), at + mebibyte);
    std::memcpy(building.bytes().data() + at, whole.data() + at, mebibyte);
  }
  const auto sealed = std::move(building).seal();
  ASSERT_TRUE(sealed) << message_of(sealed);
  EXPECT_TRUE(read(*sealed) == whole);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(growing_test, an_object_larger_than_the_store_takes_room_on_the_disk_as_it_grows) {
  auto store = open();
  auto made = store.create_growing({1, 2}, 8 * mebibyte);
  ASSERT_TRUE(made) << message_of(made);
  auto& building = *made->building;
  ASSERT_EQ(spill_files().size(), 1u);
  const auto file = settings_.spill_directory / spill_files()[0];
  EXPECT_LE(blocks_of(file), page);
  ASSERT_TRUE(building.commit(mebibyte));
  EXPECT_GE(blocks_of(file), mebibyte);
  EXPECT_LT(blocks_of(file), 2 * mebibyte);
  const auto begin = content(1, mebibyte);
  std::memcpy(building.bytes().data(), begin.data(), begin.size());
  const auto sealed = std::move(building).seal(); // Bytes never written read as zeros.
  ASSERT_TRUE(sealed) << message_of(sealed);
  EXPECT_TRUE(read(*sealed) == begin + std::string(7 * mebibyte, '\0'));
}

TEST_F(growing_test, an_object_that_is_given_up_leaves_its_place_to_others_with_pages_of_their_own) {
  settings_.capacity_bytes = 16 * mebibyte;
  auto store = open();
  for (auto round = 0; round < 3; ++round) {
    auto made = store.create_growing({}, 15 * mebibyte);
    ASSERT_TRUE(made) << message_of(made);
    ASSERT_TRUE(made->building->commit(100));
  }
  const auto large = content(2, 15 * mebibyte);
  EXPECT_TRUE(read(put(store, large)) == large);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

// Goal: room that a peer claims and never fills costs nothing, whatever other processes write.
TEST_F(growing_test, claimed_room_takes_no_pages_when_others_write_above_it) {
  settings_.capacity_bytes = 1024 * mebibyte;
  auto store = open();
  const auto data = file_ending_in(".data");
  auto claim = store.create_growing({}, 400 * mebibyte);
  ASSERT_TRUE(claim) << message_of(claim);
  auto whole = store.create_growing({}, 800);
  ASSERT_TRUE(whole) << message_of(whole);
  ASSERT_TRUE(whole->building->commit(800));
  const auto kept = std::move(*whole->building).seal();
  ASSERT_TRUE(kept) << message_of(kept);
  EXPECT_EQ(blocks_of(data), page);
  const auto above = put_many(store, 100, 1000);
  EXPECT_LT(blocks_of(data), 8 * mebibyte);
  EXPECT_EQ(child([&] {
              auto mine = open();
              const auto its_own = put_many(mine, 100, 1000);
              return read(its_own[99]) == content(99, 1000) ? 0 : 1;
            }).wait(),
            fine);
  EXPECT_LT(blocks_of(data), 8 * mebibyte);
  EXPECT_EQ(store.summary()->committed_bytes, blocks_of(data));
  for (auto which = 0; which < 100; ++which)
    ASSERT_EQ(read(above[static_cast<std::size_t>(which)]), content(which, 1000));
  claim->building.reset();
  const auto within = put_many(store, 3, 50 * mebibyte);
  EXPECT_LT(blocks_of(data), 160 * mebibyte);
  for (auto which = 0; which < 3; ++which)
    ASSERT_TRUE(read(within[static_cast<std::size_t>(which)]) == content(which, 50 * mebibyte));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(growing_test, claims_and_small_objects_in_turns_cost_what_is_written) {
  settings_.capacity_bytes = 512 * mebibyte;
  auto store = open();
  auto claims = std::vector<object_of_origin>{};
  auto small = std::vector<handle>{};
  for (auto which = 0; which < 50; ++which) {
    claims.push_back(*store.create_growing({}, 5 * mebibyte));
    small.push_back(put(store, content(which, 1000)));
  }
  EXPECT_LT(blocks_of(file_ending_in(".data")), 50 * mebibyte / 2);
  for (auto which = 0; which < 50; ++which) { // The claims are filled in another order.
    auto& building = *claims[static_cast<std::size_t>(which * 7 % 50)].building;
    const auto whole = content(which, 5 * mebibyte);
    ASSERT_TRUE(building.commit(whole.size()));
    std::memcpy(building.bytes().data(), whole.data(), whole.size());
    const auto sealed = std::move(building).seal();
    ASSERT_TRUE(read(*sealed) == whole);
    small.push_back(*sealed);
  }
  EXPECT_LT(blocks_of(file_ending_in(".data")), 50 * (5 * mebibyte + mebibyte / 2));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(growing_test, claimed_room_is_not_made_ready) {
  settings_.capacity_bytes = 1024 * mebibyte;
  settings_.pretouch_bytes = 16 * mebibyte;
  auto store = open();
  const auto data = file_ending_in(".data");
  ASSERT_TRUE(eventually([&] { return blocks_of(data) >= 16 * mebibyte; }));
  const auto claim = store.create_growing({}, 400 * mebibyte);
  const auto above = put(store, "x");
  EXPECT_TRUE(eventually([&] { return blocks_of(data) >= 30 * mebibyte; })) << "what lies above the room is";
  EXPECT_LT(blocks_of(data), 48 * mebibyte);
}

/// Puts objects of that size until the store or its file system is full.
std::vector<handle> fill(object_store& store, std::size_t size_bytes, store_errc& end) {
  auto kept = std::vector<handle>{};
  auto made = store.put(bytes_of(std::string(size_bytes, 'a')));
  for (; made; made = store.put(bytes_of(std::string(size_bytes, static_cast<char>('a' + kept.size() % 26)))))
    kept.push_back(*std::move(made));
  end = made.error().code();
  return kept;
}

[[nodiscard]] bool are_as_filled(const std::vector<handle>& all, std::size_t size_bytes) {
  auto number = std::size_t{0};
  return std::ranges::all_of(all, [&](const handle& object) {
    return read(object) == std::string(size_bytes, static_cast<char>('a' + number++ % 26));
  });
}

class small_memory_test : public store_test {
protected:
  small_memory_test() { settings_.capacity_bytes = 64 * mebibyte; }
};

// Goal: if room below written room is given up unwritten, its next user gets pages or `full`, never SIGBUS.
TEST_F(small_memory_test, an_object_in_room_that_was_given_up_has_pages_or_is_refused) {
  const auto how = in_small_file_system("size=16m", [&] {
    auto store = open();
    auto claim = store.create_growing({}, 32 * mebibyte);
    auto above = std::vector<handle>{};
    for (auto which = 0; which < 10; ++which)
      above.push_back(put(store, std::string(64u << 10, static_cast<char>('a' + which))));
    if (!claim->building->commit(3 * mebibyte))
      return 1;
    std::ranges::fill(claim->building->bytes().first(3 * mebibyte), std::byte{1});
    if (code_of(claim->building->commit(32 * mebibyte)) != store_errc::full)
      return 2;
    if (!claim->building->commit(4 * mebibyte))
      return 3;
    claim->building.reset();
    for (auto round = 0; round < 2; ++round) {
      auto end = store_errc::none;
      const auto within = fill(store, mebibyte, end);
      if (within.size() < 8 || end != store_errc::full || !are_as_filled(within, mebibyte))
        return 4;
      if (child([&] { // It has seen none of these pages.
            auto mine = open();
            return code_of(mine.put(bytes_of(std::string(mebibyte, 'x')))) == store_errc::full ? 0 : 1;
          })
              .wait()
          != fine)
        return 5;
    }
    if (child([&] {
          auto mine = open();
          auto end = store_errc::none;
          const auto within = fill(mine, mebibyte / 3, end);
          return within.size() > 24 && end == store_errc::full && are_as_filled(within, mebibyte / 3) ? 0 : 1;
        }).wait()
        != fine)
      return 6;
    return are_as_filled(above, 64u << 10) && store.verify() ? 0 : 7;
  });
  if (how == no_mount)
    GTEST_SKIP() << "no right to mount";
  EXPECT_EQ(how, fine);
}

/// Claims room twice, writes above it, fills one claim and gives up the other one.
int claim_and_write(object_store& store, internal::crash_point killed_at) {
  auto claim = store.create_growing({}, 16 * mebibyte);
  const auto first = put(store, "first");
  internal::arm_crash_point(killed_at);
  auto other = store.create_growing({}, 4 * mebibyte);
  const auto large = put(store, std::string(mebibyte, 'x'));
  if (!claim->building->commit(2 * mebibyte) || !other->building->commit(mebibyte))
    return 1;
  claim->building.reset();
  const auto within = put(store, std::string(mebibyte, 'y'));
  return std::move(*other->building).seal() ? 0 : 2;
}

// Goal: if a process is killed between claiming room, taking pages and giving up the room, no room is left that is
// wrongly assumed to have pages.
TEST_F(small_memory_test, who_is_killed_while_room_is_claimed_leaves_room_that_can_be_used) {
  using internal::crash_point;
  const auto how = in_small_file_system("size=16m", [&] {
    for (const auto killed_at :
         {crash_point::create_extent_taken, crash_point::create_published, crash_point::create_committed,
          crash_point::pages_taken, crash_point::create_finished, crash_point::abort_marked,
          crash_point::free_extent_returned, crash_point::seal_published}) {
      auto store = open();
      const auto below = put(store, "below");
      if (child([&] {
            auto mine = open();
            return claim_and_write(mine, killed_at);
          }).wait()
          != killed)
        return 10 + static_cast<int>(killed_at);
      (void)store.reap();
      auto end = store_errc::none;
      const auto within = fill(store, mebibyte, end);
      if (within.size() < 8 || end != store_errc::full || !are_as_filled(within, mebibyte) || !store.verify()
          || read(below) != "below")
        return 100 + static_cast<int>(killed_at);
    }
    return 0;
  });
  if (how == no_mount)
    GTEST_SKIP() << "no right to mount";
  EXPECT_EQ(how, fine);
}

} // namespace

} // namespace troupe::store::test
