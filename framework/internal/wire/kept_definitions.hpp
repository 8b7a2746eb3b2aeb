// What a reader keeps of its peer's definitions while the link lives. Both ends count alike. The reader ends the link
// of a writer that exceeds the bound, and a writer sends no definition that would exceed it.
#pragma once

#include <cstddef>

namespace troupe::internal {

/// The bound on all signatures and headers of one direction together, and how much of it is used. Pure.
class kept_definitions {
public:
  static constexpr std::size_t signatures_max = 65'536;
  static constexpr std::size_t bytes_max = 16 * 1024 * 1024;

  // The cost of a definition in addition to its packet's body.
  static constexpr std::size_t alias_bytes = 128; // For each alias, and once for the signature.
  static constexpr std::size_t header_bytes = 256;

  [[nodiscard]] static constexpr std::size_t bytes_of_signature(std::size_t body_bytes, std::size_t aliases) {
    return body_bytes + alias_bytes * (1 + aliases);
  }
  [[nodiscard]] static constexpr std::size_t bytes_of_header(std::size_t body_bytes) {
    return body_bytes + header_bytes;
  }

  /// The bytes of all signatures and headers.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool has_room_for(std::size_t bytes) const noexcept {
    return bytes_ <= bytes_max && bytes <= bytes_max - bytes_;
  }
  void add(std::size_t bytes) noexcept { bytes_ += bytes; }

private:
  std::size_t bytes_ = 0;
};

} // namespace troupe::internal
