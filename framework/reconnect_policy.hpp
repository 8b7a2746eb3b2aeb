// When a lost link is dialed again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace troupe {

/// Whether a lost link is dialed again.
enum class reconnect : std::uint8_t {
  none,    ///< One dial; when it fails, or its link is lost, that is the end.
  back_off ///< Again and again, with pauses that grow.
};

/// When a link that is kept connected is dialed again. After a dial that failed, or a link that was lost, comes a
/// pause: `first_pause`, then `growth` times the one before, `longest_pause` at most. A link that has lived for
/// `longest_pause` begins anew with the first.
struct reconnect_policy {
  troupe::reconnect kind = reconnect::back_off;

  /// Shorter: sooner connected again where a peer only restarts; a peer that is away is asked more often.
  std::chrono::milliseconds first_pause = std::chrono::milliseconds(100);

  /// Shorter: sooner connected again after a long absence; more dials that fail.
  std::chrono::milliseconds longest_pause = std::chrono::seconds(10);

  /// 1 and more. Lower: more dials while a peer is away.
  double growth = 2;

  /// 0 to 1: which part of each pause is left to chance, so that the many that lost one peer do not come back at once.
  /// A pause is that much shorter at most. 0: pauses are as they are computed.
  double jitter = 0.2;

  /// So many dials in a row that fail are the end; nullopt: no number is.
  std::optional<std::size_t> attempts_max = std::nullopt;
};

} // namespace troupe
