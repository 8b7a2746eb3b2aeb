// How long object_ref::get() takes where the bytes are on this host, by size, beside what the store takes.
#pragma once

#include "peers/small_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// Where the values that are read come from: all of these are in the store of who reads.
enum class origin : std::uint8_t {
  own,      ///< Made by the same process.
  received, ///< Made by another process that shares the store.
  pulled,   ///< Made on another host, and fetched.
};

/// In the far process, which reads, unless the values are its own: see subject::serve.
[[nodiscard]] std::expected<void, std::string> serve_getting(origin from, const ready_report& ready);

/// From 1 KiB to the largest, in ascending order.
[[nodiscard]] std::vector<std::size_t> got_sizes(std::size_t largest_bytes);

/// The driving end. Its calls block.
class getting_near_end {
public:
  [[nodiscard]] static std::expected<std::unique_ptr<getting_near_end>, std::string>
  connect(origin from, const std::string& address);
  ~getting_near_end();

  struct times {
    seconds get;
    seconds find_and_pin; // By the store, the same object.
  };
  /// Medians of several runs for each size, of all sizes in turn; each of so many calls of the one and of the other.
  [[nodiscard]] std::expected<std::vector<times>, std::string> measure(std::uint64_t count, std::size_t largest_bytes);

private:
  class parts;
  explicit getting_near_end(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

} // namespace bench
