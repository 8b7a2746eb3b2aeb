// One process with many threads. The test is also meant for ThreadSanitizer.
#include "support.hpp"

#include <random>

namespace troupe::store::test {

namespace {

using threads_test = store_test;

TEST_F(threads_test, the_last_release_and_the_next_find_of_one_object_do_not_meet) {
  auto store = open();
  const auto outer = store.put(bytes_of("outer"), {}, std::vector{put(store, "inner").id()});
  // The last handle of an object can be released and a new one found only if another object keeps it.
  const auto inner = store.summary()->rows.at(0).id;
  auto failures = std::atomic<int>{0};
  auto threads = std::vector<std::thread>{};
  for (auto which = 0; which < 4; ++which)
    threads.emplace_back([&] {
      for (auto round = 0; round < 3000; ++round) {
        const auto found = store.find(inner);
        const auto copy = found ? *found : handle{};
        if (copy.empty() || read(copy) != "inner")
          ++failures;
      }
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(store.summary()->rows.at(0).holders.empty());
  EXPECT_TRUE(store.verify());
}

TEST_F(threads_test, threads_put_share_and_drop_without_mixing_anything_up) {
  auto store = open();
  auto failures = std::atomic<int>{0};
  auto mutex = std::mutex{};
  auto board = std::vector<handle>(16);
  auto threads = std::vector<std::thread>{};
  for (auto which = 0u; which < 4; ++which)
    threads.emplace_back([&, which] {
      auto random = std::minstd_rand{which + 1};
      for (auto round = 0; round < 2000; ++round) {
        const auto size = random() % 3000;
        auto made = store.put(bytes_of(std::string(size, static_cast<char>('a' + size % 26))));
        auto taken = handle{};
        {
          const auto lock = std::lock_guard{mutex};
          auto& place = board[random() % board.size()];
          taken = place;
          if (made)
            place = *made;
        }
        if (taken.empty())
          continue;
        const auto view = taken.pin();
        taken = {};
        const auto expected = static_cast<std::byte>('a' + view->bytes().size() % 26);
        if (std::ranges::any_of(view->bytes(), [&](std::byte byte) { return byte != expected; }))
          ++failures;
      }
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  board.clear();
  EXPECT_EQ(store.summary()->objects, 0u);
}

TEST_F(threads_test, builders_capture_what_other_threads_let_go) {
  auto store = open();
  auto failures = std::atomic<int>{0};
  auto captured = std::atomic<int>{0};
  auto mutex = std::mutex{};
  auto board = std::vector<handle>(4);
  const auto id_at = [&](std::size_t place) {
    const auto lock = std::lock_guard{mutex};
    return board[place].id();
  };
  auto threads = std::vector<std::thread>{};
  for (auto which = 0u; which < 4; ++which)
    threads.emplace_back([&, which] {
      for (auto round = 0u; round < 1000; ++round) {
        auto building = store.create(1);
        auto given = std::vector<object_id>{};
        for (auto at = std::size_t{0}; building && at < board.size(); ++at) {
          const auto id = id_at((at + which) % board.size());
          const auto done = building->capture(std::vector{id}); // The object may be freed at any moment.
          if (done)
            given.push_back(id);
          else if (done.error().code() != store_errc::not_found)
            ++failures;
        }
        auto made = building ? std::move(*building).seal() : std::unexpected(building.error());
        if (!made || made->captured() != given
            || !std::ranges::all_of(given, [&](const object_id& id) { return store.contains(id); }))
          ++failures;
        captured += static_cast<int>(given.size());
        const auto lock = std::lock_guard{mutex};
        board[round % board.size()] = put(store, "x");
      }
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_GT(captured, 0);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  board.clear();
  EXPECT_EQ(store.summary()->objects, 0u);
}

TEST_F(threads_test, hand_overs_of_several_threads_balance) {
  auto store = open();
  auto failures = std::atomic<int>{0};
  auto threads = std::vector<std::thread>{};
  const auto made = put(store, "x");
  for (auto which = std::uint64_t{0}; which < 4; ++which)
    threads.emplace_back([&, which] {
      for (auto round = 0; round < 1000; ++round) {
        if (!made.hand_over(store.self(), which % 2) || !store.adopt(made.id(), store.self(), which % 2))
          ++failures;
        if (round % 100 == 0 && !store.summary())
          ++failures;
      }
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(store.summary()->rows.at(0).in_flight.empty());
}

} // namespace

} // namespace troupe::store::test
