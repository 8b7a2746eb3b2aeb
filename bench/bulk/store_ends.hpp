// Two actors whose processes share a store: large values pass between them as handles.
#pragma once

#include "peers/small_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

namespace bench {

/// For the far process; see subject::serve.
[[nodiscard]] std::expected<void, std::string> serve_store(const ready_report& ready);

/// The driving end. Its calls block.
class store_near_end {
public:
  [[nodiscard]] static std::expected<std::unique_ptr<store_near_end>, std::string> connect(const std::string& address);
  ~store_near_end();

  /// Medians over `count` runs; the three kinds alternate.
  struct times {
    seconds small; // A request with 64 KiB, until the answer of the actor that reads them arrives.
    seconds large; // A request with `large_bytes`.
    seconds copy;  // Copying `large_bytes` between two buffers that were used before.
  };
  [[nodiscard]] std::expected<times, std::string> measure(std::uint64_t count, std::size_t large_bytes);

private:
  class parts;
  explicit store_near_end(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

} // namespace bench
