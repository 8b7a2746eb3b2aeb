// Decides whether a message may leave.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/framework/internal/flow/encoding_lane.hpp>
#include <troupe/framework/internal/flow/latency_meter.hpp>
#include <troupe/framework/internal/flow/reply_room.hpp>
#include <troupe/framework/internal/flow/send_window.hpp>
#include <troupe/framework/internal/link/dead_letter_writer.hpp>
#include <troupe/framework/internal/link/departures.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/packed_message.hpp>
#include <troupe/framework/internal/link/pending_requests.hpp>
#include <troupe/framework/internal/link/readiness.hpp>
#include <troupe/framework/internal/link/unencoded_message.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// How the bounds apply to a message.
enum class urgency : std::uint8_t {
  ordinary,
  always_waits,  // Never refused for lack of room, nor dropped: another link bounds it, or it ends an actor.
  answers_anyway // An error in place of an answer.
};

/// Decides whether a message leaves, waits for the peer's credit or is refused.
///
/// Threads: any; members that take a link_held are guarded by the link's lock.
class send_gate {
public:
  /// Parts of the link; all must outlive this object.
  struct parts {
    const link_common& link;
    const link_options& options;
    reply_room& replies;     // Guarded by the link's lock, as are the two below.
    pending_requests& asked; // `replies` is the room for their answers.
    const departures& leaving;
    const encoding_lane<unencoded_message>& encoding; // Messages that are not encoded yet.
    std::atomic<std::uint64_t>& dropped;
    const dead_letter_writer& letters;
    latency_meter* waits = nullptr; // Measures waits for credit; null: they are not measured.
  };
  explicit send_gate(const parts& of) : of_(of), window_(of.replies) {}

  /// To be called before the first message. `to` must outlive this object.
  void open(const link_held&, connection& to, const send_bounds& bounds) {
    to_ = &to;
    window_.set_bounds(bounds);
  }

  // -- a message

  /// Returns true if messages may leave at all.
  [[nodiscard]] bool is_open(const link_held& held) const {
    return of_.link.is_open() && to_->open_outbox(held) != nullptr;
  }

  /// Returns whether the message leaves or waits. Fails with `link_down` or `link_busy`. May release the lock, because
  /// it blocks callers outside actors if the options say so. Moves messages that have made room to `dropped`, for
  /// drop().
  [[nodiscard]] std::expected<admission, node_error> admit(link_held& held, const message_head& head,
                                                           std::uint64_t cost, const behind_handles& behind,
                                                           std::vector<packed_message>& dropped, urgency how);
  /// Returns true if a message without handles that costs `cost` leaves at once. Returns false for a receiver to which
  /// nothing was sent yet, even if admit() would let the message leave.
  [[nodiscard]] bool leaves_at_once(const link_held&, std::uint64_t receiver, std::uint64_t cost, bool request);
  /// What a message with such a head asks of this end. Requires: the head says whether the message is passed back.
  [[nodiscard]] asking asked_by(const message_head& head) const;
  /// Returns true if an answer may leave at once.
  [[nodiscard]] bool answer_leaves(const link_held& held) const;
  /// Charges a message that leaves. Returns true if all its frames are already counted for the receiver.
  bool charge(const link_held&, std::uint64_t receiver, std::uint64_t cost, const behind_handles& behind) {
    return window_.charge(receiver, cost, behind);
  }
  /// Queues the message until next() returns it.
  void wait(const link_held&, packed_message message);
  /// To be called when a request leaves. Reserves the room for its answer. Does nothing if `question` is none.
  void expect_answer(const link_held&, const question_key& question, std::uint64_t receiver);

  /// Fails the request of a dropped message. Requires: the lock is not held.
  void drop(packed_message message);
  /// Counts a message that has made room for a newer one.
  void note_dropped();

  // -- waiting messages

  /// Handles the peer's report of what it has consumed. Fails with `protocol_violation` if that is more than was sent.
  [[nodiscard]] std::expected<void, node_error> credit(const link_held&, const internal::credit& what);
  /// Returns the next message that may leave, already charged.
  [[nodiscard]] std::optional<packed_message> next(const link_held&);
  /// Takes note of the answers that were consumed so far. If any caller waits, answers that are consumed from now on
  /// wake the link. Otherwise an answer between this call and the next one could be missed.
  void note_consumed_answers(const link_held& held) {
    want_answers_if_any_wait(held);
    of_.replies.settle();
  }
  /// Returns true if any message waits for room to leave, or any request for room for its answer.
  [[nodiscard]] bool anybody_waits(const link_held& held) const {
    return blocked_ > 0 || window_.anything_waits() || readiness_.anybody_waits(held);
  }
  /// If anything waits, the next answer that is consumed wakes the link.
  void want_answers_if_any_wait(const link_held& held) { of_.replies.want(anybody_waits(held)); }
  /// Lets blocked callers check again.
  void wake(const link_held&) { credit_or_end_.notify_all(); }
  /// Forgets the receiver, because nothing here refers to it any more.
  void forget(const link_held&, std::uint64_t receiver);

  // -- link_ready

  [[nodiscard]] bool is_ready(std::uint64_t receiver);
  /// Notifies `whom` once there is room, or there will never be any.
  void notify_when_ready(std::uint64_t receiver, readiness::notice whom);
  [[nodiscard]] bool anybody_is_to_be_told(const link_held& held) const { return readiness_.anybody_waits(held); }
  /// Removes and returns the notices whose receiver has room again, or never will.
  [[nodiscard]] std::vector<readiness::notice> take_ready(const link_held& held);

  // -- the peer's answers

  /// Stops reserving room for answers that are overdue for more than 30 s.
  void reclaim(const link_held&);
  /// As reclaim(). To be called from time to time. If requests wait for room, also stops reserving room for answers
  /// that are overdue since the last call, unless an answer has come since. Returns true if requests wait for room.
  bool reclaim_stalled(const link_held&);
  /// Fails the oldest requests that have been unanswered for long, if there are more than 65,536. A request that has
  /// timed out at its requester stays pending here, because CAF does not report that.
  void give_up_old_requests();

  /// Returns the reason to end the link if too many small packets wait for a peer that does not read; otherwise
  /// nullopt. These packets are errors in place of answers, and replies to the peer's admin packets. Nothing else
  /// bounds them.
  [[nodiscard]] std::optional<node_error> excess_of_unread() const;

  // -- state

  [[nodiscard]] const send_window<packed_message>& window(const link_held&) const noexcept { return window_; }
  /// To be called when the link ends.
  [[nodiscard]] std::vector<packed_message> take_all(const link_held&) { return window_.take_all(); }

private:
  [[nodiscard]] asking asked_by(std::uint64_t receiver, bool request) const;
  std::expected<void, node_error> admit_answer(const link_held& held) const;
  [[nodiscard]] std::uint64_t unread_bytes(const link_held& held) const;
  [[nodiscard]] std::uint64_t unread_answers_bound() const;
  [[nodiscard]] bool has_room_for(const link_held&, std::uint64_t receiver) const;
  [[nodiscard]] node_error busy_error(std::uint64_t receiver, asking asks) const;

  const parts of_;
  connection* to_ = nullptr;              // Set before the link is open.
  std::condition_variable credit_or_end_; // Callers outside actors wait here for credit.
  // Guarded by the link's lock.
  std::size_t blocked_ = 0; // Callers that wait for credit_or_end_.
  send_window<packed_message> window_;
  readiness readiness_;
  latency_sampler timed_waits_;
};

} // namespace troupe::internal
