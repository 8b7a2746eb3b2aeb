// A reference that goes around a ring of processes.
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

/// Neighbours of one host send each other references by the store, others over TCP.
enum class ring_hosts : std::uint8_t { one = 1, four = 4 };

/// In a far process, the `number`th member of the ring: see subject::serve.
[[nodiscard]] std::expected<void, std::string> serve_ring(ring_hosts hosts, std::size_t number,
                                                          const ready_report& ready);

/// Who lets it go around. Its calls block.
class ring_near_end {
public:
  /// `addresses` are those of all members, as they have reported them, with commas between.
  [[nodiscard]] static std::expected<std::unique_ptr<ring_near_end>, std::string> connect(ring_hosts hosts,
                                                                                          const std::string& addresses);
  ~ring_near_end();

  /// What all members together have.
  struct footprint {
    std::uint64_t rows = 0;         // In their stores: objects, and handles on their way.
    std::uint64_t memory_bytes = 0; // Of their own, the store's not counted.
  };
  struct journey {
    std::vector<seconds> early; // Of one hop, in each lap of the first tenth of all hops but for the first hundred.
    std::vector<seconds> late;  // The same of the last tenth.
    footprint after_a_tenth;
    footprint at_the_end;
  };
  /// A new value's reference makes so many hops; each member has the bytes before it when it passes it on. Requires: at
  /// least 400.
  [[nodiscard]] std::expected<journey, std::string> go_round(std::uint64_t hops);

private:
  class parts;
  explicit ring_near_end(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

} // namespace bench
