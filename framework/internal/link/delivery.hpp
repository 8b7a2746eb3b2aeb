// The last step of a message's way in.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <optional>
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
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// The actor that waits for an answer, and CAF's id of that answer.
struct awaited_answer {
  caf::weak_actor_ptr asker;
  caf::message_id answer;
};

/// The receiver and the sender that a message's head names.
struct message_ends {
  caf::strong_actor_ptr receiver;
  caf::strong_actor_ptr sender;  // Null: nobody.
  bool is_unasked = false;       // Brings back a request that is not pending.
  bool hides_own_sender = false; // Names an actor of this node as its sender that the peer may not name.
};

/// What deliveries ask the tables of their link.
///
/// Threads: one.
class delivery_desk {
public:
  virtual ~delivery_desk() = default;

  /// Counts one mention of the sender. Where the message brings back a question of this node, that one is pending no
  /// more, whatever is returned: `returned` says who waits for its answer.
  [[nodiscard]] virtual std::expected<message_ends, node_error> find_ends(const message_head& head,
                                                                          std::optional<awaited_answer>& returned) = 0;
  /// Counts so many more mentions of the peer's actor.
  virtual void count_mentions(std::uint64_t number, std::uint64_t more) = 0;
  /// Whether that is an actor of this node which no peer may end.
  [[nodiscard]] virtual bool serves_all_links(const caf::strong_actor_ptr& actor) const = 0;
};

/// Puts messages that have come into their receivers' mailboxes.
///
/// Keeps the two actors of the last message, since most messages are of the same pair.
/// Threads: one.
class delivery {
public:
  struct totals {
    std::atomic<std::uint64_t>& undelivered;
    std::atomic<std::uint64_t>& undecodable;
  };

  /// All outlive this. `allow_exit`: the peer may end actors here.
  delivery(delivery_desk& desk, caf::actor_system& system, bool allow_exit, totals counts, limited_log& warnings)
      : desk_(desk), system_(system), allow_exit_(allow_exit), counts_(counts), warnings_(warnings) {}

  /// What the peer is called in lines.
  void name_peer(std::string name) { peer_ = std::move(name); }

  /// Finds the actors of the message that is delivered next.
  std::expected<void, node_error> find(const message_head& head) {
    if (last_.is_reusable && (head.flags & message_flags::returned) == 0 && last_.receiver_number == head.receiver
        && last_.sender_number == head.sender) {
      last_.uncounted += head.sender != 0 ? 1 : 0;
      return {};
    }
    return look_up(head);
  }
  /// Whether the message brings back a request that is not pending.
  [[nodiscard]] bool is_unasked() const noexcept { return last_.is_unasked; }
  /// The receiver, where it is another node's; else null.
  [[nodiscard]] proxy* way_on() const noexcept { return last_.way_on; }
  /// It answers a question of the receiver.
  void note_answer(const message_head& head);

  // One of these, for each message.
  /// It is_unasked().
  void refuse_unasked();
  /// It answers nothing that was asked.
  void refuse_answer();
  std::expected<void, node_error> deliver(const message_head& head, std::uint32_t type_token,
                                          message_under_construction&& message, receipt owed = {});
  /// A message that was not encoded; `owed` is settled with it.
  void deliver(const message_head& head, caf::message&& content, receipt owed);
  /// Over the link to the receiver's node, as it is; false where it has to be decoded. Requires: way_on().
  [[nodiscard]] bool pass_on(const message_head& head, const forwarded_message& message, receipt& owed);
  /// It cannot be decoded: whoever waits is told. Fails when the link has to end for it.
  std::expected<void, node_error> give_up(const message_head& head, node_error reason);

  /// Whether the peer may send an exit message so.
  [[nodiscard]] std::expected<void, node_error> admit_exit(const message_head& head) const;
  /// Whether it is an error that answers nothing, which would end its receiver; then it is answered and counted.
  [[nodiscard]] bool refuses_bare_error(const message_head& head, std::uint32_t type_token);

  /// Lets go of both actors, since something may follow that is about them.
  void settle();
  /// The packet has been handled.
  void end_packet() noexcept { awaited_.reset(); }
  /// Who waits for an answer that was taken from those pending and has not been delivered.
  [[nodiscard]] std::optional<awaited_answer> take_awaited() { return std::exchange(awaited_, std::nullopt); }

private:
  struct pair {
    std::uint64_t receiver_number = 0;
    std::uint64_t sender_number = 0; // 0: nobody; then `sender` is null.
    caf::strong_actor_ptr receiver;
    prepaid_actor sender;
    proxy* way_on = nullptr;
    bool is_reusable = false; // Nothing but its numbers decides.
    bool is_unasked = false;
    std::uint64_t uncounted = 0; // Mentions of the sender that the tables do not know of yet.
  };

  std::expected<void, node_error> look_up(const message_head& head);
  [[nodiscard]] caf::strong_actor_ptr sender_of(const message_head& head);
  void count_undelivered() { counts_.undelivered.fetch_add(1, std::memory_order_relaxed); }

  delivery_desk& desk_;
  caf::actor_system& system_;
  const bool allow_exit_;
  const totals counts_;
  limited_log& warnings_;
  std::string peer_ = "unknown peer";
  pair last_;
  std::optional<awaited_answer> awaited_;
};

} // namespace troupe::internal
