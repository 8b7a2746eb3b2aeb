// Which messages for a shard come too late.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include <troupe/framework/cluster/internal/entities/entity_address.hpp>

namespace troupe::membership {

/// What a member knows of the order of messages for one shard, while it owns the shard and afterwards. It recognizes
/// messages that arrive after later ones of the same sender, because they were held up on an older way: by a member
/// that was stopped, or by a connection that was given up.
///
/// A sender numbers its ways to a shard: the upper bits are its own, the lower ones count how often it has given a way
/// up on which messages may have been left. A message is late if another one of its sender has already come by a later
/// way. On the same way a message is late if another one has come with fewer hops, but only after count_hops():
/// messages that this member has passed on may have come back.
///
/// Later messages may also have gone to owners before this one, which have not told. Therefore each message has the
/// fencing number of the ownership for which it was sent, and is late if that is lower than the one since which all is
/// known. An owner that passes a message on, and knows that it is not late there, puts its own fencing number in.
///
/// Threads: any.
class arrival_order {
public:
  /// The bits of a way that count its changes. One change more is another sender.
  static constexpr unsigned change_bits = 11;
  /// If there are more senders that have given a way up, all are forgotten.
  static constexpr std::size_t senders_max = 4'096;

  /// This member owns the shard from now on. What was sent for `oldest` or later is known to be in order, apart from
  /// what this object knows.
  void own(std::uint64_t fence, std::uint64_t oldest);
  /// Whether the next owner would have to know of senders that have given a way up.
  [[nodiscard]] bool knows_cuts() const;
  void count_hops() noexcept { counts_hops_.store(true, std::memory_order_relaxed); }

  /// Of a message that has come to the owner.
  [[nodiscard]] bool is_late(entity_address& to);
  /// Of a message that has come to this member, which does not own the shard now and passes it on.
  [[nodiscard]] bool is_late_to_pass(entity_address& to) const;

private:
  void vouch(entity_address& to) const;

  std::atomic<std::uint64_t> fence_{0}; // Of the last ownership of this member; 0: there was none.
  std::atomic<std::uint64_t> oldest_{0};
  std::atomic<bool> counts_hops_{false};
  std::atomic<bool> is_any_known_{false}; // newest_ is not empty.

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint32_t> newest_; // By sender; no entry: 0. Guarded by mutex_.
};

/// For the error of a message that is late.
[[nodiscard]] std::string held_up_text(const std::string& key, const std::string& kind);

} // namespace troupe::membership
