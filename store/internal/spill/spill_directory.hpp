// The files of objects that were moved out of memory: their names, writing, reading, removing. No locks.
//
// A file holds the extents of one or more objects one after the other and nothing else; where each begins, and its
// checksum, stand in the object table.
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

/// CRC32C (RFC 3720), of pieces one after the other.
class checksum {
public:
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint32_t value() const { return ~sum_; }

private:
  std::uint32_t sum_ = ~std::uint32_t{0};
};

/// Waits before a disk that is full or fails is tried again; where it gives false, that is too long, and it is not.
using disk_pause = std::function<bool(std::chrono::nanoseconds)>;

/// A disk that is full or fails is tried again a few times, half a second in all, if `pause` has time for that.
class spill_directory {
public:
  /// No directory: nothing is spilled.
  spill_directory() = default;
  spill_directory(std::filesystem::path directory, std::string prefix)
      : directory_(std::move(directory)), prefix_(std::move(prefix)) {}

  [[nodiscard]] bool is_there() const { return !directory_.empty(); }
  [[nodiscard]] const std::filesystem::path& path() const { return directory_; }

  /// A new, empty file of this user only. What lies under that name is a dead process's.
  [[nodiscard]] std::expected<owned_file, store_error> create(std::uint32_t file, std::uint32_t generation,
                                                              const disk_pause& pause) const;

  /// Appends; gives the checksum.
  [[nodiscard]] std::expected<std::uint32_t, store_error>
  append(const owned_file& file, std::span<const std::byte> bytes, const disk_pause& pause) const;

  /// Fails with `damaged` when the file is gone or cut short, or what is read does not have that checksum.
  [[nodiscard]] std::expected<void, store_error> read(std::uint32_t file, std::uint32_t generation,
                                                      std::uint64_t offset, std::span<std::byte> into,
                                                      std::uint32_t wanted_sum, const disk_pause& pause) const;

  /// A new file of that size, mapped for writing; readable by nobody else yet. With room on the disk, unless it
  /// `grows`: then commit() gives it that, before a byte is written there.
  [[nodiscard]] std::expected<mapping_ptr, store_error> create_mapped(std::uint32_t file, std::uint32_t generation,
                                                                      std::uint64_t bytes, bool grows,
                                                                      const disk_pause& pause) const;

  /// Gives [from, until) room on the disk. Fails with `full` or `system_failure`.
  [[nodiscard]] std::expected<void, store_error> commit(std::uint32_t file, std::uint32_t generation,
                                                        std::uint64_t from, std::uint64_t until) const;

  /// Read-only. Fails with `damaged` when the file is gone or shorter.
  [[nodiscard]] std::expected<mapping_ptr, store_error> map(std::uint32_t file, std::uint32_t generation,
                                                            std::uint64_t bytes) const;

  /// A part of a file, read-only, for reading in place. Fails as `read` does.
  [[nodiscard]] std::expected<mapping_ptr, store_error> map_part(std::uint32_t file, std::uint32_t generation,
                                                                 std::uint64_t offset, std::uint64_t bytes,
                                                                 std::uint32_t wanted_sum,
                                                                 const disk_pause& pause) const;

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
