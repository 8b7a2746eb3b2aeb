// Puts, finds, and hands over objects.
#include "store/parts.hpp"
#include "store/support.hpp"

#include "harness/statistics.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace bench {

namespace {

constexpr std::size_t small_bytes = 1024;

/// The least number of bytes copied for one value.
constexpr std::uint64_t large_bytes_together = 512 << 20;

quantity putting(std::uint64_t bytes) {
  return {"put " + size_name(bytes), "GB/s"};
}

const quantity putting_small{"put 1 KiB", "ns"};
const quantity finding{"find, pin, release", "ns"};

std::uint64_t repetitions(std::uint64_t bytes) {
  return std::max<std::uint64_t>(large_bytes_together / bytes, 3);
}

/// The median of `calls` calls, which is robust against disturbances.
template <class Call>
std::expected<double, failure> median_time(std::uint64_t calls, Call call) {
  std::vector<double> times;
  for (std::uint64_t i = 0; i < calls; ++i) {
    const auto begin = store_clock::now();
    if (auto done = call(); !done)
      return std::unexpected{done.error()};
    times.push_back(seconds_since(begin));
  }
  return median(std::move(times));
}

/// The mean in nanoseconds, after a warm-up of a twentieth of the calls.
template <class Call>
std::expected<double, failure> mean_ns(std::uint64_t calls, Call call) {
  for (std::uint64_t i = 0; i < calls / 20; ++i)
    if (auto done = call(); !done)
      return std::unexpected{done.error()};
  const auto begin = store_clock::now();
  for (std::uint64_t i = 0; i < calls; ++i)
    if (auto done = call(); !done)
      return std::unexpected{done.error()};
  return seconds_since(begin) / static_cast<double>(calls) * 1e9;
}

/// Like the store's own lock: shared between processes, and passed on when its owner dies.
class robust_lock {
public:
  robust_lock()
      : mutex_(static_cast<pthread_mutex_t*>(
          ::mmap(nullptr, sizeof(pthread_mutex_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  robust_lock(const robust_lock&) = delete;
  robust_lock& operator=(const robust_lock&) = delete;
  ~robust_lock() { ::munmap(mutex_, sizeof(pthread_mutex_t)); }

  void lock_and_unlock() {
    pthread_mutex_lock(mutex_);
    pthread_mutex_unlock(mutex_);
  }

private:
  pthread_mutex_t* mutex_;
};

done put_one(stores::object_store& store, const std::vector<std::byte>& bytes) {
  const auto made = store.put(bytes);
  if (!made)
    return failed("put", made);
  return {};
}

} // namespace

case_result put_large(const store_options& told) {
  observations all;
  for (const auto size : told.large_bytes) {
    auto store = open(own_store(2 * size + (1 << 20)));
    if (!store)
      return std::unexpected{store.error()};
    const std::vector<std::byte> bytes(size, std::byte{7});
    if (auto warm = put_one(*store, bytes); !warm)
      return std::unexpected{warm.error()};
    const auto time = median_time(repetitions(size), [&] { return put_one(*store, bytes); });
    if (!time)
      return std::unexpected{time.error()};
    all.emplace_back(putting(size), static_cast<double>(size) / *time / 1e9);
  }
  return all;
}

case_result put_cold(const store_options& told) {
  observations all;
  const auto bytes = std::vector<std::byte>(told.cold_bytes / 4, std::byte{7});
  for (const auto is_pretouched : {false, true}) {
    auto settings = own_store(told.cold_bytes * 2);
    settings.pretouch_bytes = is_pretouched ? settings.capacity_bytes : 0;
    auto store = open(settings);
    if (!store)
      return std::unexpected{store.error()};
    const auto is_ready = [&] {
      const auto summary = store->summary();
      return !summary || !is_pretouched || summary->committed_bytes >= settings.capacity_bytes;
    };
    while (!is_ready())
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    std::vector<stores::handle> kept; // While held, no object's memory is reused.
    const auto begin = store_clock::now();
    for (auto left = 4; left > 0; --left) {
      auto made = store->put(bytes);
      if (!made)
        return failed("put", made);
      kept.push_back(*std::move(made));
    }
    all.emplace_back(quantity{is_pretouched ? "first use of pages, pretouched" : "first use of pages", "GB/s"},
                     static_cast<double>(told.cold_bytes) / seconds_since(begin) / 1e9);
  }
  return all;
}

case_result copy_large(const store_options& told) {
  observations all;
  for (const auto size : told.large_bytes) {
    const std::vector<std::byte> from(size, std::byte{7});
    std::vector<std::byte> to(size, std::byte{8});
    const auto time = median_time(repetitions(size), [&]() -> done {
      std::memcpy(to.data(), from.data(), size);
      asm volatile("" : : "r"(to.data()) : "memory"); // Keeps the compiler from removing the copy.
      return {};
    });
    all.emplace_back(putting(size), static_cast<double>(size) / *time / 1e9);
  }
  return all;
}

case_result put_small(const store_options& told) {
  auto store = open(own_store(16 << 20));
  if (!store)
    return std::unexpected{store.error()};
  const std::vector<std::byte> bytes(small_bytes, std::byte{7});
  const auto time = mean_ns(told.small_puts, [&] { return put_one(*store, bytes); });
  if (!time)
    return std::unexpected{time.error()};
  return observations{{putting_small, *time}};
}

case_result lock_and_copy_small(const store_options& told) {
  robust_lock lock;
  const std::vector<std::byte> from(small_bytes, std::byte{7});
  std::vector<std::byte> to(small_bytes);
  const auto time = mean_ns(told.small_puts, [&]() -> done {
    lock.lock_and_unlock();
    std::memcpy(to.data(), from.data(), small_bytes);
    asm volatile("" : : "r"(to.data()) : "memory");
    lock.lock_and_unlock();
    return {};
  });
  return observations{{putting_small, *time}};
}

case_result find_small(const store_options& told) {
  auto store = open(own_store(16 << 20));
  if (!store)
    return std::unexpected{store.error()};
  const auto object = store->put(std::vector<std::byte>(small_bytes));
  if (!object)
    return failed("put", object);
  const auto id = object->id();
  const auto time = mean_ns(told.small_puts, [&]() -> done {
    const auto found = store->find(id);
    if (!found)
      return failed("find", found);
    const auto view = found->pin();
    if (!view)
      return failed("pin", view);
    return {};
  });
  if (!time)
    return std::unexpected{time.error()};
  return observations{{finding, *time}};
}

case_result lock_small(const store_options& told) {
  robust_lock lock;
  std::array<std::atomic<std::uint64_t>, 4> words{};
  const auto time = mean_ns(told.small_puts, [&]() -> done {
    lock.lock_and_unlock();
    for (auto& word : words)
      word.fetch_add(1);
    return {};
  });
  return observations{{finding, *time}};
}

case_result put_by_two(const store_options& told) {
  const auto settings = own_store(16 << 20);
  auto store = open(settings); // Keeps the store in existence.
  if (!store)
    return std::unexpected{store.error()};
  const auto put_many = [&](stores::object_store& into) {
    const std::vector<std::byte> bytes(small_bytes, std::byte{7});
    return mean_ns(told.small_puts, [&] { return put_one(into, bytes); });
  };
  const auto alone = put_many(*store);
  if (!alone)
    return std::unexpected{alone.error()};
  words ready;
  words go;
  words times;
  const auto run = [&] {
    auto mine = open(settings);
    char sign = 0;
    if (!mine || !ready.say('r') || !go.hear(sign))
      return 1;
    const auto mean = put_many(*mine);
    return mean && times.say(*mean) ? 0 : 1;
  };
  const auto first = process::fork(run);
  const auto second = process::fork(run);
  char sign = 0;
  std::array<double, 2> means{};
  if (!first || !second || !ready.hear(sign) || !ready.hear(sign) || !go.say('g') || !go.say('g')
      || !times.hear(means[0]) || !times.hear(means[1]))
    return failed("two processes");
  return observations{
      {{"put 1 KiB by two processes at once / by one", "times"}, *alone / means[0] + *alone / means[1]}};
}

case_result view_elsewhere(const store_options& told) {
  const auto largest = std::ranges::max(told.large_bytes);
  const auto settings = own_store(2 * largest);
  auto store = open(settings);
  if (!store)
    return std::unexpected{store.error()};
  words there;
  words back;
  const auto other = process::fork([&] {
    auto mine = open(settings);
    stores::object_id id;
    while (mine && there.hear(id)) {
      const auto found = mine->find(id);
      const auto view = found ? found->pin() : std::unexpected{found.error()};
      if (!view || !back.say(view->bytes().back()))
        return 1;
    }
    return 0;
  });
  if (!other)
    return failed(other.error());
  observations all;
  std::vector<double> medians;
  for (const std::uint64_t size : {std::uint64_t{64} << 10, largest}) {
    const auto object = store->put(std::vector<std::byte>(size, std::byte{7}));
    if (!object)
      return failed("put", object);
    const auto time = median_time(50, [&]() -> done {
      std::byte last{};
      if (!there.say(object->id()) || !back.hear(last))
        return failed("the other process has ended");
      return {};
    });
    if (!time)
      return std::unexpected{time.error()};
    medians.push_back(*time);
    all.emplace_back(quantity{"until another process sees " + size_name(size), "us"}, *time * 1e6);
  }
  all.emplace_back(quantity{"until another process sees the largest / 64 KiB", "times"}, medians[1] / medians[0]);
  return all;
}

} // namespace bench
