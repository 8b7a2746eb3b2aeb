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

/// Keeps each object that is larger than the store in a file of its own in the spill directory, mapped where it is
/// used.
///
/// Threads: any.
class own_files {
public:
  // More does not fit into any address space.
  static constexpr auto largest_bytes = std::uint64_t{1} << 46;

  own_files(control_view view, const spill_directory& files, const store_errors& errors)
      : view_(view), files_(files), errors_(errors) {}

  [[nodiscard]] bool are_possible() const { return files_.is_there(); }

  /// For an object whose row says that it has one. Gives its mapping for writing.
  [[nodiscard]] std::expected<mapping_ptr, store_error> make(std::uint32_t index, bool grows) const;
  /// Gives [from, until) of it room on the disk.
  [[nodiscard]] std::expected<void, store_error> commit(std::uint32_t index, std::uint64_t from,
                                                        std::uint64_t until) const;
  /// To the object's size. What is left uncut costs only room on the disk.
  void cut(std::uint32_t index) const noexcept;
  /// For reading.
  [[nodiscard]] std::expected<mapping_ptr, store_error> map(std::uint32_t index) const;

private:
  control_view view_;
  const spill_directory& files_;
  const store_errors& errors_;
};

} // namespace troupe::store::internal
