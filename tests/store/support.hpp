// Shared by the store's tests: a store of the test's own, child processes that run a part of the test, waits with a
// deadline.
#pragma once

#include "../eventually.hpp"

#include <troupe/processes/process.hpp>
#include <troupe/store/object_store.hpp>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace troupe::store::test {

using namespace std::chrono_literals;

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

[[nodiscard]] inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

using tests::eventually;

/// A value that this process and its children share.
template <class T>
class shared {
public:
  shared() : value_(new (::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) T{}) {}
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;
  ~shared() { ::munmap(value_, sizeof(T)); }

  [[nodiscard]] T* operator->() const { return value_; }
  [[nodiscard]] T& operator*() const { return *value_; }

private:
  T* value_;
};

using processes::ending;
inline constexpr auto fine = processes::exited_with(0);
inline constexpr auto killed = processes::killed_by(SIGKILL);

/// A forked process that runs `body` and exits with what it returns, without running the parent's destructors. It is
/// killed at the end of the test at the latest.
class child {
public:
  template <class Body>
  explicit child(Body body) : process_(processes::process::fork(std::move(body)).value()) {}

  [[nodiscard]] pid_t pid() const { return process_.number(); }

  void kill(int signal = SIGKILL) { process_.signal(signal); }

  /// Waits at most 60 seconds for the process to end, and kills it after that.
  ending wait() {
    const auto ended = process_.ended_within(60s);
    EXPECT_TRUE(ended) << "process " << pid() << " hung";
    return ended ? *ended : process_.kill();
  }

  void kill_and_wait() { process_.kill(); }

  /// Waits at most 30 seconds until a SIGSTOP has taken effect.
  void wait_until_stopped() { ASSERT_TRUE(process_.is_stopped_within(30s)) << "or it has ended"; }

private:
  processes::process process_;
};

/// ThreadSanitizer confuses the threads of a child with those that its parent had.
#if defined(__SANITIZE_THREAD__)
inline constexpr auto may_fork_beside_threads = false;
#else
inline constexpr auto may_fork_beside_threads = true;
#endif

/// Hides all later mounts of this process from other processes. Returns false if it has no right to do so.
[[nodiscard]] inline bool enter_own_mount_namespace() {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/// Gives each test a store name of its own, and checks that the test leaves no files behind.
class store_test : public ::testing::Test {
protected:
  store_test() {
    settings_.name = std::to_string(::getpid()) + "_" + std::to_string(next_++);
    settings_.capacity_bytes = 1u << 20;
    settings_.objects_max = 4096;
    settings_.full_grace = 0ms;
    settings_.reap_interval = 0ms; // The tests say when to reap.
  }

  void TearDown() override {
    EXPECT_EQ(files(), std::vector<std::string>{}) << "left in " << settings_.directory;
    for (const auto& name : files())
      std::filesystem::remove(settings_.directory / name);
  }

  [[nodiscard]] object_store open() const { return open(settings_); }

  [[nodiscard]] static object_store open(const options& settings) {
    auto opened = object_store::open(settings);
    if (!opened) {
      std::cerr << "open failed: " << opened.error().message() << std::endl;
      std::abort();
    }
    return std::move(*opened);
  }

  /// Opens and closes the store once, which reaps dead processes and removes what they left.
  void tidy() const { (void)open().reap(); }

  [[nodiscard]] std::vector<std::string> files() const {
    auto names = std::vector<std::string>{};
    for (const auto& entry : std::filesystem::directory_iterator(settings_.directory))
      if (const auto name = entry.path().filename().string(); name.find("." + settings_.name + ".") != name.npos)
        names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
  }

  [[nodiscard]] std::filesystem::path file_ending_in(std::string_view end) const {
    for (const auto& name : files())
      if (name.ends_with(end))
        return settings_.directory / name;
    return {};
  }

  /// Runs `body` in a child in which the store's directory is a tmpfs of its own, mounted with `mount_options`. Returns
  /// `no_mount` if the child has no right to mount.
  template <class Body>
  [[nodiscard]] ending in_small_file_system(const char* mount_options, Body body) {
    const auto directory = std::filesystem::temp_directory_path() / ("troupe-small-" + settings_.name);
    std::filesystem::create_directories(directory);
    const auto how =
        child([&] {
          if (!enter_own_mount_namespace() || ::mount("tmpfs", directory.c_str(), "tmpfs", 0, mount_options) != 0)
            return no_mount.code;
          settings_.directory = directory;
          return static_cast<int>(body());
        }).wait();
    std::filesystem::remove_all(directory);
    return how;
  }

  static constexpr auto no_mount = ending{true, 77, 0};

  options settings_;

private:
  static inline int next_ = 0;
};

/// The object's bytes as text, or the error's message.
[[nodiscard]] inline std::string read(const handle& object) {
  const auto view = object.pin();
  return view ? text_of(view->bytes()) : view.error().message();
}

template <class T>
[[nodiscard]] store_errc code_of(const std::expected<T, store_error>& result) {
  return result ? store_errc::none : result.error().code();
}

template <class T>
[[nodiscard]] std::string message_of(const std::expected<T, store_error>& result) {
  return result ? std::string{} : result.error().message();
}

/// A put that must succeed. If it fails, it ends the process, so that it also works in a child.
[[nodiscard]] inline handle put(object_store& store, std::string_view text, std::span<const object_id> captured = {}) {
  auto made = store.put(bytes_of(text), {}, captured);
  if (!made) {
    std::cerr << "put failed: " << made.error().message() << std::endl;
    std::abort();
  }
  return std::move(*made);
}

} // namespace troupe::store::test
