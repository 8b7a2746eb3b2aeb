// Measures object_ref::get() by size for bytes that are on this host, compared with the store's own calls.
#pragma once

#include "peers/small_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// The origin of the values. All of them are in the reader's store when they are read.
enum class origin : std::uint8_t {
  own,      ///< Made by the same process.
  received, ///< Made by another process that shares the store.
  pulled,   ///< Made on another host, and fetched.
};

/// For the far process, which reads unless the values are the near end's own; see subject::serve.
[[nodiscard]] std::expected<void, std::string> serve_getting(origin from, const ready_report& ready);

/// From 1 KiB to `largest_bytes`, in ascending order.
[[nodiscard]] std::vector<std::size_t> got_sizes(std::size_t largest_bytes);

/// The driving end. Its calls block.
class getting_near_end {
public:
  [[nodiscard]] static std::expected<std::unique_ptr<getting_near_end>, std::string>
  connect(origin from, const std::string& address);
  ~getting_near_end();

  struct times {
    seconds get;
    seconds find_and_pin; // By the store, for the same object.
  };
  /// Medians over several runs for each size; the sizes alternate. Each run makes `count` calls of each kind.
  [[nodiscard]] std::expected<std::vector<times>, std::string> measure(std::uint64_t count, std::size_t largest_bytes);

private:
  class parts;
  explicit getting_near_end(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

} // namespace bench
