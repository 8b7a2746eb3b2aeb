// The last step of an incoming message.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/actor_systems.hpp>
#include <troupe/framework/internal/caf_port/annotated_message.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/caf_port/prepaid_actor.hpp>
#include <troupe/framework/internal/caf_port/proxy.hpp>
#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/framework/internal/flow/latency_meter.hpp>
#include <troupe/framework/internal/link/forwarded_message.hpp>
#include <troupe/framework/internal/link/message_ends.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// The route of an incoming message: its receiver and its sender.
class message_route {
public:
  /// The message returns a request that is not pending. It is passed to refuse_unasked().
  [[nodiscard]] bool is_unasked() const noexcept { return is_unasked_; }
  /// The receiver's proxy if the receiver is an actor of another node; otherwise null.
  [[nodiscard]] proxy* way_on() const noexcept { return way_on_; }
  [[nodiscard]] const caf::strong_actor_ptr& receiver() const noexcept { return receiver_; }
  /// Null if there is no sender.
  [[nodiscard]] const caf::strong_actor_ptr& sender() const noexcept { return sender_.get(); }

  message_route() = default;
  explicit message_route(message_ends ends)
      : receiver_(std::move(ends.receiver)),
        sender_(std::move(ends.sender)),
        way_on_(as_proxy(receiver_)),
        is_unasked_(ends.is_unasked) {}
  /// Adds a reference to the sender and returns it.
  [[nodiscard]] caf::strong_actor_ptr take_sender() noexcept { return sender_.take(); }

private:
  caf::strong_actor_ptr receiver_;
  prepaid_actor sender_;
  proxy* way_on_ = nullptr;
  bool is_unasked_ = false;
};

/// Finds the routes of messages.
///
/// Keeps the last route, because consecutive messages mostly have the same sender and receiver.
/// Threads: one.
class route_finder {
public:
  /// Both must outlive this object.
  route_finder(ends_finder& ends, limited_log& warnings) : ends_(ends), warnings_(warnings) {}

  /// Sets the peer's name in log lines.
  void name_peer(std::string name) { peer_ = std::move(name); }

  /// Finds the route of a message. It is valid until the next call or forget(). If the message returns a question of
  /// this node, `returned` takes the question.
  [[nodiscard]] std::expected<message_route*, node_error> find(const message_head& head, taken_question& returned) {
    if (is_reusable_ && (head.flags & message_flags::returned) == 0 && receiver_ == head.receiver
        && sender_ == head.sender) {
      uncounted_ += head.sender != 0 ? 1 : 0;
      return &last_;
    }
    return look_up(head, returned);
  }
  /// Counts one more message on the route that find() has found last.
  void found_again() noexcept { uncounted_ += sender_ != 0 ? 1 : 0; }
  /// The sender of the last message. Null if it had no sender, or after forget().
  [[nodiscard]] const caf::strong_actor_ptr& last_sender() const noexcept { return last_.sender(); }
  /// Drops both actors, because a later packet may change what their numbers mean.
  void forget();

private:
  [[nodiscard]] std::expected<message_route*, node_error> look_up(const message_head& head, taken_question& returned);

  ends_finder& ends_;
  limited_log& warnings_;
  std::string peer_ = "unknown peer";
  message_route last_;
  std::uint64_t receiver_ = 0;
  std::uint64_t sender_ = 0;    // 0: no sender.
  bool is_reusable_ = false;    // The two numbers alone decide the route.
  std::uint64_t uncounted_ = 0; // Mentions of the sender that the actor tables have not counted yet.
};

/// Puts incoming messages into their receivers' mailboxes.
///
/// Threads: one.
class delivery {
public:
  struct totals {
    std::atomic<std::uint64_t>& undelivered;
    std::atomic<std::uint64_t>& undecodable;
    expired_counter expired;
    bool times_handlers = false; // Requests tell their links how long actors take to answer.
  };

  /// All must outlive this object. `allow_exit`: the peer may end actors of this node.
  delivery(const ends_finder& ends, caf::actor_system& system, bool allow_exit, totals counts, limited_log& warnings)
      : ends_(ends), system_(system), allow_exit_(allow_exit), counts_(counts), warnings_(warnings) {}

  /// Sets the peer's name in log lines.
  void name_peer(std::string name) { peer_ = std::move(name); }
  /// To be called before the first message.
  void allow_exits(bool allowed) noexcept { allow_exit_ = allowed; }

  // For each message, one of the functions up to give_up() is called. If forward() returns false, another one follows.
  /// For a route that is_unasked().
  void refuse_unasked();
  /// For a response that answers no request of this node.
  void refuse_answer();
  /// For a request that was answered before: sends that answer again.
  void answer_again(const message_route& to, const message_head& head, const caf::message& answer);
  /// For a request that may have been handled before, and whose answer is not kept.
  void refuse_forgotten(const message_route& to, const message_head& head);
  /// For a request whose deadline has passed.
  void refuse_expired(const message_route& to, const message_head& head);
  /// `notes`: what the receiver's handler learns of the message besides its content.
  std::expected<void, node_error> deliver(message_route& to, const message_head& head, message_kind kind,
                                          message_under_construction&& message, receipt owed = {},
                                          message_notes notes = {});
  /// As deliver() for a message that is neither an exit message nor an error. Requires: is_ordinary(kind), no way on.
  void deliver_ordinary(message_route& to, const message_head& head, message_under_construction&& message);
  /// Returns true if a message of this kind cannot end its receiver.
  [[nodiscard]] static bool is_ordinary(message_kind kind) noexcept {
    return kind != message_kind::exit && kind != message_kind::error;
  }
  /// Delivers a message that was not encoded. `owed` is settled when the message is consumed.
  void deliver(message_route& to, const message_head& head, caf::message&& content, receipt owed,
               message_notes notes = {});
  /// Forwards the message undecoded over the link to the receiver's node. Returns false if it has to be decoded first.
  /// Requires: way_on().
  [[nodiscard]] bool forward(const message_route& to, const message_head& head, const forwarded_message& message,
                             receipt& owed);
  /// For a message that cannot be decoded. Tells the requester, if there is one. Fails if the link has to end because
  /// of it.
  std::expected<void, node_error> give_up(const message_route& to, const message_head& head, node_error reason);

  /// Fails with `protocol_violation` if the peer may not send this exit message.
  [[nodiscard]] std::expected<void, node_error> admit_exit(const message_head& head) const;
  /// Returns true for an error that answers nothing and would end its receiver. Such an error is counted. If it was a
  /// request, it is answered.
  [[nodiscard]] bool refuses_bare_error(const message_route& to, const message_head& head, message_kind kind);

private:
  [[nodiscard]] caf::strong_actor_ptr sender_of(message_route& to, const message_head& head,
                                                const message_notes& notes);
  [[nodiscard]] handling_start handling_begins() noexcept;
  [[nodiscard]] caf::mailbox_element_ptr annotated(const message_route& to, caf::mailbox_element_ptr whole,
                                                   message_notes notes) const;
  void count_undelivered() { counts_.undelivered.fetch_add(1, std::memory_order_relaxed); }

  const ends_finder& ends_;
  caf::actor_system& system_;
  bool allow_exit_;
  const totals counts_;
  limited_log& warnings_;
  std::string peer_ = "unknown peer";
  latency_sampler timed_requests_;
};

} // namespace troupe::internal
