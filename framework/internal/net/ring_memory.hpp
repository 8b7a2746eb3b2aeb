// The memory of a link's two rings, which its two processes map.
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

/// True for a power of two from ring_bytes_min to ring_bytes_max.
[[nodiscard]] bool is_ring_size(std::uint64_t bytes) noexcept;

/// An anonymous file whose size is sealed, mapped: the words of two rings, then their bytes. All its pages are there
/// from the beginning, so that writing into it never fails. The child of a fork does not have it.
///
/// Threads: one at a time.
class ring_memory {
public:
  using words = ring_words<shared_word>;

  /// For two rings of so many bytes each. Fails with `unsupported` where the system gives no such memory.
  [[nodiscard]] static std::expected<ring_memory, node_error> make(std::size_t ring_bytes);

  /// What a peer has made, by the descriptor that came from it, which is taken over and closed. Fails with
  /// `protocol_violation` where it is no such file, has another size, or a size that can still change; with
  /// `unsupported` where the system does not map it.
  [[nodiscard]] static std::expected<ring_memory, node_error> adopt(int descriptor, std::size_t ring_bytes);

  ring_memory(ring_memory&& other) noexcept;
  ring_memory& operator=(ring_memory&&) = delete;
  ~ring_memory();

  /// The descriptor for the peer, of what was made; to be closed by the caller. -1 where it is gone already.
  [[nodiscard]] int take_descriptor() noexcept;

  /// Of the ring into which the end of that side writes.
  [[nodiscard]] words& words_of(link_side writer) const noexcept;
  [[nodiscard]] std::span<std::byte> bytes_of(link_side writer) const noexcept;

  /// How many bytes two rings of that size take.
  [[nodiscard]] static std::size_t total_bytes(std::size_t ring_bytes) noexcept;

private:
  ring_memory(int descriptor, std::size_t ring_bytes) : descriptor_(descriptor), ring_bytes_(ring_bytes) {}
  [[nodiscard]] std::expected<void, node_error> map();

  int descriptor_;
  std::size_t ring_bytes_;
  std::byte* base_ = nullptr;
};

} // namespace troupe::internal
