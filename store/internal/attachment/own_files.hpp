// Objects that are larger than the store.
#pragma once

#include <troupe/store/fwd.hpp>
#include <troupe/store/internal/attachment/store_errors.hpp>
#include <troupe/store/internal/spill/spill_directory.hpp>
#include <troupe/store/store_error.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>

namespace troupe::store::internal {

/// Keeps each object that is larger than the store in its own file in the spill directory; the file is mapped for use.
///
/// Threads: any.
class own_files {
public:
  // Larger objects fit into no address space.
  static constexpr auto largest_bytes = std::uint64_t{1} << 46;

  own_files(control_view view, const spill_directory& files, const store_errors& errors)
      : view_(view), files_(files), errors_(errors) {}

  [[nodiscard]] bool are_possible() const { return files_.is_there(); }

  /// Creates the file of an object whose row names one. Returns a mapping for writing.
  [[nodiscard]] std::expected<mapping_ptr, store_error> make(std::uint32_t index, bool grows) const;
  /// Allocates disk room for the bytes [from, until) of the file.
  [[nodiscard]] std::expected<void, store_error> commit(std::uint32_t index, std::uint64_t from,
                                                        std::uint64_t until) const;
  /// Truncates the file to the object's size. If that fails, only disk room is lost.
  void cut(std::uint32_t index) const noexcept;
  /// Maps the file for reading.
  [[nodiscard]] std::expected<mapping_ptr, store_error> map(std::uint32_t index) const;

private:
  control_view view_;
  const spill_directory& files_;
  const store_errors& errors_;
};

} // namespace troupe::store::internal
