#include <troupe/framework/internal/wire/crc32c.hpp>

#include <algorithm>
#include <climits>

#include <isa-l/crc.h>

namespace troupe::internal {

std::uint32_t crc32c(std::uint32_t before, std::span<const std::byte> bytes) noexcept {
  auto sum = ~before; // isa-l leaves both inversions to its caller.
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), INT_MAX));
    bytes = bytes.subspan(piece.size());
    // crc32_iscsi only reads.
    sum = ::crc32_iscsi(reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data())),
                        static_cast<int>(piece.size()), sum);
  }
  return ~sum;
}

} // namespace troupe::internal
