// The bytes of a payload. Both ends compute them, to verify that the received bytes are the sent ones.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tools {

/// All payloads of one size and kind of data are equal. The data is "noise", which is incompressible, or "records",
/// which resemble lines of a log.
class payload {
public:
  payload(std::size_t size_bytes, const std::string& data);

  [[nodiscard]] std::vector<char> bytes() const;

  /// Whether `received` has this size and the expected bytes at up to 16 places, including the first and the last byte.
  /// More places would take longer to compare than the message takes to send.
  [[nodiscard]] bool is(std::span<const char> received) const;

private:
  [[nodiscard]] char byte_at(std::size_t offset) const;

  std::size_t size_bytes_;
  bool is_noise_;
  std::vector<std::pair<std::size_t, char>> looked_at_;
};

} // namespace troupe::tools
