// The disk, and what deaths cost.
#include "store/parts.hpp"
#include "store/support.hpp"

#include "harness/statistics.hpp"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

namespace bench {

namespace {

constexpr std::uint64_t disk_object_bytes = 2 << 20;

const quantity spilling{"spill", "GB/s"};
const quantity restoring{"restore", "GB/s"};

/// A directory that is gone at the end.
class scratch {
public:
  explicit scratch(std::filesystem::path path) : path_(std::move(path)) { std::filesystem::create_directories(path_); }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

double gigabytes_a_second(std::uint64_t bytes, double seconds) {
  return static_cast<double>(bytes) / seconds / 1e9;
}

std::expected<std::vector<stores::handle>, failure> put_many(stores::object_store& store, std::uint64_t bytes) {
  std::vector<stores::handle> all;
  const std::vector<std::byte> one(disk_object_bytes, std::byte{7});
  for (std::uint64_t at = 0; at < bytes; at += disk_object_bytes) {
    auto made = store.put(one);
    if (!made)
      return failed("put", made);
    all.push_back(*std::move(made));
  }
  return all;
}

} // namespace

case_result spill_and_restore(const store_options& told) {
  scratch directory{told.spill_directory};
  // So much room that nothing is spilled ahead of need.
  auto settings = own_store(told.disk_bytes * 3 / 2);
  settings.spill_directory = directory.path();
  auto store = open(settings);
  if (!store)
    return std::unexpected{store.error()};
  auto objects = put_many(*store, told.disk_bytes);
  if (!objects)
    return std::unexpected{objects.error()};
  auto begin = store_clock::now();
  {
    const auto all_of_it = store->create(settings.capacity_bytes); // All others have to go.
    if (!all_of_it)
      return failed("making room", all_of_it);
  }
  const auto spilled = gigabytes_a_second(told.disk_bytes, seconds_since(begin));
  begin = store_clock::now();
  for (const auto& object : *objects)
    if (const auto view = object.pin(); !view)
      return failed("pin", view);
  return observations{{spilling, spilled}, {restoring, gigabytes_a_second(told.disk_bytes, seconds_since(begin))}};
}

case_result write_and_read_file(const store_options& told) {
  scratch directory{told.spill_directory};
  const auto path = directory.path() / "plain";
  std::vector<std::byte> bytes(disk_object_bytes, std::byte{7});
  const auto times = told.disk_bytes / disk_object_bytes;
  auto begin = store_clock::now();
  auto file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  for (std::uint64_t i = 0; i < times; ++i)
    if (::write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      return failed("write to " + path.string());
  ::close(file);
  const auto written = gigabytes_a_second(told.disk_bytes, seconds_since(begin));
  begin = store_clock::now();
  file = ::open(path.c_str(), O_RDONLY);
  for (std::uint64_t i = 0; i < times; ++i)
    if (::read(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      return failed("read from " + path.string());
  ::close(file);
  return observations{{spilling, written}, {restoring, gigabytes_a_second(told.disk_bytes, seconds_since(begin))}};
}

case_result recover_and_reap(const store_options& told) {
  auto settings = own_store(std::uint64_t{told.many_objects} * 128 + (1 << 20));
  settings.objects_max = told.many_objects + 1'000;
  auto store = open(settings);
  if (!store)
    return std::unexpected{store.error()};
  std::vector<stores::handle> objects;
  objects.reserve(told.many_objects);
  const std::vector<std::byte> one(64);
  for (std::uint32_t i = 0; i < told.many_objects; ++i) {
    auto made = store->put(one);
    if (!made)
      return failed("put", made);
    objects.push_back(*std::move(made));
  }

  ::setenv("TROUPE_STORE_CRASH_POINT", "create_row_filled", 1);
  {
    forked victim{[&] {
      auto mine = open(settings);
      return mine && mine->put(one) ? 0 : 1;
    }};
    ::unsetenv("TROUPE_STORE_CRASH_POINT");
    if (victim.wait() != -1)
      return failed("the process that was to die in the lock did not");
  }
  auto begin = store_clock::now();
  if (const auto found = store->find(objects.front().id()); !found)
    return failed("find", found);
  const auto recovered = seconds_since(begin);

  words ready;
  forked holder{[&] {
    auto mine = open(settings);
    std::vector<stores::handle> held;
    for (const auto& object : objects)
      if (auto found = mine->find(object.id()))
        held.push_back(*std::move(found));
    ready.say('r');
    ::pause();
    return 0;
  }};
  char sign = 0;
  if (!ready.hear(sign))
    return failed("the process that was to hold all has ended");
  holder.kill_and_wait();
  std::atomic<bool> over{false};
  std::vector<double> waits;
  std::jthread other{[&] {
    do {
      const auto asked = store_clock::now();
      (void)store->find(objects.back().id());
      waits.push_back(seconds_since(asked));
    } while (!over);
  }};
  begin = store_clock::now();
  store->reap();
  const auto reaped = seconds_since(begin);
  over = true;
  other.join();
  const auto of = fmt::format(" with {} objects", told.many_objects);
  return observations{{{"recover" + of, "ms"}, recovered * 1e3},
                      {{"reap" + of, "ms"}, reaped * 1e3},
                      {{"find while reaping, p99.9", "us"}, percentile(waits, 99.9) * 1e6},
                      {{"find while reaping, longest", "us"}, std::ranges::max(waits) * 1e6}};
}

} // namespace bench
