// The memory of a link's two rings, mapped by its two processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include <troupe/framework/internal/net/ring.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

inline constexpr std::size_t ring_bytes_min = 4096;
inline constexpr std::size_t ring_bytes_max = 16 * 1024 * 1024;

/// Whether `bytes` is a power of two from ring_bytes_min to ring_bytes_max.
[[nodiscard]] bool is_ring_size(std::uint64_t bytes) noexcept;

/// A mapped anonymous file of sealed size: the words of two rings, then their bytes. All its pages are allocated at the
/// start, so writing into it never fails. The child of a fork does not inherit it.
///
/// Threads: one at a time.
class ring_memory {
public:
  using words = ring_words<shared_word>;

  /// Makes memory for two rings of `ring_bytes` each. Fails with `unsupported` if the system provides no such memory.
  [[nodiscard]] static std::expected<ring_memory, node_error> make(std::size_t ring_bytes);

  /// Maps memory that the peer has made. Takes ownership of the peer's descriptor and closes it. Fails with
  /// `protocol_violation` if it is no such file, has another size, or can still change its size. Fails with
  /// `unsupported` if the system does not map it.
  [[nodiscard]] static std::expected<ring_memory, node_error> adopt(int descriptor, std::size_t ring_bytes);

  ring_memory(ring_memory&& other) noexcept;
  ring_memory& operator=(ring_memory&&) = delete;
  ~ring_memory();

  /// Returns the descriptor of memory that was made here, to send to the peer. The caller closes it. -1 if it was taken
  /// already.
  [[nodiscard]] int take_descriptor() noexcept;

  /// The words of the ring into which that side's end writes.
  [[nodiscard]] words& words_of(link_side writer) const noexcept;
  [[nodiscard]] std::span<std::byte> bytes_of(link_side writer) const noexcept;

  /// The bytes that two rings of that size take.
  [[nodiscard]] static std::size_t total_bytes(std::size_t ring_bytes) noexcept;

private:
  ring_memory(int descriptor, std::size_t ring_bytes) : descriptor_(descriptor), ring_bytes_(ring_bytes) {}
  [[nodiscard]] std::expected<void, node_error> map();

  int descriptor_;
  std::size_t ring_bytes_;
  std::byte* base_ = nullptr;
};

} // namespace troupe::internal
