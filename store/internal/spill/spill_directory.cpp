#include <troupe/store/internal/spill/spill_directory.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/host/fork_epoch.hpp>
#include <troupe/store/internal/host/system_error.hpp>

#include <fcntl.h>
#include <isa-l/crc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <vector>

namespace troupe::store::internal {

namespace {

using namespace std::chrono_literals;

// The pause before each retry.
constexpr auto pauses = std::array{10ms, 100ms, 400ms};

// Bytes that are checked and copied at a time, so that they stay in a core's cache in between.
constexpr auto piece_bytes = std::size_t{256} << 10;

constexpr auto write_step_bytes = off_t{8} << 20;

constexpr auto read_ahead_bytes_max = std::size_t{8} << 20;

/// Starts the write-back early. Spilled bytes must leave memory, and a writer that fills memory first has to wait.
void start_writing(const owned_file& file, std::size_t added) {
  const auto end = ::lseek(file.descriptor(), 0, SEEK_CUR);
  const auto begin = end - static_cast<off_t>(added);
  const auto from = begin / write_step_bytes * write_step_bytes;
  const auto until = end / write_step_bytes * write_step_bytes;
  if (until > from)
    (void)::sync_file_range(file.descriptor(), from, until - from, SYNC_FILE_RANGE_WRITE);
}

/// Maps a file. A forked child does not inherit a writable mapping, because that would be the parent's object.
[[nodiscard]] std::expected<mapping_ptr, store_error> map_shared(const owned_file& file, std::uint64_t bytes,
                                                                 int protection, const std::filesystem::path& path,
                                                                 off_t offset = 0) {
  auto* const base = ::mmap(nullptr, bytes, protection, MAP_SHARED, file.descriptor(), offset);
  if (base == MAP_FAILED)
    return std::unexpected(system_failure("mmap", path));
  if ((protection & PROT_WRITE) != 0)
    (void)::madvise(base, bytes, MADV_DONTFORK);
  return mapping_ptr{base, [bytes, epoch = current_fork_epoch()](const void* mapped) {
                       if (epoch == current_fork_epoch()) // In a child, something else may be mapped there.
                         ::munmap(const_cast<void*>(mapped), bytes);
                     }};
}

/// Whether the failure in errno may pass. If so, has waited for that. Preserves errno.
[[nodiscard]] bool may_try_again(std::size_t& tries, const disk_pause& pause) {
  const auto error = errno;
  const auto may_pass =
      error == ENOSPC || error == EDQUOT || error == EIO || error == EAGAIN || error == ENOBUFS || error == ENOMEM;
  const auto may = may_pass && tries < pauses.size() && pause(pauses[tries++]);
  errno = error;
  return may;
}

} // namespace

void checksum::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), piece_bytes));
    // ISA-L only reads its non-const argument.
    sum_ = ::crc32_iscsi(reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data())),
                         static_cast<int>(piece.size()), sum_);
    bytes = bytes.subspan(piece.size());
  }
}

std::filesystem::path spill_directory::path_of(std::uint32_t file, std::uint32_t generation) const {
  return directory_ / (prefix_ + "spill." + std::to_string(file) + "." + std::to_string(generation));
}

std::expected<owned_file, store_error> spill_directory::create(std::uint32_t file, std::uint32_t generation,
                                                               const disk_pause& pause) const {
  const auto path = path_of(file, generation);
  ::unlink(path.c_str());
  for (auto tries = std::size_t{0};;) {
    auto made = owned_file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (made.descriptor() >= 0)
      return made;
    if (!may_try_again(tries, pause))
      return std::unexpected(disk_failure("open", path));
  }
}

