// The last step of a message's way in.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/actor_systems.hpp>
#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/caf_port/prepaid_actor.hpp>
#include <troupe/framework/internal/caf_port/proxy.hpp>
#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/framework/internal/link/forwarded_message.hpp>
#include <troupe/framework/internal/link/message_ends.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Where a message goes from here.
class message_route {
public:
  /// It brings back a request that is not pending: refuse_unasked().
  [[nodiscard]] bool is_unasked() const noexcept { return is_unasked_; }
  /// The receiver, where it is another node's; else null.
  [[nodiscard]] proxy* way_on() const noexcept { return way_on_; }
  [[nodiscard]] const caf::strong_actor_ptr& receiver() const noexcept { return receiver_; }
  /// Null: nobody.
  [[nodiscard]] const caf::strong_actor_ptr& sender() const noexcept { return sender_.get(); }

  message_route() = default;
  explicit message_route(message_ends ends)
      : receiver_(std::move(ends.receiver)),
        sender_(std::move(ends.sender)),
        way_on_(as_proxy(receiver_)),
        is_unasked_(ends.is_unasked) {}
  /// One more reference to the sender.
  [[nodiscard]] caf::strong_actor_ptr take_sender() noexcept { return sender_.take(); }

private:
  caf::strong_actor_ptr receiver_;
  prepaid_actor sender_;
  proxy* way_on_ = nullptr;
  bool is_unasked_ = false;
};

/// Finds the routes of messages.
///
/// Keeps the last one, since most messages are of the same pair.
/// Threads: one.
class route_finder {
public:
  /// Both outlive this.
  route_finder(ends_finder& ends, limited_log& warnings) : ends_(ends), warnings_(warnings) {}

  /// What the peer is called in lines.
  void name_peer(std::string name) { peer_ = std::move(name); }

  /// Valid until the next call, or forget(). Where the message brings back a question of this node, `returned` takes
  /// it.
  [[nodiscard]] std::expected<message_route*, node_error> find(const message_head& head, taken_question& returned) {
    if (is_reusable_ && (head.flags & message_flags::returned) == 0 && receiver_ == head.receiver
        && sender_ == head.sender) {
      uncounted_ += head.sender != 0 ? 1 : 0;
      return &last_;
    }
    return look_up(head, returned);
  }
  /// One more message goes the way that find() has found last.
  void found_again() noexcept { uncounted_ += sender_ != 0 ? 1 : 0; }
  /// The sender of the last one; null where there is none, or after forget().
  [[nodiscard]] const caf::strong_actor_ptr& last_sender() const noexcept { return last_.sender(); }
  /// Lets go of both actors, since something may follow that is about them.
  void forget();

private:
  [[nodiscard]] std::expected<message_route*, node_error> look_up(const message_head& head, taken_question& returned);

  ends_finder& ends_;
  limited_log& warnings_;
  std::string peer_ = "unknown peer";
  message_route last_;
  std::uint64_t receiver_ = 0;
  std::uint64_t sender_ = 0;    // 0: nobody.
  bool is_reusable_ = false;    // Nothing but the two numbers decides.
  std::uint64_t uncounted_ = 0; // Mentions of the sender that the tables do not know of yet.
};

/// Puts messages that have come into their receivers' mailboxes.
///
/// Threads: one.
class delivery {
public:
  struct totals {
    std::atomic<std::uint64_t>& undelivered;
    std::atomic<std::uint64_t>& undecodable;
  };

  /// All outlive this. `allow_exit`: the peer may end actors here.
  delivery(const ends_finder& ends, caf::actor_system& system, bool allow_exit, totals counts, limited_log& warnings)
      : ends_(ends), system_(system), allow_exit_(allow_exit), counts_(counts), warnings_(warnings) {}

  /// What the peer is called in lines.
  void name_peer(std::string name) { peer_ = std::move(name); }

  // One of these, for each message.
  /// Its route is_unasked().
  void refuse_unasked();
  /// It answers nothing that was asked.
  void refuse_answer();
  std::expected<void, node_error> deliver(message_route& to, const message_head& head, message_kind kind,
                                          message_under_construction&& message, receipt owed = {});
  /// The same for one that is neither a request nor an answer. Requires: is_ordinary(kind), no way on.
  void deliver_ordinary(message_route& to, const message_head& head, message_under_construction&& message);
  /// Neither ends its receiver.
  [[nodiscard]] static bool is_ordinary(message_kind kind) noexcept {
    return kind != message_kind::exit && kind != message_kind::error;
  }
  /// A message that was not encoded; `owed` is settled with it.
  void deliver(message_route& to, const message_head& head, caf::message&& content, receipt owed);
  /// Over the link to the receiver's node, as it is; false where it has to be decoded. Requires: way_on().
  [[nodiscard]] bool forward(const message_route& to, const message_head& head, const forwarded_message& message,
                             receipt& owed);
  /// It cannot be decoded: whoever waits is told. Fails when the link has to end for it.
  std::expected<void, node_error> give_up(const message_route& to, const message_head& head, node_error reason);

  /// Whether the peer may send an exit message so.
  [[nodiscard]] std::expected<void, node_error> admit_exit(const message_head& head) const;
  /// Whether it is an error that answers nothing, which would end its receiver; then it is answered and counted.
  [[nodiscard]] bool refuses_bare_error(const message_route& to, const message_head& head, message_kind kind);

private:
  [[nodiscard]] caf::strong_actor_ptr sender_of(message_route& to, const message_head& head);
  void count_undelivered() { counts_.undelivered.fetch_add(1, std::memory_order_relaxed); }

  const ends_finder& ends_;
  caf::actor_system& system_;
  const bool allow_exit_;
  const totals counts_;
  limited_log& warnings_;
  std::string peer_ = "unknown peer";
};

} // namespace troupe::internal
