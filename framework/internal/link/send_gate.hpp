// Whether a message may leave.
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
#include <troupe/framework/internal/flow/reply_room.hpp>
#include <troupe/framework/internal/flow/send_window.hpp>
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

/// How a message is held to the bounds.
enum class urgency : std::uint8_t {
  ordinary,
  always_waits,  // Is never refused for want of room, nor dropped: somebody else bounds it, or it ends an actor.
  answers_anyway // An error in place of an answer.
};

/// Decides whether a message leaves, waits for the peer's credit or is refused.
///
/// Threads: any; members that take a link_held are guarded by the link's lock.
class send_gate {
public:
  /// Parts of the link, which outlive this.
  struct parts {
    const link_common& link;
    const link_options& options;
    reply_room& replies;     // Guarded by `mutex`, as are the two below.
    pending_requests& asked; // ... of which `replies` is the room.
    const departures& leaving;
    const encoding_lane<unencoded_message>& encoding; // Messages that are not encoded yet.
    std::atomic<std::uint64_t>& dropped;
  };
  explicit send_gate(const parts& of) : of_(of), window_(of.replies) {}

  /// Before the first message. `to` outlives this.
  void open(const link_held&, connection& to, const send_bounds& bounds) {
    to_ = &to;
    window_.set_bounds(bounds);
  }

  // -- a message

  /// Whether anything leaves at all.
  [[nodiscard]] bool is_open(const link_held& held) const {
    return of_.link.is_open() && to_->open_outbox(held) != nullptr;
  }

  /// Fails with `link_down` or `link_busy`. May let go of the lock: callers outside of actors are blocked where the
  /// options say so. Puts messages that made room into `dropped`, for drop().
  [[nodiscard]] std::expected<admission, node_error> admit(link_held& held, const message_head& head,
                                                           std::uint64_t cost, const behind_handles& behind,
                                                           std::vector<packed_message>& dropped, urgency how);
  /// Whether a message without handles that costs `cost` leaves at once. False also for a receiver that nothing has
  /// been sent to, and where admit() may find room.
  [[nodiscard]] bool leaves_at_once(const link_held&, std::uint64_t receiver, std::uint64_t cost, bool request);
  /// What a message with such a head asks of this end. Requires: the head says whether the message is passed back.
  [[nodiscard]] asking asked_by(const message_head& head) const;
  /// The same of an answer.
  [[nodiscard]] bool answer_leaves(const link_held& held) const;
  /// It leaves. Whether all its frames count for the receiver already.
  bool charge(const link_held&, std::uint64_t receiver, std::uint64_t cost, const behind_handles& behind) {
    return window_.charge(receiver, cost, behind);
  }
  /// It waits, until next() gives it.
  void wait(const link_held&, packed_message message) { window_.wait(std::move(message)); }
  /// A request leaves: room for its answer is kept from now on. Nothing where `question` is none.
  void expect_answer(const link_held&, const question_key& question, std::uint64_t receiver);

  /// Answers its request. Not under the lock.
  void drop(packed_message message);
  /// Counts a message that makes room for a newer one.
  void note_dropped();

  // -- messages that wait

  /// The peer has consumed. Fails with `protocol_violation` where it says more than was sent.
  [[nodiscard]] std::expected<void, node_error> credit(const link_held&, const internal::credit& what);
  /// The next message that may leave, already charged.
  [[nodiscard]] std::optional<packed_message> next(const link_held&) { return window_.next(); }
  /// Takes note of the answers that were consumed. Those that are consumed from now on wake the link again, where
  /// somebody waits: else it could miss one that comes between this call and the next.
  void note_consumed_answers(const link_held& held) {
    want_answers_if_any_wait(held);
    of_.replies.settle();
  }
  /// For room to send in, or for answers.
  [[nodiscard]] bool anybody_waits(const link_held& held) const {
    return blocked_ > 0 || window_.anything_waits() || readiness_.anybody_waits(held);
  }
  /// Has the link woken by the next answer that is consumed, where somebody waits for it.
  void want_answers_if_any_wait(const link_held& held) { of_.replies.want(anybody_waits(held)); }
  /// Callers that are blocked look again.
  void wake(const link_held&) { credit_or_end_.notify_all(); }
  /// Nobody here refers to the receiver any more.
  void forget(const link_held&, std::uint64_t receiver);

  // -- link_ready

  [[nodiscard]] bool is_ready(std::uint64_t receiver);
  /// Tells `who` once there is room, or never will be.
  void notify_when_ready(std::uint64_t receiver, readiness::notice whom);
  [[nodiscard]] bool anybody_is_to_be_told(const link_held& held) const { return readiness_.anybody_waits(held); }
  /// Takes out those whose receiver has room again, or will never have.
  [[nodiscard]] std::vector<readiness::notice> take_ready(const link_held& held);

  // -- the peer's answers

  /// Answers that are overdue for long keep no more room from others.
  void reclaim(const link_held&);
  /// The same from time to time; where requests wait for room, also answers that are overdue since the last call, if
  /// none has come since. Whether requests wait for room.
  bool reclaim_stalled(const link_held&);
  /// A request that timed out where it was asked stays pending here, since CAF does not say so: of those that have not
  /// been answered for long, the oldest are given up when there are too many.
  void give_up_old_requests();

  /// Why the link has to end: small packets, which nothing else bounds, wait for a peer that does not read: errors in
  /// place of answers, and what it asked of the link itself. Nullopt: it has not.
  [[nodiscard]] std::optional<node_error> excess_of_unread() const;

  // -- looking

  [[nodiscard]] const send_window<packed_message>& window(const link_held&) const noexcept { return window_; }
  /// At the link's end.
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
  std::condition_variable credit_or_end_; // Callers outside of actors wait here for credit.
  // Guarded by the link's lock.
  std::size_t blocked_ = 0; // Callers that wait for credit_or_end_.
  send_window<packed_message> window_;
  readiness readiness_;
};

} // namespace troupe::internal
