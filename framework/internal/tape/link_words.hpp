// What one end of a recorded link has defined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/wire/kept_definitions.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/limits.hpp>

namespace troupe::internal {

/// For headers on a tape: the link had limits of its own, and a packet bounds them.
[[nodiscard]] inline limits taped_header_limits() {
  limits bounds;
  bounds.header_bytes = packet_body_bytes_max;
  return bounds;
}

/// A header that has a number.
struct taped_header {
  frame bytes;
  std::string family;
  std::string type;
};

/// The signatures and headers of one end, by their numbers. Unlike on a link, some may be missing, and the same may
/// come again. Keeps to the bounds of a link (kept_definitions.hpp).
class link_words {
public:
  /// Returns how many bytes more are kept. Fails with the reason.
  [[nodiscard]] std::expected<std::size_t, std::string> add_signature(bytes_view body);
  [[nodiscard]] std::expected<std::size_t, std::string> add_header(bytes_view body);

  /// Returns null if it is not on the tape.
  [[nodiscard]] const std::vector<std::string>* signature(std::uint64_t number) const;
  [[nodiscard]] const taped_header* header(std::uint64_t number) const;

  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_.bytes(); }

private:
  std::unordered_map<std::uint64_t, std::vector<std::string>, detail::salted_hash> signatures_;
  std::unordered_map<std::uint64_t, taped_header, detail::salted_hash> headers_;
  kept_definitions kept_;
};

} // namespace troupe::internal
