#include <troupe/store/internal/spill_directory.hpp>

#include <troupe/framework/base/sizes.hpp>
#include <troupe/store/internal/system_error.hpp>

#include <fcntl.h>
#include <isa-l/crc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

namespace troupe::store::internal {

namespace {

using namespace std::chrono_literals;

// Before each try again.
constexpr auto pauses = std::array{10ms, 100ms, 400ms};

// A call of the system moves at most two gigabytes.
constexpr auto piece_bytes = std::size_t{1} << 30;

/// Whether waiting a moment may help.
[[nodiscard]] bool may_pass(int error) {
  return error == ENOSPC || error == EDQUOT || error == EIO || error == EAGAIN || error == ENOBUFS || error == ENOMEM;
}

} // namespace

std::uint32_t checksum_of(std::span<const std::byte> bytes) {
  auto sum = ~std::uint32_t{0};
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), piece_bytes));
    // ISA-L only reads what it takes as writable.
    sum = ::crc32_iscsi(reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data())),
                        static_cast<int>(piece.size()), sum);
    bytes = bytes.subspan(piece.size());
  }
  return ~sum;
}

std::filesystem::path spill_directory::path_of(std::uint32_t file, std::uint32_t generation) const {
  return directory_ / (prefix_ + "spill." + std::to_string(file) + "." + std::to_string(generation));
}

std::expected<owned_file, store_error> spill_directory::create(std::uint32_t file, std::uint32_t generation) const {
  const auto path = path_of(file, generation);
  ::unlink(path.c_str());
  for (auto tries = std::size_t{0};; ++tries) {
    auto made = owned_file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (made.descriptor() >= 0)
      return made;
    if (!may_pass(errno) || tries == pauses.size())
      return std::unexpected(system_failure("open", path));
    std::this_thread::sleep_for(pauses[tries]);
  }
}

std::expected<void, store_error> spill_directory::append(const owned_file& file,
                                                         std::span<const std::byte> bytes) const {
  for (auto tries = std::size_t{0}; !bytes.empty();) {
    const auto written = ::write(file.descriptor(), bytes.data(), std::min(bytes.size(), piece_bytes));
    if (written > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      continue;
    }
    if (written < 0 && errno == EINTR)
      continue;
    if ((written < 0 && !may_pass(errno)) || tries == pauses.size())
      return std::unexpected(system_failure("write", directory_));
    std::this_thread::sleep_for(pauses[tries++]);
  }
  return {};
}

std::expected<void, store_error> spill_directory::read(std::uint32_t file, std::uint32_t generation,
                                                       std::uint64_t offset, std::span<std::byte> into,
                                                       std::uint32_t checksum) const {
  const auto path = path_of(file, generation);
  const auto opened = owned_file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (opened.descriptor() < 0 && errno == ENOENT)
    return std::unexpected(store_error{store_errc::damaged, path.string() + " is gone"});
  if (opened.descriptor() < 0)
    return std::unexpected(system_failure("open", path));
  auto tries = std::size_t{0};
  for (auto left = into; !left.empty();) {
    const auto got = ::pread(opened.descriptor(), left.data(), std::min(left.size(), piece_bytes),
                             static_cast<off_t>(offset + into.size() - left.size()));
    if (got > 0) {
      left = left.subspan(static_cast<std::size_t>(got));
    } else if (got == 0) {
      return std::unexpected(store_error{store_errc::damaged, path.string() + " is cut short: " + grouped(left.size())
                                                                  + " of " + grouped(into.size())
                                                                  + " bytes are missing"});
    } else if (errno != EINTR) {
      if (!may_pass(errno) || tries == pauses.size())
        return std::unexpected(system_failure("read", path));
      std::this_thread::sleep_for(pauses[tries++]);
    }
  }
  if (checksum_of(into) != checksum)
    return std::unexpected(store_error{store_errc::damaged, path.string() + " was changed: the checksum of "
                                                                + grouped(into.size()) + " bytes at " + grouped(offset)
                                                                + " is wrong"});
  return {};
}

void spill_directory::remove(std::uint32_t file, std::uint32_t generation) const noexcept {
  ::unlink(path_of(file, generation).c_str());
}

} // namespace troupe::store::internal