std::expected<std::uint32_t, store_error>
spill_directory::append(const owned_file& file, std::span<const std::byte> bytes, const disk_pause& pause) const {
  const auto begin = ::lseek(file.descriptor(), 0, SEEK_CUR);
  if (auto may = check_file_limit(static_cast<std::uint64_t>(begin) + bytes.size(), directory_); !may)
    return std::unexpected(may.error());
  auto sum = checksum{};
  for (auto tries = std::size_t{0}; !bytes.empty();) {
    const auto written = ::write(file.descriptor(), bytes.data(), std::min(bytes.size(), piece_bytes));
    if (written > 0) {
      sum.add(bytes.first(static_cast<std::size_t>(written)));
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      start_writing(file, static_cast<std::size_t>(written));
      continue;
    }
    if (written < 0 && errno == EINTR)
      continue;
    if (written == 0)
      errno = EAGAIN;
    if (!may_try_again(tries, pause))
      return std::unexpected(disk_failure("write", directory_));
  }
  return sum.value();
}

std::expected<owned_file, store_error> spill_directory::open(const std::filesystem::path& path) {
  auto opened = owned_file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (opened.descriptor() >= 0)
    return opened;
  if (errno == ENOENT)
    return std::unexpected(store_error{store_errc::damaged, path.string() + " is gone"});
  return std::unexpected(disk_failure("open", path));
}

/// Reads `bytes` from `offset` on and compares their checksum. `room_for` gets the number of bytes already read and
/// returns the buffer for the next piece.
std::expected<void, store_error>
spill_directory::read_checked(const owned_file& file, const std::filesystem::path& path, std::uint64_t offset,
                              std::size_t bytes, std::uint32_t wanted_sum, const disk_pause& pause,
                              const std::function<std::span<std::byte>(std::size_t)>& room_for) {
  auto tries = std::size_t{0};
  auto sum = checksum{};
  for (auto done = std::size_t{0}; done < bytes;) {
    const auto room = room_for(done);
    const auto got = ::pread(file.descriptor(), room.data(), room.size(), static_cast<off_t>(offset + done));
    if (got > 0) {
      sum.add(room.first(static_cast<std::size_t>(got)));
      done += static_cast<std::size_t>(got);
    } else if (got == 0) {
      return std::unexpected(store_error{store_errc::damaged, path.string() + " is cut short: " + grouped(bytes - done)
                                                                  + " of " + grouped(bytes) + " bytes are missing"});
    } else if (errno != EINTR) {
      if (!may_try_again(tries, pause))
        return std::unexpected(system_failure("read", path));
    }
  }
  if (sum.value() != wanted_sum)
    return std::unexpected(store_error{store_errc::damaged, path.string() + " was changed: the checksum of "
                                                                + grouped(bytes) + " bytes at " + grouped(offset)
                                                                + " is wrong"});
  return {};
}

std::expected<void, store_error> spill_directory::read(std::uint32_t file, std::uint32_t generation,
                                                       std::uint64_t offset, std::span<std::byte> into,
                                                       std::uint32_t wanted_sum, const disk_pause& pause) const {
  const auto path = path_of(file, generation);
  const auto opened = open(path);
  if (!opened)
    return std::unexpected(opened.error());
  // The next objects in the file were also the next least recently used ones, and are often wanted next.
  (void)::posix_fadvise(opened->descriptor(), static_cast<off_t>(offset),
                        static_cast<off_t>(into.size() + std::min(4 * into.size(), read_ahead_bytes_max)),
                        POSIX_FADV_WILLNEED);
  return read_checked(*opened, path, offset, into.size(), wanted_sum, pause,
                      [&](std::size_t done) { return into.subspan(done, std::min(into.size() - done, piece_bytes)); });
}

