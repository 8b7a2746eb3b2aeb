// Shared by the cases: stores, stopwatches, other processes.
#pragma once

#include "harness/rounds.hpp"
#include "store/options.hpp"

#include <troupe/processes/process.hpp>
#include <troupe/store/object_store.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <expected>
#include <string>
#include <utility>

namespace bench {

namespace stores = troupe::store;

using troupe::processes::process;

using done = std::expected<void, failure>;

using store_clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(store_clock::time_point begin) {
  return std::chrono::duration<double>(store_clock::now() - begin).count();
}

template <class Value>
[[nodiscard]] std::unexpected<failure> failed(const char* what, const std::expected<Value, stores::store_error>& how) {
  return std::unexpected{failure{.reason = std::string{what} + ": " + how.error().message()}};
}

[[nodiscard]] inline std::unexpected<failure> failed(std::string why) {
  return std::unexpected{failure{.reason = std::move(why)}};
}

/// Options of a store that no other run uses.
[[nodiscard]] inline stores::options own_store(std::uint64_t capacity_bytes) {
  static int next = 0;
  stores::options settings;
  settings.name = fmt::format("bench-{}-{}", ::getpid(), next++);
  settings.capacity_bytes = capacity_bytes;
  return settings;
}

[[nodiscard]] inline std::expected<stores::object_store, failure> open(const stores::options& settings) {
  auto opened = stores::object_store::open(settings);
  if (!opened)
    return failed("opening a store", opened);
  return *std::move(opened);
}

[[nodiscard]] inline std::string size_name(std::uint64_t bytes) {
  return bytes >= 1 << 20 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

/// A pipe for words between this process and its children.
class words {
public:
  words() {
    if (::pipe(ends_) != 0)
      ends_[0] = ends_[1] = -1;
  }
  words(const words&) = delete;
  words& operator=(const words&) = delete;
  ~words() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  template <class T>
  bool say(const T& what) const {
    return ::write(ends_[1], &what, sizeof(what)) == sizeof(what);
  }
  template <class T>
  bool hear(T& what) const {
    return ::read(ends_[0], &what, sizeof(what)) == sizeof(what);
  }

private:
  int ends_[2];
};

} // namespace bench
