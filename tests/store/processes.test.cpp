// Several processes with one store: holders, deaths, and write protection.
#include "support.hpp"

#include <troupe/store/internal/host/crash_point.hpp>

#include <fcntl.h>

namespace troupe::store::test {

namespace {

using processes_test = store_test;

/// The data that a child sends to its parent.
struct note {
  std::atomic<int> step{0};
  object_id id;
  process_id self;
};

TEST_F(processes_test, what_one_puts_another_finds_and_reads_in_place) {
  auto said = shared<note>{};
  auto writer = child([&] {
    auto store = open();
    const auto made = put(store, "from the writer");
    said->id = made.id();
    said->step = 1;
    return eventually([&] { return said->step == 2; }) ? 0 : 1;
  });
  ASSERT_TRUE(eventually([&] { return said->step == 1; }));
  auto store = open();
  const auto found = store.find(said->id);
  said->step = 2;
  EXPECT_EQ(writer.wait(), fine);
  ASSERT_TRUE(found);
  EXPECT_EQ(read(*found), "from the writer");
  EXPECT_EQ(store.summary()->rows.at(0).holders, std::vector{::getpid()});
}

TEST_F(processes_test, a_builder_captures_what_another_process_lets_go) {
  auto store = open();
  auto said = shared<note>{};
  auto maker = child([&] {
    auto mine = open();
    const auto inner = put(mine, "theirs");
    said->id = inner.id();
    said->step = 1;
    return eventually([&] { return said->step == 2; }) ? 0 : 1;
  });
  auto building = store.create(10);
  ASSERT_TRUE(eventually([&] { return said->step == 1; }));
  EXPECT_TRUE(building->capture(std::vector{said->id}));
  said->step = 2;
  EXPECT_EQ(maker.wait(), fine);
  auto outer = *std::move(*building).seal();
  const auto inner = store.find(outer.captured()->at(0));
  ASSERT_TRUE(inner) << message_of(inner);
  EXPECT_EQ(inner->id(), said->id);
  EXPECT_EQ(read(*inner), "theirs");
}

// Goal: the list of the objects that a dead process's object captures reads the same to others, even after the table
// was rebuilt.
// Method: the list's rows are not in the order in which they were given. Then a process dies while it holds the lock.
TEST_F(processes_test, what_another_process_captured_is_listed_in_order_also_after_it_died_in_the_lock) {
  auto store = open();
  const auto inner = std::array{put(store, "a"), put(store, "b"), put(store, "c")};
  const auto given = std::vector{inner[2].id(), inner[0].id(), inner[2].id(), inner[1].id()};
  auto said = shared<note>{};
  auto writer = child([&] {
    auto mine = open();
    auto gone = std::vector{put(mine, "gone", std::span{given}.first(2)), put(mine, "gone", std::span{given}.last(2))};
    for (auto& object : gone) // The second one's rows are reused first.
      object = {};
    const auto outer = put(mine, "outer", given);
    said->id = outer.id();
    said->step = 1;
    if (!eventually([&] { return said->step == 2; }))
      return 1;
    internal::arm_crash_point(internal::crash_point::create_row_filled);
    (void)put(mine, "never finished");
    return 2;
  });
  ASSERT_TRUE(eventually([&] { return said->step == 1; }));
  const auto outer = store.find(said->id);
  ASSERT_TRUE(outer) << message_of(outer);
  EXPECT_EQ(outer->captured(), given);
  said->step = 2;
  EXPECT_EQ(writer.wait(), killed);
  EXPECT_EQ(outer->captured(), given);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(processes_test, an_object_lives_until_the_last_of_three_processes_lets_go) {
  auto store = open();
  auto mine = put(store, "shared");
  const auto id = mine.id();
  auto said = shared<std::array<std::atomic<int>, 2>>{};
  auto reader = [&](std::size_t which) {
    return child([&, which] {
      auto other = open();
      auto found = other.find(id);
      (*said)[which] = 1;
      if (!eventually([&] { return (*said)[which] == 2; }))
        return 1;
      return read(*found) == "shared" ? 0 : 2;
    });
  };
  auto first = reader(0);
  auto second = reader(1);
  ASSERT_TRUE(eventually([&] { return (*said)[0] == 1 && (*said)[1] == 1; }));
  EXPECT_EQ(store.summary()->rows.at(0).holders.size(), 3u);
  mine = {};
  EXPECT_TRUE(store.contains(id));
  (*said)[0] = 2;
  EXPECT_EQ(first.wait(), fine);
  EXPECT_TRUE(store.contains(id));
  (*said)[1] = 2;
  EXPECT_EQ(second.wait(), fine);
  EXPECT_FALSE(store.contains(id));
}

TEST_F(processes_test, writing_through_a_view_traps) {
  auto store = open();
  const auto made = put(store, "immutable");
  auto vandal = child([&] {
    ::signal(SIGSEGV, SIG_DFL); // A sanitizer would turn it into an exit code.
    auto other = open();
    const auto view = *other.find(made.id())->pin();
    const_cast<std::byte&>(view.bytes()[0]) = std::byte{0};
    return 0;
  });
  EXPECT_EQ(vandal.wait(), (ending{false, 0, SIGSEGV}));
  EXPECT_EQ(read(made), "immutable");
  EXPECT_EQ(store.reap(), 1u);
}

TEST_F(processes_test, a_killed_holder_is_reaped) {
  auto said = shared<note>{};
  auto holder = child([&] {
    auto store = open();
    const auto made = put(store, "held");
    const auto view = *made.pin();
    said->id = made.id();
    said->step = 1;
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return said->step == 1; }));
  auto store = open();
  EXPECT_EQ(store.summary()->rows.at(0).holders, std::vector{holder.pid()});
  EXPECT_EQ(store.reap(), 0u);
  holder.kill_and_wait();
  EXPECT_EQ(store.reap(), 1u);
  EXPECT_FALSE(store.contains(said->id));
  EXPECT_EQ(store.summary()->objects, 0u);
}

TEST_F(processes_test, a_killed_holder_is_reaped_unasked_by_one_of_the_others) {
  settings_.reap_interval = 20ms;
  auto store = open();
  const auto other = child([&] { // This process only holds an object.
    auto theirs = open();
    const auto own = put(theirs, "the other's");
    ::pause();
    return 1;
  });
  auto said = shared<note>{};
  auto holder = child([&] {
    auto theirs = open();
    const auto made = put(theirs, "held");
    said->id = made.id();
    said->step = 1;
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return said->step == 1; }));
  holder.kill_and_wait();
  // contains() takes no lock and reaps nothing.
  EXPECT_TRUE(eventually([&] { return !store.contains(said->id); }));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(processes_test, a_killed_writer_leaves_no_half_object) {
  auto said = shared<note>{};
  auto writer = child([&] {
    auto store = open();
    const auto building = store.create(1u << 20);
    said->id = building->id();
    said->step = 1;
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return said->step == 1; }));
  auto store = open();
  EXPECT_EQ(code_of(store.find(said->id)), store_errc::unsealed);
  EXPECT_EQ(code_of(store.create(1)), store_errc::full);
  writer.kill_and_wait();
  EXPECT_TRUE(store.create(1u << 20)); // If the store is full, create() looks for dead processes.
  EXPECT_EQ(code_of(store.find(said->id)), store_errc::not_found);
}

TEST_F(processes_test, a_dead_process_takes_its_captured_objects_along_but_not_those_of_others) {
  auto store = open();
  const auto inner = put(store, "inner");
  auto said = shared<note>{};
  auto holder = child([&] {
    auto other = open();
    const auto own = put(other, "own");
    const auto outer = put(other, "outer", std::vector{inner.id(), own.id()});
    said->step = 1;
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return said->step == 1; }));
  holder.kill_and_wait();
  (void)store.reap();
  const auto summary = store.summary();
  ASSERT_EQ(summary->rows.size(), 1u);
  EXPECT_EQ(summary->rows[0].id, inner.id());
  EXPECT_TRUE(summary->rows[0].captured_by.empty());
}

