// What values take that their messages did not state.
#pragma once

#include <cstdint>
#include <optional>

#include <troupe/framework/internal/flow/consumption.hpp>

namespace troupe::internal {

/// How many of the link's windows may be understated, beside the one that is stated.
inline constexpr std::uint64_t understated_windows = 2;

/// Bounds what a peer gains by stating too little: windows count what messages state, since the sender has to know
/// what they cost, and this counts the rest. Ends that know the same types state what is about true; the values of one
/// that knows fewer fields are larger here than there.
///
/// Threads: `admit` and the end on one; receipts are settled on any.
class understated_memory {
public:
  /// As long as fewer bytes live that were not stated, one message may bring more, however many.
  explicit understated_memory(std::uint64_t bytes_max);
  ~understated_memory();
  understated_memory(const understated_memory&) = delete;
  understated_memory& operator=(const understated_memory&) = delete;

  /// A message has arrived whose values take so much more than it cost. Null where that is too much.
  [[nodiscard]] std::optional<receipt> admit(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t living_bytes() const noexcept;

private:
  class account;

  const std::uint64_t bytes_max_;
  const consumption_ptr<account> account_;
};

} // namespace troupe::internal
