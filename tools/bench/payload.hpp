// The bytes of a payload, by which both ends know whether what came is what was sent.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tools {

/// Payloads of one size and kind of data: all the same. "noise", which cannot be compressed, or "records", which look
/// like lines of a log.
class payload {
public:
  payload(std::size_t size_bytes, const std::string& data);

  [[nodiscard]] std::vector<char> bytes() const;

  /// Whether they have this size, and these bytes at some places from the first to the last: so few that looking does
  /// not take longer than sending.
  [[nodiscard]] bool is(std::span<const char> received) const;

private:
  [[nodiscard]] char byte_at(std::size_t offset) const;

  std::size_t size_bytes_;
  bool is_noise_;
  std::vector<std::pair<std::size_t, char>> looked_at_;
};

} // namespace troupe::tools
