// Limits how much a TLS peer may send before it is admitted. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Inspects the bytes of a handshake before OpenSSL does. OpenSSL allocates memory for a message as soon as its length
/// is announced, up to 128 KiB for a ClientHello. So the unencrypted lengths are checked here first, record by record.
/// Encrypted messages come from a peer for which OpenSSL already has a limit (tls_context).
class tls_meter {
public:
  /// The maximum of all bytes until the handshake is done.
  static constexpr std::size_t bytes_max = 32 * 1024;
  /// The maximum of one handshake message.
  static constexpr std::size_t message_bytes_max = 16 * 1024;

  /// Returns false if a limit is exceeded.
  [[nodiscard]] bool admits(bytes_view received);

private:
  [[nodiscard]] bool look_at(std::uint8_t byte);

  std::size_t bytes_ = 0;
  bool in_the_clear_ = true;
  // The record: its five bytes, then its content.
  std::size_t record_head_bytes_ = 0; // How many of the five have arrived.
  std::uint8_t record_type_ = 0;
  std::size_t record_rest_ = 0;
  // The handshake message, which may span records: type and length in four bytes, then its content.
  std::size_t message_head_bytes_ = 0;
  std::size_t message_rest_ = 0;
};

} // namespace troupe::internal
