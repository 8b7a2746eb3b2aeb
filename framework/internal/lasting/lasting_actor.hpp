// The actor behind a lasting handle.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <troupe/framework/internal/caf_port/actor_systems.hpp>
#include <troupe/framework/internal/caf_port/proxy_class.hpp>
#include <troupe/framework/internal/lasting/repeated_requests.hpp>
#include <troupe/framework/internal/lasting/target_slot.hpp>
#include <troupe/framework/internal/lasting/waiting_messages.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/lasting.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// What a lasting actor needs from its node. Threads: any.
class lasting_owner {
public:
  virtual ~lasting_owner() = default;

  /// A message begins to wait, or the target's link has ended.
  virtual void is_away(std::uint64_t handle) = 0;
  /// Nothing refers to the handle any more.
  virtual void is_dropped(std::uint64_t handle) noexcept = 0;
  /// Null once the node has ended.
  [[nodiscard]] virtual std::shared_ptr<link_host> node() const = 0;
};

/// Forwards messages to the target while there is one, and keeps them in order while there is none.
///
/// Requests that may be repeated are sent in this actor's name and kept until their answers have come.
/// A sender uses the target directly only if no earlier message waits. So the messages of each sender stay in order.
/// Threads: any.
class lasting_actor final : public caf::actor_proxy {
public:
  using clock = waiting_messages::clock;

  struct terms {
    std::uint64_t number = 0; // Of the handle, in its node.
    std::string name;         // Under which the target is published.
    std::set<std::string> interface;
    std::uint64_t queue_bytes = 0;
    request_retry retry = request_retry::none;
    std::chrono::milliseconds patience{0};
  };

  lasting_actor(caf::actor_config& config, std::weak_ptr<lasting_owner> owner, terms its);
  ~lasting_actor() override;

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) override;
  void kill_proxy(caf::execution_unit* context, caf::error reason) override;
  [[nodiscard]] std::set<std::string> message_types() const override { return its_.interface; }
  [[nodiscard]] const char* name() const override { return "troupe::lasting"; }

  [[nodiscard]] const terms& its() const noexcept { return its_; }

  /// Lets the search go on if it rests. Any thread.
  void wake() const;
  /// As absence_of(). Any thread.
  [[nodiscard]] node_error problem() const;

  // -- for the search for its target

  enum class flow : std::uint8_t {
    open,    // Nothing waits, and what is sent goes to the target directly.
    more,    // Some messages still wait.
    stalled, // As `more`; the link has no room now.
    down     // The target's link is down.
  };
  /// Forwards some of what waits, in order. To be called again until nothing waits.
  [[nodiscard]] flow forward_some(const found_target& target);
  /// From now on messages wait.
  void wait();
  /// Why there is no target; `none`: there is one, or none is needed.
  void note_problem(node_error why);
  /// Whether requests are under way that only the same process may get again.
  [[nodiscard]] bool awaits_the_same_process() const;
  /// The target that messages go to now; null if there is none.
  [[nodiscard]] caf::strong_actor_ptr target() const;
  /// Fails the messages that have waited since before `then`. Returns when the oldest of the others came; nullopt if
  /// none waits.
  std::optional<clock::time_point> fail_older_than(clock::time_point then, const node_error& why);
  /// From now on messages wait, if none waits and no request is kept already; otherwise returns false.
  [[nodiscard]] bool rest();
  /// Whether a message was sent since the last call.
  [[nodiscard]] bool take_use() noexcept { return is_used_.exchange(false, std::memory_order_relaxed); }
  /// Ends the actor: fails what waits and what is sent from now on, and tells the actors that monitor it.
  void end(const node_error& why);

private:
  using kept_request = repeated_requests::kept;

  [[nodiscard]] bool forward(caf::mailbox_element_ptr& what, caf::execution_unit* context,
                             const found_target** refused = nullptr);
  void keep_or_refuse(caf::mailbox_element_ptr what, caf::execution_unit* context);
  [[nodiscard]] std::uint64_t used_bytes() const noexcept {
    return waiting_.bytes() + requests_.bytes() + given_bytes_;
  }
  [[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept;
  [[nodiscard]] node_error full(std::uint64_t bytes) const;

  // Requests that may be repeated travel in this actor's own name.
  [[nodiscard]] bool is_own_request(const caf::mailbox_element& what) const noexcept {
    return what.mid.is_request() && what.sender == ctrl();
  }
  [[nodiscard]] caf::mailbox_element_ptr in_own_name(caf::mailbox_element_ptr what, caf::execution_unit* context);
  [[nodiscard]] bool give(const found_target& target, caf::mailbox_element_ptr& what, caf::execution_unit* context);
  [[nodiscard]] bool give_own(const found_target& target, const caf::mailbox_element& what,
                              caf::execution_unit* context);
  [[nodiscard]] std::optional<message_notes> begin_sending(const found_target& target, std::uint64_t number,
                                                           caf::message& content, std::optional<node_error>& why_not);
  void undo_sending(std::uint64_t number);
  void on_answer(caf::mailbox_element_ptr what, caf::execution_unit* context);
  void repeat(const caf::mailbox_element& what, std::uint64_t number, caf::execution_unit* context);
  [[nodiscard]] bool is_lost(std::uint64_t number, const caf::mailbox_element& answer) const;
  [[nodiscard]] std::optional<kept_request> finish(std::uint64_t number);
  static void answer(const kept_request& request, const caf::strong_actor_ptr& from, caf::message content,
                     caf::execution_unit* context);
  static void fail(const kept_request& request, const node_error& why, caf::execution_unit* context);
  [[nodiscard]] caf::strong_actor_ptr release_if_idle();

  [[nodiscard]] std::uint64_t bytes_of(const caf::mailbox_element& what) const;
  void fail(caf::mailbox_element& what, const node_error& why, caf::execution_unit* context);
  void fail_all(std::deque<waiting_messages::entry> all, const node_error& why);

  const std::weak_ptr<lasting_owner> owner_;
  const terms its_;
  std::atomic<bool> is_used_{false};
  target_slot slot_; // Set under mutex_, so that no message overtakes those that wait.

  mutable std::mutex mutex_; // No actor is dropped and nothing is forwarded while it is held.
  // Guarded by mutex_.
  waiting_messages waiting_;
  repeated_requests requests_;
  std::uint64_t given_bytes_ = 0; // Of the message that is being forwarded from waiting_.
  caf::strong_actor_ptr target_;  // As in slot_.
  caf::strong_actor_ptr self_;    // Set while messages wait or requests are kept, even if the handle is dropped.
  node_error problem_ = {node_errc::none, {}};
  std::optional<node_error> over_; // Why the actor has ended.
};

/// Makes the actor of a lasting handle.
[[nodiscard]] caf::strong_actor_ptr make_lasting_actor(caf::actor_system& system, std::weak_ptr<lasting_owner> owner,
                                                       lasting_actor::terms its);

/// The lasting actor behind a handle. Requires: make_lasting_actor() has made it.
[[nodiscard]] inline lasting_actor& as_lasting(const caf::strong_actor_ptr& actor) {
  return static_cast<lasting_actor&>(*actor->get());
}

} // namespace troupe::internal
