// Spilling to disk, and recovering from dead processes.
#include "store/parts.hpp"
#include "store/support.hpp"

#include "harness/statistics.hpp"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

namespace bench {

namespace {

constexpr std::uint64_t disk_object_bytes = 2 << 20;

const quantity spilling{"spill", "GB/s"};
const quantity restoring{"restore", "GB/s"};
const quantity restoring_cached{"cached restore", "GB/s"};

/// A directory that the destructor removes.
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

/// Waits until the disk has everything in that directory.
bool sync(const std::filesystem::path& directory) {
  const auto descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY);
  const auto is_done = ::syncfs(descriptor) == 0;
  ::close(descriptor);
  return is_done;
}

/// Drops the files from the page cache, so that reading them reads the disk. Requires: they are synced.
void drop_from_memory(const std::filesystem::path& directory) {
  for (const auto& entry : std::filesystem::directory_iterator{directory}) {
    const auto descriptor = ::open(entry.path().c_str(), O_RDONLY);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    ::close(descriptor);
  }
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

/// Touches all memory, so that no page's first use is measured.
done touch_all(stores::object_store& store, std::uint64_t bytes) {
  const auto all_of_it = store.create(bytes);
  if (!all_of_it)
    return failed("touching", all_of_it);
  std::ranges::fill(all_of_it->bytes(), std::byte{1});
  return {};
}

} // namespace

namespace {

done spill_all(stores::object_store& store, std::uint64_t capacity_bytes) {
  const auto all_of_it = store.create(capacity_bytes); // Spills all other objects.
  if (!all_of_it)
    return failed("making room", all_of_it);
  return {};
}

std::expected<double, failure> time_of_pinning(const std::vector<stores::handle>& objects) {
  const auto begin = store_clock::now();
  for (const auto& object : objects)
    if (const auto view = object.pin(); !view)
      return failed("pin", view);
  return seconds_since(begin);
}

/// Writes the file of the limit, in pieces as large as the store's objects.
done write_file(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  const auto file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  for (std::uint64_t at = 0; at < bytes.size(); at += disk_object_bytes)
    if (::write(file, bytes.data() + at, disk_object_bytes) != static_cast<ssize_t>(disk_object_bytes))
      return failed("write to " + path.string());
  ::close(file);
  return {};
}

std::expected<double, failure> time_of_reading(const std::filesystem::path& path, std::vector<std::byte>& into) {
  const auto begin = store_clock::now();
  const auto file = ::open(path.c_str(), O_RDONLY);
  for (std::uint64_t at = 0; at < into.size(); at += disk_object_bytes)
    if (::read(file, into.data() + at, disk_object_bytes) != static_cast<ssize_t>(disk_object_bytes))
      return failed("read from " + path.string());
  ::close(file);
  return seconds_since(begin);
}

/// The measured operations: write everything to disk, and read it back from the page cache and from the disk.
struct disk_use {
  std::function<done()> prepare;                        // Leaves nothing on the disk.
  std::function<done()> write;                          // Afterwards everything is on disk and must be read to be used.
  std::function<std::expected<double, failure>()> read; // In seconds.
  std::function<done()> forget;                         // Afterwards it must be read again.
};

/// Repeats the operations a few times and takes the median, because the system makes writers wait now and then.
case_result to_disk_and_back(const store_options& told, const std::filesystem::path& directory, const disk_use& use) {
  constexpr auto times = 3;
  std::vector<double> writing;
  std::vector<double> reading;
  std::vector<double> reading_cached;
  for (auto left = times; left > 0; --left) {
    if (auto ready = use.prepare(); !ready)
      return std::unexpected{ready.error()};
    sync(directory); // Keeps earlier writes, for example of other programs, out of the measured time.
    const auto begin = store_clock::now();
    if (auto written = use.write(); !written)
      return std::unexpected{written.error()};
    if (!sync(directory))
      return failed("syncfs of " + directory.string());
    writing.push_back(seconds_since(begin));
    const auto cached = use.read();
    if (!cached)
      return std::unexpected{cached.error()};
    reading_cached.push_back(*cached);
    if (auto forgotten = use.forget(); !forgotten)
      return std::unexpected{forgotten.error()};
    drop_from_memory(directory);
    const auto read = use.read();
    if (!read)
      return std::unexpected{read.error()};
    reading.push_back(*read);
  }
  const auto speed = [&](std::vector<double>& seconds) {
    return static_cast<double>(told.disk_bytes) / median(std::move(seconds)) / 1e9;
  };
  return observations{
      {spilling, speed(writing)}, {restoring, speed(reading)}, {restoring_cached, speed(reading_cached)}};
}

} // namespace

case_result spill_and_restore(const store_options& told) {
  scratch directory{told.spill_directory};
  // Leave so much room that nothing is spilled ahead of need.
  auto settings = own_store(told.disk_bytes * 3 / 2);
  settings.spill_directory = directory.path();
  auto store = open(settings);
  if (!store)
    return std::unexpected{store.error()};
  if (auto warm = touch_all(*store, settings.capacity_bytes); !warm)
    return std::unexpected{warm.error()};
  std::vector<stores::handle> objects;
  const auto put_again = [&]() -> done {
    objects.clear();
    store->reap(); // Also removes the files.
    auto made = put_many(*store, told.disk_bytes);
    if (!made)
      return std::unexpected{made.error()};
    objects = *std::move(made);
    return {};
  };
  const auto spill = [&] { return spill_all(*store, settings.capacity_bytes); };
  return to_disk_and_back(told, directory.path(), {put_again, spill, [&] { return time_of_pinning(objects); }, spill});
}

case_result write_and_read_file(const store_options& told) {
  scratch directory{told.spill_directory};
  const auto path = directory.path() / "plain";
  std::vector<std::byte> bytes(told.disk_bytes, std::byte{7});
  const auto remove = [&]() -> done {
    std::filesystem::remove(path);
    return {};
  };
  const auto nothing = []() -> done { return {}; };
  return to_disk_and_back(
      told, directory.path(),
      {remove, [&] { return write_file(path, bytes); }, [&] { return time_of_reading(path, bytes); }, nothing});
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
    auto victim = process::fork([&] {
      auto mine = open(settings);
      return mine && mine->put(one) ? 0 : 1;
    });
    ::unsetenv("TROUPE_STORE_CRASH_POINT");
    if (!victim || victim->wait().exited)
      return failed("the process that was to die in the lock did not");
  }
  auto begin = store_clock::now();
  if (const auto found = store->find(objects.front().id()); !found)
    return failed("find", found);
  const auto recovered = seconds_since(begin);

  words ready;
  auto holder = process::fork([&] {
    auto mine = open(settings);
    std::vector<stores::handle> held;
    for (const auto& object : objects)
      if (auto found = mine->find(object.id()))
        held.push_back(*std::move(found));
    ready.say('r');
    ::pause();
    return 0;
  });
  char sign = 0;
  if (!holder || !ready.hear(sign))
    return failed("the process that was to hold all has ended");
  holder->kill();
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
