// The checksum of objects' bytes on their way between hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::internal {

/// CRC32C (Castagnoli) of what was summed before, 0 at first, and these bytes behind it.
[[nodiscard]] std::uint32_t crc32c(std::uint32_t before, std::span<const std::byte> bytes) noexcept;

} // namespace troupe::internal
