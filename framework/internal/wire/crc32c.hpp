// The checksum of objects' bytes on their way between hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::internal {

/// Continues a CRC32C (Castagnoli) with these bytes; `before` is the sum so far, 0 at first.
[[nodiscard]] std::uint32_t crc32c(std::uint32_t before, std::span<const std::byte> bytes) noexcept;

} // namespace troupe::internal
