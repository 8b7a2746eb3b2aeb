// Large messages are encoded off their senders' threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <troupe/framework/internal/caf_port/actors/job_actor.hpp>
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

/// Sends or fails the messages that an offloader has kept.
class offload_target {
public:
  virtual ~offload_target() = default;

  /// Encodes and sends on this thread.
  virtual void send_now(offloaded_message message) = 0;
  /// It will not be sent.
  virtual void fail(offloaded_message message, const node_error& reason, caf::execution_unit* context) = 0;
  /// The same, for one that makes room for newer ones.
  virtual void drop(offloaded_message message, caf::execution_unit* context) = 0;
};

/// Has large messages of actors encoded by the node's encoder; later messages to the same receiver stay behind them.
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
    job_actor& encoder;
  };
  offloader(const parts& of, offload_target& target) : of_(of), target_(target) {}

  /// Before the first message. Jobs that wait for the encoder do nothing once `link` has ended.
  void open(std::weak_ptr<const void> link) { link_ = std::move(link); }

  /// Takes a message, or fails it: it is large and comes from an actor, or others are ahead of it. False where it is to
  /// be sent on this thread.
  [[nodiscard]] bool take(std::uint64_t receiver, caf::mailbox_element_ptr& what, caf::execution_unit* context,
                          bytes_view extensions = {});
  /// Quick: take() would take nothing.
  [[nodiscard]] bool is_idle() const noexcept {
    return of_.enough_bytes.load(std::memory_order_relaxed) == 0 && of_.waiting.is_idle();
  }
  /// Whether messages of that pair are being encoded.
  [[nodiscard]] bool has(std::uint64_t receiver, const void* sender) const { return of_.waiting.has(receiver, sender); }

  /// The link has ended.
  void end();

private:
  [[nodiscard]] std::uint64_t bound_of(bool is_answer) const;
  void encode_soon();
  void encode_next();

  const parts of_;
  offload_target& target_;
  std::weak_ptr<const void> link_;
};

} // namespace troupe::internal
