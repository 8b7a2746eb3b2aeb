// When a lost link is dialed again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <troupe/framework/setting.hpp>

namespace troupe {

/// Whether a lost link is dialed again.
enum class reconnect : std::uint8_t {
  none,    ///< Dial once. A failed dial or a lost link is final.
  back_off ///< Dial again and again, with growing pauses.
};

/// When a reconnecting link is dialed again. A pause follows each failed dial and each lost link. The first pause is
/// `first_pause`. Each further pause is `growth` times the previous one, at most `longest_pause`. If a link has lived
/// for `longest_pause`, the next pause is `first_pause` again. node::keep_connected fails with `bad_option` if a value
/// is out of the bounds below.
struct reconnect_policy {
  setting<troupe::reconnect> kind{by_default, reconnect::back_off};

  /// At least 1 ms. Lower: a restarting peer is reconnected sooner; an absent peer is dialed more often.
  setting<std::chrono::milliseconds> first_pause{by_default, std::chrono::milliseconds(100)};

  /// From `first_pause` to ten years. Lower: a peer that was absent for long is reconnected sooner; more dials fail
  /// meanwhile.
  setting<std::chrono::milliseconds> longest_pause{by_default, std::chrono::seconds(10)};

  /// 1 to 100. Lower: more dials while a peer is absent.
  setting<double> growth{by_default, 2};

  /// 0 to 1: the part of each pause by which the pause may be shortened at random, so that many nodes that lost one
  /// peer do not return at the same time. 0: pauses are exactly as computed.
  setting<double> jitter{by_default, 0.2};

  /// The number of consecutive failed dials after which dialing ends, at least 1. nullopt: no limit.
  setting<std::optional<std::size_t>> attempts_max = {};

  friend bool operator==(const reconnect_policy&, const reconnect_policy&) = default;
};

} // namespace troupe
