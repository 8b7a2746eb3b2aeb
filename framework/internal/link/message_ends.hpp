// The two actors of a message that has come.
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
  caf::strong_actor_ptr sender;  // Null: nobody.
  bool is_unasked = false;       // Brings back a request that is not pending.
  bool hides_own_sender = false; // Names an actor of this node as its sender that the peer may not name.
};

/// Finds the actors that the heads of messages name.
///
/// Threads: one.
class ends_finder {
public:
  virtual ~ends_finder() = default;

  /// Counts one mention of the sender. If the message brings back a question of this node, `returned` has taken the
  /// question, also if this fails.
  [[nodiscard]] virtual std::expected<message_ends, node_error> find_ends(const message_head& head,
                                                                          taken_question& returned) = 0;
  /// Adds `more` to the mentions of the peer's actor `number`.
  virtual void count_mentions(std::uint64_t number, std::uint64_t more) = 0;
  /// Whether that is an actor of this node which no peer may end.
  [[nodiscard]] virtual bool serves_all_links(const caf::strong_actor_ptr& actor) const = 0;
};

} // namespace troupe::internal
