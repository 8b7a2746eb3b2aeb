// How much a TLS peer that is not let in yet may send. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Looks at what comes before a handshake is done. OpenSSL takes memory for a message as soon as its length is
/// announced, up to 128 KiB for a ClientHello; so the lengths in the clear are looked at here first, record by record.
/// What is encrypted comes from somebody whom OpenSSL has given a limit already (tls_context).
class tls_meter {
public:
  /// All that may come until the handshake is done.
  static constexpr std::size_t bytes_max = 32 * 1024;
  /// One message of it.
  static constexpr std::size_t message_bytes_max = 16 * 1024;

  /// False when this is too much.
  [[nodiscard]] bool admits(bytes_view received);

private:
  [[nodiscard]] bool look_at(std::uint8_t byte);

  std::size_t bytes_ = 0;
  bool in_the_clear_ = true;
  // The record: its five bytes, then its content.
  std::size_t record_head_bytes_ = 0; // So many of the five have come.
  std::uint8_t record_type_ = 0;
  std::size_t record_rest_ = 0;
  // The handshake message, which may span records: type and length in four bytes, then its content.
  std::size_t message_head_bytes_ = 0;
  std::size_t message_rest_ = 0;
};

} // namespace troupe::internal
