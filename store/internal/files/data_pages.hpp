// Pages of the data file. They are taken from the system before a byte is written there, and only for bytes to be
// written.
#pragma once

#include <troupe/store/internal/files/store_files.hpp>
#include <troupe/store/internal/table/control_view.hpp>
#include <troupe/store/store_error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <vector>

namespace troupe::store::internal {

/// Tracks which parts of the data file are known to have pages. The truth is in the file system alone. A process that
/// does not know about a part asks the file system for its pages again, which changes nothing. Therefore nothing has to
/// be rebuilt after a kill.
///
/// Invariants:
/// 1. A page of the file stays until the file is removed.
/// 2. All bytes below the watermark in shared memory (`data_committed`) have pages. The watermark only grows, and does
/// not pass allocated room without pages.
/// 3. A step whose bit is set has pages. The bits are private to this process and describe the file above the
/// watermark.
///
/// Threads: any.
class data_pages {
public:
  /// `writable` is the mapping of `file`. Both must outlive this object.
  data_pages(control_view view, const owned_file& file, std::byte* writable);

  /// Ensures that [from, until) has pages. Takes whole steps, or only the requested pages if whole steps do not fit.
  /// Fails with `full`, `system_failure` or `detached`.
  [[nodiscard]] std::expected<void, store_error> commit(std::uint64_t from, std::uint64_t until);

  /// Like commit(), but takes only the requested pages, because the bytes behind them may never be written.
  [[nodiscard]] std::expected<void, store_error> commit_exactly(std::uint64_t from, std::uint64_t until);

  /// Whether all of [from, until) is known to have pages.
  [[nodiscard]] bool are_known(std::uint64_t from, std::uint64_t until) const;

private:
  struct range {
    std::uint64_t from, until;
  };

  [[nodiscard]] std::expected<void, store_error> commit(range wanted, bool whole_steps);
  [[nodiscard]] std::expected<void, store_error> check_room(range wanted) const;
  [[nodiscard]] range first_unknown(range among) const;
  [[nodiscard]] range with_whole_steps(range part) const;
  [[nodiscard]] std::expected<void, store_error> take(range part);
  void note(range part);
  [[nodiscard]] bool is_known_step(std::uint64_t at) const;
  [[nodiscard]] std::uint64_t end_of_step(std::uint64_t at) const;

  control_view view_;
  const owned_file& file_;
  std::byte* const writable_;
  std::vector<std::atomic<std::uint64_t>> known_; // One bit for each step.
};

} // namespace troupe::store::internal
