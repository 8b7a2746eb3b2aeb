// The two actors of an incoming message.
#pragma once

#include <cstdint>
#include <expected>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/link/taken_question.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// The receiver and the sender that a message's head names.
struct message_ends {
  caf::strong_actor_ptr receiver;
  caf::strong_actor_ptr sender;  // Null: there is no sender.
  bool is_unasked = false;       // The message returns a request that is not pending.
  bool hides_own_sender = false; // The message names a sender of this node that the peer may not name.
};

/// Finds the actors that the heads of messages name.
///
/// Threads: one.
class ends_finder {
public:
  virtual ~ends_finder() = default;

  /// Counts one mention of the sender. If the message returns a question of this node, `returned` takes the question,
  /// even if this call fails.
  [[nodiscard]] virtual std::expected<message_ends, node_error> find_ends(const message_head& head,
                                                                          taken_question& returned) = 0;
  /// Adds `more` to the mentions of the peer's actor `number`.
  virtual void count_mentions(std::uint64_t number, std::uint64_t more) = 0;
  /// Returns true for an actor of this node that serves all links. No peer may end it.
  [[nodiscard]] virtual bool serves_all_links(const caf::strong_actor_ptr& actor) const = 0;
};

} // namespace troupe::internal
