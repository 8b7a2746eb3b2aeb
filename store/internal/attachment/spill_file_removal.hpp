// Spill files that nobody needs.
#pragma once

#include <troupe/store/internal/attachment/background.hpp>
#include <troupe/store/internal/attachment/opened_store.hpp>
#include <troupe/store/store_error.hpp>

#include <expected>

namespace troupe::store::internal {

/// Removes spill files in which nothing lies any more.
///
/// Threads: any.
class spill_file_removal {
public:
  spill_file_removal(const opened_store& store, const spill_directory& files, background& unasked)
      : store_(store), files_(files), unasked_(unasked) {}

  /// All there are, one after the other.
  std::expected<void, store_error> remove_all();
  /// The same in the background, where the last object in a file has gone.
  void remove_all_soon() noexcept;

private:
  const opened_store& store_;
  const spill_directory& files_;
  background& unasked_;
};

} // namespace troupe::store::internal
