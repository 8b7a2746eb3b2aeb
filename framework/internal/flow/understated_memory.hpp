// The memory of values that their messages did not state.
#pragma once

#include <cstdint>
#include <optional>

#include <troupe/framework/internal/flow/consumption.hpp>

namespace troupe::internal {

/// The bound on understated memory, as a multiple of the link's window and in addition to it.
inline constexpr std::uint64_t understated_windows = 2;

/// Bounds what a peer gains by understating. Windows count the memory that messages state, because the sender has to
/// know their cost. This class counts the rest. Ends that know the same types state about the true size. If the peer
/// knows fewer fields of a type, its values are larger here than there.
///
/// Threads: `admit` and the destructor on one thread; receipts are settled on any thread.
class understated_memory {
public:
  /// While fewer than `bytes_max` unstated bytes live, one more message may add any number.
  explicit understated_memory(std::uint64_t bytes_max);
  ~understated_memory();
  understated_memory(const understated_memory&) = delete;
  understated_memory& operator=(const understated_memory&) = delete;

  /// A message has arrived whose values take `bytes` more than it cost. Returns nullopt if the bound is reached.
  [[nodiscard]] std::optional<receipt> admit(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t living_bytes() const noexcept;

private:
  class account;

  const std::uint64_t bytes_max_;
  const consumption_ptr<account> account_;
};

} // namespace troupe::internal
