// Fetches large values from another host: over TCP, from one store into another.
#pragma once

#include "peers/small_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

namespace bench {

/// For the far process, which has the values; see subject::serve.
[[nodiscard]] std::expected<void, std::string> serve_pulling(const ready_report& ready);

/// The fetching end. Its calls block.
class pulling_near_end {
public:
  [[nodiscard]] static std::expected<std::unique_ptr<pulling_near_end>, std::string>
  connect(const std::string& address);
  ~pulling_near_end();

  /// Uses all memory of both stores once. Call it first, and only once.
  [[nodiscard]] std::expected<void, std::string> warm_up();

  /// The median time of `count` fetches of a value of `size_bytes`, each until the caller can read the value.
  [[nodiscard]] std::expected<seconds, std::string> pull(std::uint64_t count, std::size_t size_bytes);

private:
  class parts;
  explicit pulling_near_end(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

} // namespace bench
