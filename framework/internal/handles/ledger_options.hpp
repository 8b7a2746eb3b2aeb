// Limits and timeouts of a ledger.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

struct ledger_options {
  node_name self;
  /// `object_id::store` in the names that this node gives to objects it has only `behind` other nodes. Random, and
  /// never a store's number.
  std::uint64_t proxy_number = 0;
  /// Returns numbers that cannot be guessed.
  std::function<std::uint64_t()> fresh_token;
  /// The current time, which never goes back. Each event asks it once, so that no deadline is counted from an old time.
  std::function<time_point()> clock;
  /// How long the exports of a lost link are kept. Higher: handles survive longer interruptions; objects of dead peers
  /// are freed later.
  std::chrono::nanoseconds grace = std::chrono::seconds(30);
  /// How long an `adopt` waits for its `vouch`.
  std::chrono::nanoseconds vouch_patience = std::chrono::seconds(10);
  /// How long an `adopt` waits for its answer. Must exceed the peer's `vouch_patience`.
  std::chrono::nanoseconds adopt_patience = std::chrono::seconds(30);
  /// How long a pull may make no progress. Must exceed the time that a peer needs to fetch the object itself.
  std::chrono::nanoseconds pull_patience = std::chrono::seconds(60);
  /// How long a busy peer, or a busy store, is left alone.
  std::chrono::nanoseconds busy_pause = std::chrono::milliseconds(200);
  std::uint64_t chunk_bytes_max = 256 * 1024;
  // What this node asks of one peer at a time, over one link. Further questions are queued. The values must not exceed
  // the peer's limits (below); otherwise the peer refuses and is asked repeatedly.
  std::size_t pulls_max = 256;             // Of objects received as `mine`, and again for `behind`; each needs a room.
  std::size_t adoptions_max = 1024;        // In all.
  std::size_t adoptions_offered_max = 128; // Offered over one other link, so that no offerer takes all places.
  // The most that a peer can make this node keep.
  std::size_t vouchers_max = 1024;         // Per export.
  std::size_t link_vouchers_max = 65536;   // Per link.
  std::size_t parked_max = 1024;           // Per link.
  std::size_t servings_max = 1024;         // Per link, for handles exported as `mine`, and again for `behind`.
  std::size_t unclaimed_max = 65536;       // Per link: objects handed over while the store was busy.
  std::size_t captured_max = 1024;         // Per object, as in the store.
  std::uint64_t fetch_imports_max = 65536; // Per fetch: objects captured directly or indirectly.
  std::size_t dials_max = 16;              // Per node that offers adoptions, within `adopt_patience`.
};

} // namespace troupe::internal::handles
