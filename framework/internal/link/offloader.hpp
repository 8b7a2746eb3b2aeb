// Encodes large messages on other threads than their senders'.
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

/// The result of offering a message to the offloader.
struct offload_verdict {
  enum class kind : std::uint8_t {
    here,   // To be sent on this thread.
    kept,   // It waits for the encoder.
    refused // Not sent.
  };
  kind what = kind::here;
  bool wakes_encoder = false;                  // If kept: next() has to be called for it.
  std::optional<node_error> reason = {};       // If refused: the reason; the caller still has the message.
  std::vector<offloaded_message> dropped = {}; // Older messages that have made room for it.
};

/// Keeps large messages of actors for the node's encoder. Later messages to the same receiver wait behind them.
///
/// Threads: any.
class offloader {
public:
  /// Parts of the link; all must outlive this object.
  struct parts {
    const link_common& link;
    const link_options& options;
    const std::atomic<std::size_t>& enough_bytes; // From this size on a message is large; 0: none is.
    message_encoder::parts types;                 // Used to weigh messages.
    const actor_names& actors;
    encoding_lane<unencoded_message>& waiting;
    send_gate& gate;
    send_pump& pump;
  };
  explicit offloader(const parts& of) : of_(of) {}

  /// Takes a message if it is large and comes from an actor, or if others are ahead of it. A message from another link
  /// comes with a receipt. That link bounds it, so it always finds room here.
  [[nodiscard]] offload_verdict take(std::uint64_t receiver, caf::mailbox_element_ptr& what, receipt* owed = nullptr,
                                     bytes_view extensions = {});
  /// Quick check whether take() would take nothing on this thread. Returns false if that depends on the message.
  [[nodiscard]] bool takes_nothing() const noexcept {
    return may_block() // A thread of the user waits for room itself.
           || (of_.enough_bytes.load(std::memory_order_relaxed) == 0 && of_.waiting.is_idle());
  }
  /// Quick check whether no message is kept, so that a small one has none ahead of it.
  [[nodiscard]] bool is_idle() const noexcept { return of_.waiting.is_idle(); }
  /// Returns true if messages of that pair are being encoded.
  [[nodiscard]] bool has(std::uint64_t receiver, const void* sender) const { return of_.waiting.has(receiver, sender); }

  // -- for the encoder, once for each message that wakes it

  /// Returns the next message; nullopt if the link has ended meanwhile.
  [[nodiscard]] std::optional<offloaded_message> next() { return of_.waiting.next(); }
  /// To be called when the message was sent, or has failed. Returns true if the encoder has to come again.
  [[nodiscard]] bool done(std::uint64_t receiver, std::uint64_t size_bytes, bool is_answer);

  /// To be called when the link ends.
  [[nodiscard]] std::vector<offloaded_message> take_all() { return of_.waiting.take_all(); }

private:
  [[nodiscard]] std::uint64_t bound_of(bool is_answer) const;

  const parts of_;
};

} // namespace troupe::internal
