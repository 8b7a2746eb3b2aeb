// Objects in this process's mapping of the data file.
#pragma once

#include <troupe/store/internal/files/store_files.hpp>
#include <troupe/store/internal/host/environment.hpp>
#include <troupe/store/internal/table/control_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::store::internal {

/// Knows the addresses of an object's bytes in this process. The metadata comes first.
///
/// Threads: any.
class object_memory {
public:
  /// `files` must outlive this object.
  explicit object_memory(const mapped_store& files)
      : view_(files.view),
        writable_(static_cast<std::byte*>(files.writable.get_address())),
        readable_(static_cast<const std::byte*>(files.readable.get_address())) {}

  /// Addresses of `offset` in the two mappings of the data file.
  [[nodiscard]] std::byte* writable(std::uint64_t offset) const { return writable_ + offset; }
  [[nodiscard]] const std::byte* readable(std::uint64_t offset) const { return readable_ + offset; }

  /// Requires: the object has an extent in the data file.
  [[nodiscard]] std::span<std::byte> extent_of(std::uint32_t index) const {
    return {writable_ + view_.object(index).offset, length_of(index)};
  }
  [[nodiscard]] std::span<const std::byte> readable_extent_of(std::uint32_t index) const {
    return {readable_ + view_.object(index).offset, length_of(index)};
  }
  [[nodiscard]] std::uint64_t length_of(std::uint32_t index) const {
    const auto& row = view_.object(index);
    return extent_length(row.size_bytes.load(), row.metadata_bytes);
  }

  /// If TROUPE_PROTECT_SEALED is set in the environment, this process cannot write the whole pages of a sealed object.
  void protect(std::uint32_t index) const noexcept;
  void unprotect(std::uint32_t index) const noexcept;

private:
  control_view view_;
  std::byte* const writable_;
  const std::byte* const readable_;
  const bool protects_sealed_ = is_set("TROUPE_PROTECT_SEALED");
};

} // namespace troupe::store::internal
