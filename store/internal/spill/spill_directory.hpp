// The files of objects that were moved out of memory: naming, writing, reading and removing them. Takes no locks.
//
// A file contains the extents of one or more objects one after the other and nothing else. The object table has the
// position and checksum of each.
#pragma once

#include <troupe/store/fwd.hpp>
#include <troupe/store/internal/files/store_files.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace troupe::store::internal {

/// CRC32C (RFC 3720) over consecutive pieces.
class checksum {
public:
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint32_t value() const { return ~sum_; }

private:
  std::uint32_t sum_ = ~std::uint32_t{0};
};

/// Waits before a full or failing disk is retried. Returns false if the wait would take too long; then there is no
/// retry.
using disk_pause = std::function<bool(std::chrono::nanoseconds)>;

/// The files in one spill directory. A full or failing disk is retried up to three times, half a second in all, if
/// `pause` allows.
///
/// Threads: any.
class spill_directory {
public:
  /// No directory: nothing is spilled.
  spill_directory() = default;
  spill_directory(std::filesystem::path directory, std::string prefix)
      : directory_(std::move(directory)), prefix_(std::move(prefix)) {}

  [[nodiscard]] bool is_there() const { return !directory_.empty(); }
  [[nodiscard]] const std::filesystem::path& path() const { return directory_; }

  /// Makes a new, empty file, private to this user. Replaces a file of that name, which a dead process has left. Fails
  /// as system_failure() does.
  [[nodiscard]] std::expected<owned_file, store_error> create(std::uint32_t file, std::uint32_t generation,
                                                              const disk_pause& pause) const;

  /// Appends `bytes`. Returns their checksum. Fails with `full` or as system_failure() does.
  [[nodiscard]] std::expected<std::uint32_t, store_error>
  append(const owned_file& file, std::span<const std::byte> bytes, const disk_pause& pause) const;

  /// Reads into `into`. Fails with `damaged` if the file is gone or cut short, or if the bytes do not have that
  /// checksum, and as system_failure() does.
  [[nodiscard]] std::expected<void, store_error> read(std::uint32_t file, std::uint32_t generation,
                                                      std::uint64_t offset, std::span<std::byte> into,
                                                      std::uint32_t wanted_sum, const disk_pause& pause) const;

  /// Makes a new file of that size, mapped for writing; no other process reads it yet. Allocates its disk room, unless
  /// the file `grows`; then commit() must allocate the room before a byte is written there. Fails with `full` or as
  /// system_failure() does.
  [[nodiscard]] std::expected<mapping_ptr, store_error> create_mapped(std::uint32_t file, std::uint32_t generation,
                                                                      std::uint64_t bytes, bool grows,
                                                                      const disk_pause& pause) const;

  /// Allocates disk room for [from, until). Fails with `full` or `system_failure`.
  [[nodiscard]] std::expected<void, store_error> commit(std::uint32_t file, std::uint32_t generation,
                                                        std::uint64_t from, std::uint64_t until) const;

  /// Maps the file read-only. Fails with `damaged` if the file is gone or shorter.
  [[nodiscard]] std::expected<mapping_ptr, store_error> map(std::uint32_t file, std::uint32_t generation,
                                                            std::uint64_t bytes) const;

  /// Maps a part of a file read-only, for reading in place. Fails as `read` does.
  [[nodiscard]] std::expected<mapping_ptr, store_error> map_part(std::uint32_t file, std::uint32_t generation,
                                                                 std::uint64_t offset, std::uint64_t bytes,
                                                                 std::uint32_t wanted_sum,
                                                                 const disk_pause& pause) const;

  /// Truncates the file to `bytes`. If that fails, only disk room is lost.
  void cut(std::uint32_t file, std::uint32_t generation, std::uint64_t bytes) const noexcept;

  void remove(std::uint32_t file, std::uint32_t generation) const noexcept;

private:
  [[nodiscard]] std::filesystem::path path_of(std::uint32_t file, std::uint32_t generation) const;
  [[nodiscard]] static std::expected<owned_file, store_error> open(const std::filesystem::path& path);
  [[nodiscard]] static std::expected<void, store_error>
  read_checked(const owned_file& file, const std::filesystem::path& path, std::uint64_t offset, std::size_t bytes,
               std::uint32_t wanted_sum, const disk_pause& pause,
               const std::function<std::span<std::byte>(std::size_t)>& room_for);

  std::filesystem::path directory_;
  std::string prefix_;
};

} // namespace troupe::store::internal
