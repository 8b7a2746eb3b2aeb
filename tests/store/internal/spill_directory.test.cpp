// Writing to a disk that becomes full during the write, and reading back from it.
#include "../support.hpp"

#include <troupe/store/internal/spill/spill_directory.hpp>

#include <sys/mount.h>

#include <fstream>

namespace troupe::store::internal {

namespace {

using namespace std::chrono_literals;

/// Mounts a file system of 1 MiB as the directory.
class a_small_directory : public ::testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(path_);
    if (!test::enter_own_mount_namespace() || ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=1m") != 0)
      GTEST_SKIP() << "no right to mount";
    is_mounted_ = true;
  }

  void TearDown() override {
    if (is_mounted_) {
      EXPECT_EQ(::umount2(path_.c_str(), MNT_DETACH), 0);
    }
    std::filesystem::remove_all(path_);
  }

  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("troupe-spill-directory-" + std::to_string(::getpid()));
  const spill_directory directory_{path_, "test."};
  bool is_mounted_ = false;
};

// Goal: if bytes are written in several steps, their checksum counts each byte once.
// Method: the disk becomes full during a write, and has room again at the retry.
TEST_F(a_small_directory, takes_the_rest_when_it_has_room_again) {
  const auto ballast = path_ / "somebody else's";
  std::ofstream{ballast, std::ios::binary} << std::string(std::size_t{900} << 10, 'b');
  auto written = std::vector<std::byte>(std::size_t{250} << 10);
  for (auto at = std::size_t{0}; at < written.size(); ++at)
    written[at] = static_cast<std::byte>(at % 251);
  auto pauses = 0;
  const auto make_room = [&](std::chrono::nanoseconds) {
    std::filesystem::remove(ballast);
    return ++pauses < 10;
  };
  const auto file = directory_.create(1, 1, make_room);
  ASSERT_TRUE(file) << file.error().message();
  const auto sum = directory_.append(*file, written, make_room);
  ASSERT_TRUE(sum) << sum.error().message();
  EXPECT_EQ(pauses, 1) << "the disk was never full, so nothing was tried";
  auto read = std::vector<std::byte>(written.size());
  const auto done = directory_.read(1, 1, 0, read, *sum, make_room);
  EXPECT_TRUE(done) << done.error().message();
  EXPECT_TRUE(read == written);
}

} // namespace

} // namespace troupe::store::internal
