// Why a process holds an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace troupe::store {

/// What one hold of an object is for. Each process counts its own holds by reason; these counts are not in the store.
enum class hold_reason : std::uint8_t {
  reference,  ///< A handle with no other reason.
  view,       ///< A pin.
  unfinished, ///< A builder.
  exchange,   ///< References of this process that are counted between nodes, all in one hold.
  message,    ///< An outgoing message names the object.
  exported,   ///< Sent to a peer that has not released it.
  imported,   ///< Received from a peer and still needed here.
  out_of_band ///< A reference to it was serialized outside of a message.
};

/// The number of holds for each reason.
struct hold_counts {
  static constexpr std::size_t reasons = 8;
  std::array<std::uint32_t, reasons> each{};

  [[nodiscard]] constexpr std::uint32_t operator[](hold_reason why) const {
    return each.at(static_cast<std::size_t>(why));
  }
  [[nodiscard]] constexpr std::uint32_t sum() const { return std::accumulate(each.begin(), each.end(), 0u); }
};

} // namespace troupe::store
