// Which messages for a shard come too late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace troupe::membership {

/// Recognizes messages that arrive after later ones of the same sender, because they were held up on an older way: by a
/// member that was stopped, or by a connection that was given up.
///
/// A sender numbers its ways to a shard: the upper bits are its own, the lower ones count how often it has changed the
/// way. A message is late if another one of its sender has already come by a later way. On the same way a message is
/// late if another one has come with fewer hops, but only after count_hops(): messages that this member has passed on
/// may have come back.
///
/// Threads: one at a time.
class arrival_order {
public:
  /// The bits of a way that count its changes. One change more is another sender.
  static constexpr unsigned change_bits = 11;
  /// If there are more senders that have changed their way, all are forgotten.
  static constexpr std::size_t senders_max = 4'096;

  void count_hops() noexcept { counts_hops_ = true; }
  /// `way` 0: unknown, never late.
  [[nodiscard]] bool is_late(std::uint64_t way, unsigned hops);

private:
  std::unordered_map<std::uint64_t, std::uint32_t> newest_; // By sender; no entry: 0.
  bool counts_hops_ = false;
};

} // namespace troupe::membership
