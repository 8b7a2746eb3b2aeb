// The identity of a request in its extension map, by which its receiver recognizes a repeated one. Pure. The bytes:
// framework/link-protocol.md.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Random, so that no two callers of any processes have the same.
using caller_id = std::array<std::byte, 16>;

/// The same over every link, and each time that the request is sent.
struct request_key {
  caller_id caller{};
  std::uint64_t number = 0; // From 1 on, ascending.

  friend auto operator<=>(const request_key&, const request_key&) = default;
};

struct request_identity {
  request_key key;
  std::uint64_t settled_below = 0;  // The caller needs no answer to requests with lower numbers any more.
  std::chrono::microseconds age{0}; // Since the request was sent first; 0: it is sent for the first time.
};

inline constexpr std::size_t request_identity_bytes = 40;

/// Returns nullopt if the map has no identity, or one of another size or of number 0.
[[nodiscard]] std::optional<request_identity> read_request_identity(bytes_view map);

/// Appends the entry. Requires: keys are appended in ascending order.
void append_request_identity(byte_vector& map, const request_identity& identity);

} // namespace troupe::internal
