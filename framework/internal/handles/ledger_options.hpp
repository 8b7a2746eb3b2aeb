// What a ledger may keep and how long it waits.
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
  /// `object_id::store` of the names that this node gives to what it has behind others. Random, never a store's number.
  std::uint64_t proxy_number = 0;
  /// Gives numbers that nobody can guess.
  std::function<std::uint64_t()> fresh_token;
  /// What time it is; never goes back. Asked once in each event, so that no deadline is counted from an old time.
  std::function<time_point()> clock;
  /// How long a lost link's exports stay. Longer saves handles through longer interruptions and keeps dead peers'
  /// objects.
  std::chrono::nanoseconds grace = std::chrono::seconds(30);
  /// How long an `adopt` waits for its `vouch`.
  std::chrono::nanoseconds vouch_patience = std::chrono::seconds(10);
  /// How long an `adopt` waits for its answer. Must exceed what a peer waits for the `vouch`.
  std::chrono::nanoseconds adopt_patience = std::chrono::seconds(30);
  /// How long a pull may make no progress. Must exceed what a peer needs to fetch the object itself.
  std::chrono::nanoseconds pull_patience = std::chrono::seconds(60);
  /// How long a peer, or the store, that was too busy is left alone.
  std::chrono::nanoseconds busy_pause = std::chrono::milliseconds(200);
  std::uint64_t chunk_bytes_max = 256 * 1024;
  // What this node asks of one peer at a time, over one link; the rest waits for its turn. No more than the peer allows
  // (below), or it is asked again and again.
  std::size_t pulls_max = 256;             // Of what came as `mine`, and again `behind`: rooms at once.
  std::size_t adoptions_max = 1024;        // In all, and ...
  std::size_t adoptions_offered_max = 128; // ... of what came over one other link, so that no offerer takes all.
  // What a peer can make this node keep.
  std::size_t vouchers_max = 1024;         // Per export.
  std::size_t link_vouchers_max = 65536;   // Per link.
  std::size_t parked_max = 1024;           // Per link.
  std::size_t servings_max = 1024;         // Per link, of what was exported `mine`; and again `behind`.
  std::size_t unclaimed_max = 65536;       // Per link: what was handed over when the store was busy.
  std::size_t captured_max = 1024;         // Per object, as in the store.
  std::uint64_t fetch_imports_max = 65536; // Per fetch: what all its objects capture, together.
  std::size_t dials_max = 16;              // Per node that offers adoptions, within `adopt_patience`.
};

} // namespace troupe::internal::handles
