// Passes a reference around a ring of processes.
#pragma once

#include "peers/small_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace bench {

constexpr std::size_t ring_size = 8;
constexpr std::size_t ring_value_bytes = 64 << 10;

/// Neighbors on one host pass the reference by the store, others over TCP.
enum class ring_hosts : std::uint8_t { one = 1, four = 4 };

/// For a far process, member `number` of the ring; see subject::serve.
[[nodiscard]] std::expected<void, std::string> serve_ring(ring_hosts hosts, std::size_t number,
                                                          const ready_report& ready);

/// Starts the reference on its way. Its calls block.
class ring_near_end {
public:
  /// `addresses` are the addresses that all members reported, separated by commas.
  [[nodiscard]] static std::expected<std::unique_ptr<ring_near_end>, std::string> connect(ring_hosts hosts,
                                                                                          const std::string& addresses);
  ~ring_near_end();

  /// The sum over all members.
  struct footprint {
    std::uint64_t rows = 0;         // Rows in their stores: objects and handles in flight.
    std::uint64_t memory_bytes = 0; // Their own memory, without the store's.
  };
  struct journey {
    std::vector<seconds> early; // Time of a hop in each lap of the first tenth, without the first hundred hops.
    std::vector<seconds> late;  // The same for the last tenth, without its first hundred hops.
    footprint after_a_tenth;
    footprint at_the_end;
  };
  /// Passes a new value's reference on `hops` times; each member reads the bytes first. Requires: `hops` is at least
  /// 400.
  [[nodiscard]] std::expected<journey, std::string> go_round(std::uint64_t hops);

private:
  class parts;
  explicit ring_near_end(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

} // namespace bench
