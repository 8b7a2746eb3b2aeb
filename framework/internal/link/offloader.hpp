// Large messages are encoded off their senders' threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <troupe/framework/internal/caf_port/caf_threads.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/flow/encoding_lane.hpp>
#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/message_encoder.hpp>
#include <troupe/framework/internal/link/send_gate.hpp>
#include <troupe/framework/internal/link/send_pump.hpp>
#include <troupe/framework/internal/link/unencoded_message.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

using offloaded_message = encoding_lane<unencoded_message>::waiting;

/// What became of a message that was to be offloaded.
struct offload_verdict {
  enum class kind : std::uint8_t {
    here,   // It is to be sent on this thread.
    kept,   // It waits for the encoder.
    refused // It is not sent.
  };
  kind what = kind::here;
  bool wakes_encoder = false;                  // Kept: next() has to be called for it.
  std::optional<node_error> reason = {};       // Refused: why; the caller still has it.
  std::vector<offloaded_message> dropped = {}; // Older ones, which have made room for it.
};

/// Keeps large messages of actors for the node's encoder; later messages to the same receiver stay behind them.
///
/// Threads: any.
class offloader {
public:
  /// Parts of the link, which outlive this.
  struct parts {
    const link_common& link;
    const link_options& options;
    const std::atomic<std::size_t>& enough_bytes; // Such a message is large; 0: none is.
    message_encoder::parts types;                 // Messages are weighed by them.
    const actor_names& actors;
    encoding_lane<unencoded_message>& waiting;
    send_gate& gate;
    send_pump& pump;
  };
  explicit offloader(const parts& of) : of_(of) {}

  /// Takes a message where it is large and comes from an actor, or others are ahead of it. One that came over another
  /// link has a receipt, is bounded there, and finds room here in any case.
  [[nodiscard]] offload_verdict take(std::uint64_t receiver, caf::mailbox_element_ptr& what, receipt* owed = nullptr,
                                     bytes_view extensions = {});
  /// Quick: take() would take nothing on this thread. False where that depends on the message.
  [[nodiscard]] bool takes_nothing() const noexcept {
    return may_block() // A thread of the user's own, which waits for room if need be.
           || (of_.enough_bytes.load(std::memory_order_relaxed) == 0 && of_.waiting.is_idle());
  }
  /// Quick: no message is kept, so that a small one stays behind none.
  [[nodiscard]] bool is_idle() const noexcept { return of_.waiting.is_idle(); }
  /// Whether messages of that pair are being encoded.
  [[nodiscard]] bool has(std::uint64_t receiver, const void* sender) const { return of_.waiting.has(receiver, sender); }

  // -- for the encoder, once for each message that wakes it

  /// The message whose turn it is; nullopt where the link has ended meanwhile.
  [[nodiscard]] std::optional<offloaded_message> next() { return of_.waiting.next(); }
  /// It was sent, or failed. Whether the encoder has to come again.
  [[nodiscard]] bool done(std::uint64_t receiver, std::uint64_t size_bytes, bool is_answer);

  /// At the link's end.
  [[nodiscard]] std::vector<offloaded_message> take_all() { return of_.waiting.take_all(); }

private:
  [[nodiscard]] std::uint64_t bound_of(bool is_answer) const;

  const parts of_;
};

} // namespace troupe::internal