TEST_F(processes_test, a_peer_is_known_by_its_nonce_while_it_lives) {
  auto said = shared<note>{};
  auto peer = child([&] {
    auto store = open();
    said->self = store.self();
    said->step = 1;
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return said->step == 1; }));
  auto store = open();
  EXPECT_TRUE(store.shares_with(said->self));
  EXPECT_TRUE(store.shares_with(store.self()));
  EXPECT_FALSE(store.shares_with({said->self.slot, said->self.nonce + 1}));
  EXPECT_FALSE(store.shares_with({store.self().slot, said->self.nonce}));
  EXPECT_FALSE(store.shares_with({999'999, said->self.nonce}));
  EXPECT_FALSE(store.shares_with({}));
  peer.kill_and_wait();
  EXPECT_FALSE(store.shares_with(said->self));
}

/// This process's descriptors of the store's lock file: its own, and one that it inherited.
[[nodiscard]] std::vector<int> lock_descriptors(const std::filesystem::path& lock) {
  auto found = std::vector<int>{};
  auto failure = std::error_code{};
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    if (std::filesystem::read_symlink(entry.path(), failure) == lock)
      found.push_back(std::stoi(entry.path().filename()));
  return found;
}

TEST_F(processes_test, who_closed_its_lock_file_takes_nobody_for_dead_and_says_so) {
  auto store = open();
  const auto kept = put(store, "kept");
  auto said = shared<note>{};
  auto careless = child([&] {
    auto mine = std::make_optional(open());
    const auto locks = lock_descriptors(file_ending_in(".lock"));
    for (auto lock : locks)
      if (::dup2(::open("/dev/null", O_RDWR), lock) != lock) // Another file gets the number at once.
        return 1;
    if (mine->reap() != 0 || code_of(mine->put(bytes_of("x"))) != store_errc::detached
        || message_of(mine->find(kept.id())).find("closed the descriptor of") == std::string::npos)
      return 2;
    said->step = 1;
    if (!eventually([&] { return said->step == 2; }))
      return 3;
    mine.reset();
    for (auto lock : locks)
      if (::fcntl(lock, F_GETFD) < 0) // By now the number is another file's.
        return 4;
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return said->step == 1; }));
  EXPECT_EQ(store.reap(), 1u); // To this process, the careless one is dead.
  EXPECT_TRUE(store.contains(kept.id()));
  EXPECT_EQ(child([&] { return open().shares_with(store.self()) ? 0 : 1; }).wait(), fine);
  said->step = 2;
  EXPECT_EQ(careless.wait(), fine);
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(processes_test, who_was_taken_for_dead_says_so_and_harms_nobody_in_its_place) {
  auto store = open();
  auto made = put(store, "shared");
  const auto id = made.id();
  auto said = shared<note>{};
  auto careless = child([&] {
    auto mine = std::make_optional(open());
    auto held = std::make_optional(*mine->find(id));
    auto building = std::make_optional(*mine->create(10));
    said->self = mine->self();
    for (auto lock : lock_descriptors(file_ending_in(".lock"))) {
      struct flock all {};
      all.l_type = F_UNLCK;
      ::fcntl(lock, F_OFD_SETLK, &all);
    }
    said->step = 1;
    if (!eventually([&] { return said->step == 2; }))
      return 1;
    using enum store_errc;
    for (auto code : {code_of(mine->put(bytes_of("x"))), code_of(mine->find(id)), code_of(held->pin()),
                      code_of(held->hand_over(store.self(), 1)), code_of(mine->summary()),
                      code_of(mine->abandon(store.self(), 1)), code_of(std::move(*building).seal())})
      if (code != detached)
        return 2;
    if (mine->contains(id) || mine->shares_with(store.self()) || mine->reap() != 0)
      return 3;
    building.reset();
    held.reset();
    mine.reset();
    return open().find(id) ? 0 : 4;
  });
  ASSERT_TRUE(eventually([&] { return said->step == 1; }));
  EXPECT_EQ(store.reap(), 1u);
  auto heir = child([&] {
    auto mine = open();
    const auto held = *mine.find(id);
    if (mine.self().slot != said->self.slot)
      return 1;
    said->step = 2;
    return eventually([&] { return said->step == 3; }) && read(held) == "shared" && mine.contains(id) ? 0 : 2;
  });
  ASSERT_TRUE(eventually([&] { return said->step == 2; }));
  made = {};
  EXPECT_EQ(careless.wait(), fine);
  EXPECT_TRUE(store.contains(id));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  said->step = 3;
  EXPECT_EQ(heir.wait(), fine);
}

TEST_F(processes_test, two_hundred_and_fifty_of_them_share_a_store_and_the_257th_is_refused) {
  auto attached = shared<std::atomic<int>>{};
  auto others = std::vector<child>{};
  for (auto count = 0; count < 255; ++count)
    others.emplace_back([&] {
      auto store = open();
      const auto made = put(store, "x");
      ++*attached;
      ::pause();
      return 1;
    });
  ASSERT_TRUE(eventually([&] { return *attached == 255; }, 60s));
  {
    auto store = open();
    EXPECT_EQ(store.summary()->objects, 255u);
    auto refused = child([&] { return code_of(object_store::open(settings_)) == store_errc::table_full ? 0 : 1; });
    EXPECT_EQ(refused.wait(), fine);
    while (others.size() > 100) // Their slots remain to be reaped.
      others.pop_back();
    EXPECT_EQ(child([&] { return object_store::open(settings_) ? 0 : 1; }).wait(), fine);
    others.clear();
    EXPECT_EQ(store.summary()->objects, 0u);
    EXPECT_TRUE(store.verify());
  }
}

} // namespace

} // namespace troupe::store::test
