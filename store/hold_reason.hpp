// Why a process holds an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace troupe::store {

/// What one hold of an object is for. Each process counts its own holds by it; nothing of that lies in the store.
enum class hold_reason : std::uint8_t {
  reference,  ///< A handle of which nothing else was said.
  view,       ///< A pin.
  unfinished, ///< A builder.
  exchange,   ///< All references of the process that are counted between nodes.
  message,    ///< A message on its way out names it.
  exported,   ///< A peer was sent it and has not released it.
  imported,   ///< A peer has sent it, and something here needs it still.
  out_of_band ///< A reference to it was serialized outside of a message.
};

/// How many holds there are of each reason.
struct hold_counts {
  static constexpr std::size_t reasons = 8;
  std::array<std::uint32_t, reasons> each{};

  [[nodiscard]] constexpr std::uint32_t operator[](hold_reason why) const {
    return each.at(static_cast<std::size_t>(why));
  }
  [[nodiscard]] constexpr std::uint32_t sum() const { return std::accumulate(each.begin(), each.end(), 0u); }
};

} // namespace troupe::store
