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
  none,    ///< Dial once; a failed dial or a lost link is final.
  back_off ///< Dial again and again, with growing pauses.
};

/// When a reconnecting link is dialed again. Each failed dial or lost link is followed by a pause: first `first_pause`,
/// then `growth` times the previous pause, at most `longest_pause`. If a link has lived for `longest_pause`, the pauses
/// start again with `first_pause`.
struct reconnect_policy {
  setting<troupe::reconnect> kind{by_default, reconnect::back_off};

  /// Shorter: a restarting peer is reconnected sooner; an absent peer is dialed more often.
  setting<std::chrono::milliseconds> first_pause{by_default, std::chrono::milliseconds(100)};

  /// Shorter: a peer that was away for long is reconnected sooner; more failed dials.
  setting<std::chrono::milliseconds> longest_pause{by_default, std::chrono::seconds(10)};

  /// At least 1. Lower: more dials while a peer is away.
  setting<double> growth{by_default, 2};

  /// 0 to 1: the share of each pause by which it may be shortened at random, so that many nodes that lost one peer do
  /// not return at the same time. 0: pauses are exactly as computed.
  setting<double> jitter{by_default, 0.2};

  /// The number of consecutive failed dials after which dialing ends; nullopt: unlimited.
  setting<std::optional<std::size_t>> attempts_max = {};
};

} // namespace troupe
