#include <troupe/serializers/compressed.hpp>

#include <algorithm>

#include <troupe/serializers/internal/payload/compressing.hpp>

namespace troupe {

std::uint64_t decompressed_bytes(std::span<const std::byte> frame_codecs) {
  constexpr std::uint64_t most = std::uint64_t{1} << 48;
  const auto forms = detail::read_frame_codecs(frame_codecs);
  std::uint64_t total = 0;
  if (forms)
    for (const auto& each : *forms)
      total = std::min(most, total + std::min(most, each.original_bytes));
  return total;
}

} // namespace troupe
