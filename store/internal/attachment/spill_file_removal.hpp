// Spill files without objects.
#pragma once

#include <troupe/store/internal/attachment/background.hpp>
#include <troupe/store/internal/attachment/opened_store.hpp>
#include <troupe/store/store_error.hpp>

#include <expected>

namespace troupe::store::internal {

/// Removes spill files that hold no object any more.
///
/// Threads: any.
class spill_file_removal {
public:
  spill_file_removal(const opened_store& store, const spill_directory& files, background& unasked)
      : store_(store), files_(files), unasked_(unasked) {}

  /// Removes all such files, one after the other.
  std::expected<void, store_error> remove_all();
  /// Requests remove_all() in the background if a file has lost its last object.
  void remove_all_soon() noexcept;

private:
  const opened_store& store_;
  const spill_directory& files_;
  background& unasked_;
};

} // namespace troupe::store::internal
