// Sends requests with a small message, and with a reference to a large value in a store that both ends share.
#pragma once

#include "peers/small_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

namespace bench {

/// For the far process; see subject::serve.
[[nodiscard]] std::expected<void, std::string> serve_sending(const ready_report& ready);

/// The driving end. Its calls block.
class sending_near_end {
public:
  [[nodiscard]] static std::expected<std::unique_ptr<sending_near_end>, std::string>
  connect(const std::string& address);
  ~sending_near_end();

  /// Medians over `count` requests of each kind; the kinds alternate. A request ends when the answer of the actor that
  /// has read the value arrives.
  struct times {
    seconds small;
    seconds reference; // Each to another value of `large_bytes`, made before. The actor reads its first and last byte.
  };
  [[nodiscard]] std::expected<times, std::string> measure(std::uint64_t count, std::size_t large_bytes);

private:
  class parts;
  explicit sending_near_end(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

} // namespace bench
