// Reasons for which a process holds an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace troupe::store {

/// The reason of one hold of an object. Each process counts its own holds by reason. These counts are not in the store,
/// so other processes do not see them.
enum class hold_reason : std::uint8_t {
  reference,  ///< A handle with no other reason.
  view,       ///< A pin.
  unfinished, ///< A builder.
  exchange,   ///< One hold for all references that this process's node counts between nodes.
  message,    ///< An outgoing message names the object.
  exported,   ///< Sent to a peer that has not released it.
  imported,   ///< Received from a peer and not yet released.
  out_of_band ///< A reference to the object was serialized outside of a message.
};

/// The number of holds for each reason, indexed by hold_reason.
struct hold_counts {
  static constexpr std::size_t reasons = 8;
  std::array<std::uint32_t, reasons> each{};

  [[nodiscard]] constexpr std::uint32_t operator[](hold_reason why) const {
    return each.at(static_cast<std::size_t>(why));
  }
  [[nodiscard]] constexpr std::uint32_t sum() const { return std::accumulate(each.begin(), each.end(), 0u); }
};

} // namespace troupe::store
