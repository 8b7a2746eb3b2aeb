// Several processes perform random operations and are killed at random moments.
#include "support.hpp"

#include <random>

namespace troupe::store::test {

namespace {

constexpr auto board_places = std::size_t{24};

/// The data that the processes exchange: ids of objects, and the slot and nonce of each process.
struct board {
  std::array<std::atomic<std::uint64_t>, board_places> ids; // index and generation in one word
  std::array<std::atomic<std::uint64_t>, 4> nonces;
  std::array<std::atomic<std::uint32_t>, 4> slots;
};

/// Every object's bytes follow from its size, so that any reader can check them.
[[nodiscard]] std::byte pattern(std::size_t size, std::size_t at) {
  return static_cast<std::byte>(size * 31 + at / 64);
}

[[nodiscard]] bool is_whole(std::span<const std::byte> bytes) {
  for (auto at = std::size_t{0}; at < bytes.size(); at += 61)
    if (bytes[at] != pattern(bytes.size(), at))
      return false;
  return bytes.empty() || bytes.back() == pattern(bytes.size(), bytes.size() - 1);
}

/// If pins fill the memory, the object may have to stay on disk. Therefore `full` is no failure.
[[nodiscard]] bool reads_whole(const handle& object) {
  const auto view = object.pin();
  return view ? is_whole(view->bytes()) : view.error().code() == store_errc::full;
}

/// One process of the crowd: performs random operations until killed. If it reads a wrong byte or gets an impossible
/// error, it exits with a code.
class member {
public:
  member(object_store store, board& notes, std::size_t which, std::uint32_t seed)
      : store_(std::move(store)), notes_(notes), which_(which), random_(seed) {
    notes_.slots[which] = store_.self().slot;
    notes_.nonces[which] = store_.self().nonce;
  }

  int run() {
    for (;;)
      if (const auto code = step(); code != 0)
        return code;
  }

private:
  int step() {
    switch (random_() % 8) {
    case 0:
    case 1:
      return make();
    case 2:
    case 3:
      return look();
    case 4:
      if (!held_.empty())
        held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(random_() % held_.size()));
      return 0;
    case 5:
      return hand_over();
    case 6:
      return adopt();
    default:
      if (random_() % 16 == 0)
        (void)store_.reap();
      if (random_() % 16 == 0)
        store_.abandon(peer(), 1);
      return 0;
    }
  }

  int make() {
    if (held_.size() > 12)
      held_.erase(held_.begin());
    auto captured = std::vector<object_id>{};
    if (!held_.empty() && random_() % 2 == 0)
      captured.push_back(held_[random_() % held_.size()].id());
    const auto size = random_() % 20'000;
    auto building = store_.create(size + random_() % 100, {}, captured);
    if (!building)
      return building.error().code() == store_errc::full ? 0 : 10;
    building->shrink(size);
    auto bytes = building->bytes();
    for (auto at = std::size_t{0}; at < bytes.size(); ++at)
      bytes[at] = pattern(bytes.size(), at);
    if (random_() % 8 == 0)
      return 0;
    auto made = std::move(*building).seal();
    if (!made)
      return 11;
    notes_.ids[random_() % board_places] = std::uint64_t{made->id().index} << 32 | made->id().generation;
    held_.push_back(std::move(*made));
    return 0;
  }

  [[nodiscard]] object_id noted() {
    const auto word = notes_.ids[random_() % board_places].load();
    return {store_.number(), static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }

  [[nodiscard]] process_id peer() {
    const auto which = random_() % 4;
    return {notes_.slots[which], notes_.nonces[which]};
  }

  int look() {
    const auto found = store_.find(noted());
    if (!found)
      return found.error().code() == store_errc::not_found || found.error().code() == store_errc::unsealed ? 0 : 20;
    if (!reads_whole(*found))
      return 21;
    if (held_.size() < 12)
      held_.push_back(*found);
    return 0;
  }

  int hand_over() {
    if (held_.empty())
      return 0;
    const auto sent = held_[random_() % held_.size()].hand_over(peer(), 1);
    return sent || sent.error().code() == store_errc::peer_gone ? 0 : 30;
  }

  int adopt() {
    const auto adopted = store_.adopt(noted(), peer(), 1);
    if (!adopted)
      return adopted.error().code() == store_errc::not_found || adopted.error().code() == store_errc::unsealed ? 0 : 40;
    return reads_whole(*adopted) ? 0 : 41;
  }

  object_store store_;
  board& notes_;
  std::size_t which_;
  std::minstd_rand random_;
  std::vector<handle> held_;
};

class churn_test : public store_test {
protected:
  void kill_at_random();
};

// Goal: the table stays consistent and no held object changes, whatever four processes do and whenever they are killed.
// Method: every few milliseconds, a random process is killed and another one is started. In between, all invariants are
// checked. TROUPE_SEED repeats the choices of a failing run, but not how the processes interleave, so it may take
// several runs.
void churn_test::kill_at_random() {
  const auto* given = std::getenv("TROUPE_SEED");
  const auto seed =
      given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
  std::cout << "TROUPE_SEED=" << seed << std::endl;
  auto random = std::minstd_rand{seed};
  auto notes = shared<board>{};
  auto store = open();
  auto building = store.create(10'000);
  for (auto at = std::size_t{0}; at < building->bytes().size(); ++at)
    building->bytes()[at] = pattern(10'000, at);
  const auto kept = *std::move(*building).seal();
  auto crowd = std::vector<child>{};
  const auto start = [&](std::size_t which) {
    return child(
        [&, which, own = random()] { return member(open(), *notes, which, static_cast<std::uint32_t>(own)).run(); });
  };
  for (auto which = std::size_t{0}; which < 4; ++which)
    crowd.push_back(start(which));
  const auto deadline = std::chrono::steady_clock::now() + 4s;
  auto kills = 0;
  while (std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::microseconds{random() % 8000});
    const auto which = random() % crowd.size();
    crowd[which].kill();
    ASSERT_EQ(crowd[which].wait(), killed);
    crowd[which].~child();
    new (&crowd[which]) child(start(which));
    ++kills;
    const auto whole = store.verify();
    ASSERT_TRUE(whole) << message_of(whole) << " after " << kills << " kills";
    ASSERT_TRUE(reads_whole(kept));
  }
  for (auto& each : crowd) {
    each.kill();
    ASSERT_EQ(each.wait(), killed); // Killed, and not ended with an exit code.
  }
  const auto summary = store.summary();
  auto left = std::vector<object_id>{};
  for (const auto& row : summary->rows)
    left.push_back(row.id);
  EXPECT_EQ(left, std::vector{kept.id()}); // Nothing was in flight to this process, and no other one is left.
  EXPECT_EQ(summary->processes, std::vector{::getpid()});
  std::cout << kills << " kills" << std::endl;
}

TEST_F(churn_test, random_processes_killed_at_random_leave_the_store_whole) {
  kill_at_random();
}

TEST_F(churn_test, and_so_they_do_while_most_objects_are_on_disk) {
  settings_.capacity_bytes = 128u << 10;
  settings_.full_grace = 20ms;
  settings_.spill_directory = std::filesystem::temp_directory_path() / ("troupe-churn-" + settings_.name);
  kill_at_random();
  auto left = std::vector<std::string>{};
  for (const auto& entry : std::filesystem::directory_iterator(settings_.spill_directory))
    left.push_back(entry.path().filename().string());
  EXPECT_EQ(left, std::vector<std::string>{});
  std::filesystem::remove_all(settings_.spill_directory);
}

} // namespace

} // namespace troupe::store::test
