// Objects of another host when a store is full: the store of this host, or the store of the host that has the objects.
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>

#include <sched.h>
#include <sys/mount.h>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using array_ref = object_ref<array<double>>;

class pulled_full : public two_nodes {
protected:
  explicit pulled_full(bool has_own_disk = false) : has_own_disk_(has_own_disk && mount_near_files()) {
    near_options_.store =
        store::options{.name = unique_name("near-host"), .capacity_bytes = store_bytes, .spill_directory = near_files_};
    far_options_.store =
        store::options{.name = unique_name("far-host"), .capacity_bytes = store_bytes, .spill_directory = far_files_};
    connect();
    publish("keeper", far().system.spawn([this]() -> caf::behavior {
      return {[this](const array_ref& ref) {
        std::lock_guard guard{mutex_};
        kept_ = ref;
        return 1;
      }};
    }));
  }
  ~pulled_full() override {
    views_.clear();
    kept_ = {};
    link_.reset();
    near_.reset();
    far_.reset();
    if (has_own_disk_) {
      EXPECT_EQ(::umount2(near_files_.c_str(), MNT_DETACH), 0);
    }
    std::filesystem::remove_all(near_files_);
    std::filesystem::remove_all(far_files_);
  }

  /// Mounts near_files_ as a file system that only this process sees. Returns false if the process has no right to do
  /// so.
  [[nodiscard]] bool mount_near_files() const {
    std::filesystem::create_directories(near_files_);
    return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
           && ::mount("tmpfs", near_files_.c_str(), "tmpfs", 0, "size=2m") == 0;
  }

  /// Puts an object at near and sends a handle to far. Nothing maps the object.
  array_ref send() {
    const auto ref = near().home->put(array<double>(std::vector<double>(10'000, 3.0))).value();
    EXPECT_EQ(ask<int>(near().system, find("keeper"), ref), 1);
    std::lock_guard guard{mutex_};
    return std::exchange(kept_, {});
  }

  /// Maps `bytes` of the store from now on; by default maps all of it.
  void fill(side& which, std::size_t bytes = store_bytes) {
    auto made = store::object_store{*which.home->store()}.put(std::vector<std::byte>(bytes));
    if (!made)
      throw std::runtime_error(made.error().message());
    views_.push_back(made->pin().value());
  }

  static void expect_full(const std::expected<array<double>, node_error>& got, std::string_view whose) {
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code(), node_errc::store_full) << got.error().message();
    EXPECT_NE(got.error().message().find(whose), std::string::npos) << got.error().message();
    EXPECT_NE(got.error().message().find("80,000 bytes"), std::string::npos) << got.error().message();
  }

  static constexpr std::size_t store_bytes = 1_MiB;
  const std::filesystem::path near_files_ = std::filesystem::temp_directory_path() / unique_name("troupe-near");
  const bool has_own_disk_; // Of near's store.
  const std::filesystem::path far_files_ = std::filesystem::temp_directory_path() / unique_name("troupe-far");
  std::mutex mutex_;
  array_ref kept_; // Guarded by mutex_.
  std::vector<store::pin> views_;
};

TEST_F(pulled_full, who_has_no_time_left_is_told_that_the_store_here_is_full) {
  const auto ref = send();
  fill(far());
  const auto got = ref.get(600ms);
  expect_full(got, "the local store");
  EXPECT_NE(got.error().message().find("store has"), std::string::npos) << got.error().message();
}

TEST_F(pulled_full, what_waits_behind_another_for_room_says_so_too) {
  const auto first = send(), second = send();
  fill(far());
  auto other = std::async(std::launch::async, [&] { return first.get(1s); });
  expect_full(second.get(1s), "the local store");
  expect_full(other.get(), "the local store");
}

TEST_F(pulled_full, who_has_time_left_gets_it_when_there_is_room) {
  const auto ref = send();
  fill(far());
  auto got = std::async(std::launch::async, [&] { return ref.get(10s); });
  EXPECT_EQ(got.wait_for(300ms), std::future_status::timeout);
  views_.clear();
  const auto value = got.get();
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ((*value)[0], 3.0);
}

TEST_F(pulled_full, who_has_no_time_left_is_told_that_the_store_there_is_full) {
  const auto ref = send();
  fill(near());
  const auto began = std::chrono::steady_clock::now();
  expect_full(ref.get(700ms), "the store of node near");
  EXPECT_GE(std::chrono::steady_clock::now() - began, 700ms);
}

TEST_F(pulled_full, the_store_there_is_asked_again_as_long_as_there_is_time) {
  const auto ref = send();
  fill(near());
  auto got = std::async(std::launch::async, [&] { return ref.get(10s); });
  EXPECT_EQ(got.wait_for(700ms), std::future_status::timeout);
  views_.clear();
  const auto value = got.get();
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ((*value)[0], 3.0);
}

// Goal: a fetch that cannot succeed does not delay a fetch that can.
TEST_F(pulled_full, what_lies_in_memory_there_comes_before_what_finds_no_room) {
  const auto on_disk = send();
  fill(near());
  views_.clear();
  fill(near(), store_bytes - 90'048); // There is room for one.
  const auto in_memory = near().home->put(array<double>(std::vector<double>(10'000, 4.0))).value();
  const auto view = in_memory.get().value(); // Keeps it in memory.
  EXPECT_EQ(ask<int>(near().system, find("keeper"), in_memory), 1);
  auto late = std::async(std::launch::async, [&] { return on_disk.get(1s); });
  const auto value = kept_.get(10s);
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ((*value)[0], 4.0);
  expect_full(late.get(), "the store of node near");
}

TEST_F(pulled_full, what_was_pulled_and_is_on_disk_again_waits_no_longer_than_was_said) {
  const auto ref = send();
  const auto size = [&] { // Unlike get(), this leaves nothing mapped.
    std::promise<std::size_t> came;
    internal::state_of(ref)->source->fetch(std::chrono::steady_clock::now() + 10s,
                                           [&](auto bytes) { came.set_value(bytes ? bytes->size_bytes() : 0); });
    return came.get_future().get();
  }();
  ASSERT_EQ(size, 80'000u);
  fill(far());
  EXPECT_EQ(ref.get().error().code(), node_errc::store_full);
  EXPECT_EQ(ref.get(200ms).error().code(), node_errc::store_full);
  views_.clear();
  EXPECT_TRUE(ref.get(10s));
}

class pulled_full_disk : public pulled_full {
protected:
  pulled_full_disk() : pulled_full(true) {}
};

// Goal: an object on a full disk can be read from there, although there is no room to bring it back.
TEST_F(pulled_full_disk, there_keeps_nobody_from_what_lies_on_it) {
  if (!has_own_disk_)
    GTEST_SKIP() << "no right to mount";
  const auto ref = send();
  fill(near());
  views_.clear();
  auto ballast = std::ofstream{near_files_ / "somebody else's", std::ios::binary};
  ballast << std::string(std::filesystem::space(near_files_).available, 'b') << std::flush;
  // To bring it back, some of these objects would have to go to the disk.
  std::vector<store::handle> others;
  for (int i = 0; i < 13; ++i)
    others.push_back(store::object_store{*near().home->store()}.put(std::vector<std::byte>(80'000)).value());
  const auto value = ref.get(10s);
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ((*value)[0], 3.0);
  EXPECT_EQ((*value)[9'999], 3.0);
}

} // namespace
} // namespace troupe::tests