std::expected<mapping_ptr, store_error> spill_directory::map_part(std::uint32_t file, std::uint32_t generation,
                                                                  std::uint64_t offset, std::uint64_t bytes,
                                                                  std::uint32_t wanted_sum,
                                                                  const disk_pause& pause) const {
  const auto path = path_of(file, generation);
  const auto opened = open(path);
  if (!opened)
    return std::unexpected(opened.error());
  auto scratch = std::vector<std::byte>(std::min<std::size_t>(bytes, piece_bytes));
  const auto room_for = [&](std::size_t done) {
    return std::span{scratch}.first(std::min<std::size_t>(bytes - done, scratch.size()));
  };
  if (auto checked = read_checked(*opened, path, offset, bytes, wanted_sum, pause, room_for); !checked)
    return std::unexpected(checked.error());
  const auto before = offset % page_bytes;
  auto mapped = map_shared(*opened, before + bytes, PROT_READ, path, static_cast<off_t>(offset - before));
  if (!mapped)
    return mapped;
  const auto* const begin = static_cast<const std::byte*>(mapped->get()) + before;
  return mapping_ptr{*std::move(mapped), begin};
}

namespace {

[[nodiscard]] store_error no_room(std::uint64_t bytes, const std::filesystem::path& path) {
  if (errno != ENOSPC && errno != EDQUOT && errno != EFBIG)
    return disk_failure("fallocate", path);
  return {store_errc::disk_full,
          "the disk has no " + grouped(bytes) + " bytes left for " + path.string() + ": " + std::strerror(errno)};
}

} // namespace

std::expected<mapping_ptr, store_error> spill_directory::create_mapped(std::uint32_t file, std::uint32_t generation,
                                                                       std::uint64_t bytes, bool grows,
                                                                       const disk_pause& pause) const {
  const auto made = create(file, generation, pause);
  if (!made)
    return std::unexpected(made.error());
  const auto path = path_of(file, generation);
  if (auto may = check_file_limit(bytes, path); !may)
    return std::unexpected(may.error());
  if (grows && ::ftruncate(made->descriptor(), static_cast<off_t>(bytes)) != 0)
    return std::unexpected(disk_failure("ftruncate", path));
  for (auto tries = std::size_t{0}; !grows && ::fallocate(made->descriptor(), 0, 0, static_cast<off_t>(bytes)) != 0;)
    if (errno != EINTR && !may_try_again(tries, pause))
      return std::unexpected(no_room(bytes, path));
  return map_shared(*made, bytes, PROT_READ | PROT_WRITE, path);
}

std::expected<void, store_error> spill_directory::commit(std::uint32_t file, std::uint32_t generation,
                                                         std::uint64_t from, std::uint64_t until) const {
  const auto path = path_of(file, generation);
  const auto opened = owned_file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (opened.descriptor() < 0)
    return std::unexpected(disk_failure("open", path));
  while (::fallocate(opened.descriptor(), 0, static_cast<off_t>(from), static_cast<off_t>(until - from)) != 0)
    if (errno != EINTR)
      return std::unexpected(no_room(until - from, path));
  return {};
}

std::expected<mapping_ptr, store_error> spill_directory::map(std::uint32_t file, std::uint32_t generation,
                                                             std::uint64_t bytes) const {
  const auto path = path_of(file, generation);
  const auto opened = open(path);
  if (!opened)
    return std::unexpected(opened.error());
  struct stat status {};
  if (::fstat(opened->descriptor(), &status) != 0)
    return std::unexpected(system_failure("fstat", path));
  const auto have = static_cast<std::uint64_t>(status.st_size);
  if (have < bytes)
    return std::unexpected(store_error{store_errc::damaged, path.string() + " is cut short: " + grouped(bytes - have)
                                                                + " of " + grouped(bytes) + " bytes are missing"});
  return map_shared(*opened, bytes, PROT_READ, path);
}

void spill_directory::cut(std::uint32_t file, std::uint32_t generation, std::uint64_t bytes) const noexcept {
  (void)::truncate(path_of(file, generation).c_str(), static_cast<off_t>(bytes));
}

void spill_directory::remove(std::uint32_t file, std::uint32_t generation) const noexcept {
  ::unlink(path_of(file, generation).c_str());
}

} // namespace troupe::store::internal
