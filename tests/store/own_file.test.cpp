// Objects larger than the store: each lies in a file of its own in the spill directory.
#include "spilling.hpp"

#include <troupe/store/internal/host/crash_point.hpp>

#include <sys/mman.h>
#include <sys/mount.h>

namespace troupe::store::test {

namespace {

using internal::crash_point;

constexpr auto large = 3 * capacity + 5;

class own_file_test : public spilling_test {
protected:
  [[nodiscard]] static handle put_large(object_store& store, int which = 1, std::span<const object_id> captured = {}) {
    auto made = store.put(bytes_of(content(which, large)), bytes_of("metadata"), captured);
    EXPECT_TRUE(made) << message_of(made);
    return made ? *std::move(made) : handle{};
  }

  [[nodiscard]] std::filesystem::path only_file() const {
    const auto all = spill_files();
    return all.size() == 1 ? settings_.spill_directory / all.front() : std::filesystem::path{};
  }
};

TEST_F(own_file_test, is_read_by_another_process_and_takes_no_memory) {
  auto store = open();
  const auto object = put_large(store);
  EXPECT_EQ(child([&] {
              auto theirs = open();
              const auto view = theirs.find(object.id())->pin();
              return text_of(view->bytes()) == content(1, large) && text_of(view->metadata()) == "metadata" ? 0 : 1;
            }).wait(),
            fine);
  const auto summary = store.summary();
  EXPECT_EQ(summary->objects, 1u);
  EXPECT_EQ(summary->bytes_in_use, 0u);
  EXPECT_EQ(summary->spill_files, 1u);
  EXPECT_GE(summary->disk_bytes, large);
  EXPECT_TRUE(summary->rows.at(0).has_own_file);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(own_file_test, goes_with_the_last_handle_or_view) {
  auto store = open();
  auto object = put_large(store);
  auto view = *object.pin();
  object = {};
  EXPECT_EQ(text_of(view.bytes()), content(1, large));
  const auto copy = view;
  view = {};
  EXPECT_EQ(text_of(copy.bytes()), content(1, large));
  EXPECT_EQ(spill_files().size(), 1u);
  auto last = copy;
  const_cast<pin&>(copy) = {};
  last = {};
  EXPECT_TRUE(eventually([&] { return spill_files().empty(); }));
  EXPECT_EQ(store.summary()->objects, 0u);
}

TEST_F(own_file_test, a_dropped_builder_leaves_no_file) {
  auto store = open();
  { const auto building = store.create(large); }
  EXPECT_TRUE(eventually([&] { return spill_files().empty(); }));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(own_file_test, can_be_made_smaller_before_it_is_sealed) {
  auto store = open();
  auto building = store.create(large, bytes_of("metadata"));
  ASSERT_TRUE(building) << message_of(building);
  std::ranges::copy(bytes_of(content(2, 1000)), building->bytes().begin());
  building->shrink(1000);
  const auto object = std::move(*building).seal();
  EXPECT_EQ(read(*object), content(2, 1000));
  EXPECT_LT(std::filesystem::file_size(only_file()), 2000u);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(own_file_test, captures_and_is_handed_over_like_any_other) {
  auto store = open();
  auto inner = put(store, "inner");
  const auto id = inner.id();
  auto outer = put_large(store, 1, std::vector{id});
  const auto outermost = put_large(store, 2, std::vector{outer.id()});
  inner = {};
  outer = {};
  EXPECT_EQ(read(*store.find(id)), "inner");
  ASSERT_TRUE(outermost.hand_over(store.self(), 7));
  EXPECT_EQ(read(*store.adopt(outermost.id(), store.self(), 7)), content(2, large));
}

TEST_F(own_file_test, captures_more_while_it_is_written) {
  auto store = open();
  auto inner = put(store, "inner");
  const auto id = inner.id();
  auto building = store.create(large, bytes_of("metadata"), std::vector{id});
  ASSERT_TRUE(building) << message_of(building);
  const auto small = put(store, "small");
  ASSERT_TRUE(building->capture(std::vector{small.id(), id}));
  inner = {};
  const auto outer = std::move(*building).seal();
  EXPECT_EQ(outer->captured(), (std::vector{id, small.id(), id}));
  EXPECT_EQ(read(*store.find(id)), "inner");
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(own_file_test, writing_through_a_view_traps) {
  auto store = open();
  const auto object = put_large(store);
  EXPECT_EQ(child([&] {
              ::signal(SIGSEGV, SIG_DFL); // A sanitizer would turn it into an exit code.
              auto theirs = open();
              const auto view = theirs.find(object.id())->pin();
              *const_cast<std::byte*>(view->bytes().data()) = std::byte{1};
              return 0;
            }).wait(),
            (ending{false, 0, SIGSEGV}));
  EXPECT_EQ(read(object), content(1, large));
}

TEST_F(own_file_test, a_forked_child_cannot_write_into_its_parents_builder) {
  if (!may_fork_beside_threads)
    GTEST_SKIP() << "ThreadSanitizer cannot follow processes forked beside threads";
  auto store = open();
  auto building = store.create(large);
  EXPECT_EQ(child([&] {
              ::signal(SIGSEGV, SIG_DFL);
              building->bytes()[0] = std::byte{1};
              return 0;
            }).wait(),
            (ending{false, 0, SIGSEGV}));
  EXPECT_EQ(child([&] { // The builder's end does not unmap what the child maps at its address.
              const auto before = building->bytes().data();
              auto* const own = ::mmap(before, 4096, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
              { const auto copy = std::move(*building); }
              *static_cast<char*>(own) = 1;
              return 0;
            })
                .wait(),
            fine);
}

TEST_F(own_file_test, without_a_spill_directory_is_an_error_that_says_what_to_do) {
  settings_.spill_directory.clear();
  auto store = open();
  const auto refused = store.create(large);
  EXPECT_EQ(code_of(refused), store_errc::full);
  EXPECT_NE(message_of(refused).find("set a spill_directory to keep it in a file"), std::string::npos)
      << message_of(refused);
}

TEST_F(own_file_test, a_size_that_no_file_has_is_an_error) {
  auto store = open();
  EXPECT_EQ(code_of(store.create(std::size_t{1} << 60)), store_errc::full);
  EXPECT_EQ(code_of(store.create(SIZE_MAX)), store_errc::full);
  EXPECT_TRUE(eventually([&] { return spill_files().empty(); }));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(own_file_test, that_is_gone_or_cut_short_is_damage_to_that_object_alone) {
  auto store = open();
  const auto object = put_large(store);
  const auto other = put(store, "other");
  std::filesystem::resize_file(only_file(), large / 2);
  EXPECT_EQ(code_of(object.pin()), store_errc::damaged);
  EXPECT_NE(message_of(object.pin()).find("is cut short"), std::string::npos) << message_of(object.pin());
  std::filesystem::remove(only_file());
  EXPECT_EQ(code_of(object.pin()), store_errc::damaged);
  EXPECT_EQ(read(other), "other");
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(own_file_test, on_a_full_disk_is_an_error_with_the_numbers_and_leaves_nothing) {
  if (!enter_own_mount_namespace())
    GTEST_SKIP() << "no right to mount";
  std::filesystem::create_directories(settings_.spill_directory);
  ASSERT_EQ(::mount("tmpfs", settings_.spill_directory.c_str(), "tmpfs", 0, "size=1m"), 0);
  {
    auto store = open();
    const auto refused = store.put(bytes_of(content(1, large)));
    EXPECT_EQ(code_of(refused), store_errc::disk_full);
    EXPECT_NE(message_of(refused).find("the disk has no 3,145,792 bytes left"), std::string::npos)
        << message_of(refused);
    EXPECT_TRUE(eventually([&] { return spill_files().empty(); }));
    EXPECT_TRUE(store.verify()) << message_of(store.verify());
    EXPECT_EQ(store.summary()->objects, 0u);
  }
  ::umount(settings_.spill_directory.c_str());
}

TEST_F(own_file_test, what_a_dead_process_left_is_swept_by_the_next_opener) {
  EXPECT_EQ(child([&] {
              auto theirs = open();
              const auto object = put_large(theirs);
              ::kill(::getpid(), SIGKILL);
              return 0;
            }).wait(),
            killed);
  EXPECT_EQ(spill_files().size(), 1u);
  auto store = open();
  EXPECT_EQ(spill_files().size(), 0u);
}

// --- Killed at every step --------------------------------------------------------------------------------------------

class own_file_crash_test : public own_file_test, public ::testing::WithParamInterface<crash_point> {};

TEST_P(own_file_crash_test, whoever_is_killed_here_leaves_a_whole_store) {
  auto store = open();
  const auto kept = put_large(store, 1);
  for (const auto nth : {1u, 2u}) {
    auto victim = child([&] {
      auto theirs = open();
      internal::arm_crash_point(GetParam(), nth);
      for (auto round = 0; round < 2; ++round) {
        const auto inner = put(theirs, "inner");
        (void)put_large(theirs, 2, std::vector{inner.id()});
        (void)theirs.create(large);
        auto building = theirs.create(large);
        building->shrink(100);
        const auto view = std::move(*building).seal()->pin();
        (void)theirs.reap(); // Removes files.
      }
      return 0;
    });
    ASSERT_EQ(victim.wait(), killed) << "the point was not met " << nth << " times";
    EXPECT_EQ(store.reap(), 1u);
    EXPECT_TRUE(store.verify()) << message_of(store.verify());
    EXPECT_EQ(store.summary()->objects, 1u);
    EXPECT_TRUE(eventually([&] { return spill_files().size() == 1; }));
    EXPECT_EQ(read(kept), content(1, large));
  }
}

INSTANTIATE_TEST_SUITE_P(
    every_point, own_file_crash_test,
    ::testing::Values(crash_point::own_file_given, crash_point::own_file_made, crash_point::create_row_filled,
                      crash_point::create_edge_written, crash_point::create_published, crash_point::seal_shrunk,
                      crash_point::seal_published, crash_point::abort_marked, crash_point::pin_marked,
                      crash_point::unpin_cleared, crash_point::release_cleared, crash_point::free_marked,
                      crash_point::free_edge_dropped, crash_point::free_finished, crash_point::spill_file_filled,
                      crash_point::spill_file_taken, crash_point::spill_file_complete, crash_point::spill_file_removing,
                      crash_point::spill_file_unlinked, crash_point::spill_file_removed),
    [](const auto& one) { return std::string(internal::to_string(one.param)); });

} // namespace

} // namespace troupe::store::test
