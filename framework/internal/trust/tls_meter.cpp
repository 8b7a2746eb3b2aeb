#include <troupe/framework/internal/trust/tls_meter.hpp>

namespace troupe::internal {

namespace {

// RFC 8446, sections 4 and 5.1.
constexpr std::uint8_t handshake_record = 22;
constexpr std::uint8_t encrypted_record = 23;
constexpr std::size_t record_head_bytes = 5;
constexpr std::size_t message_head_bytes = 4;

} // namespace

bool tls_meter::admits(bytes_view received) {
  bytes_ += received.size();
  if (bytes_ > bytes_max)
    return false;
  for (std::size_t i = 0; i < received.size() && in_the_clear_; ++i)
    if (!look_at(static_cast<std::uint8_t>(received[i])))
      return false;
  return true;
}

bool tls_meter::look_at(std::uint8_t byte) {
  if (record_head_bytes_ < record_head_bytes) {
    if (record_head_bytes_ == 0)
      record_type_ = byte;
    else if (record_head_bytes_ >= 3)
      record_rest_ = record_rest_ << 8 | byte;
    if (++record_head_bytes_ == record_head_bytes) {
      in_the_clear_ = record_type_ != encrypted_record;
      if (record_rest_ == 0)
        record_head_bytes_ = 0;
    }
    return true;
  }
  if (--record_rest_ == 0)
    record_head_bytes_ = 0;
  if (record_type_ != handshake_record)
    return true;
  if (message_head_bytes_ < message_head_bytes) {
    if (++message_head_bytes_ > 1)
      message_rest_ = message_rest_ << 8 | byte;
    if (message_head_bytes_ == message_head_bytes && message_rest_ == 0)
      message_head_bytes_ = 0;
    return message_rest_ <= message_bytes_max;
  }
  if (--message_rest_ == 0)
    message_head_bytes_ = 0;
  return true;
}

} // namespace troupe::internal
