// The local stand-in for an actor at the other end of a link.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <caf/actor_proxy.hpp>
#include <caf/actor_system.hpp>

#include <troupe/framework/internal/flow/consumption.hpp>

namespace troupe::internal {

struct forwarded_message;
struct introduce;

/// A link, as its proxies use it. Any thread may call all members. `watch` and `unwatch` may be called even under the
/// locks of two actors, so they only take notes and write.
class proxy_link {
public:
  virtual ~proxy_link() = default;
  virtual void send(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit* context) = 0;
  /// As send(). If the link is down, gives the message back instead of failing it, and returns false.
  [[nodiscard]] virtual bool send_unless_down(std::uint64_t receiver, caf::mailbox_element_ptr& what,
                                              caf::execution_unit* context) = 0;
  /// An actor of this node monitors the peer's actor. `proxy` is kept until that actor ends.
  virtual void watch(std::uint64_t number, caf::strong_actor_ptr proxy) = 0;
  /// No actor of this node monitors it any more.
  virtual void unwatch(std::uint64_t number) = 0;
  /// The proxy is being destroyed. No reference to the actor is left on this node.
  virtual void proxy_gone(std::uint64_t number, const caf::actor_control_block* control) = 0;
  /// Forwards a message that came over another link to the actor, still encoded, or answers with an error. Holds `owed`
  /// until the message has left. Returns false, without any effect, if the message cannot be forwarded encoded.
  [[nodiscard]] virtual bool forward(std::uint64_t receiver, const forwarded_message& what,
                                     const caf::strong_actor_ptr& sender, caf::message_id id, receipt& owed) = 0;
  /// Forwards a message that came over another link and had to be decoded. It waits for room without a limit, and holds
  /// `owed` until it has left. `extensions` is the map that came with it.
  virtual void forward_decoded(std::uint64_t receiver, caf::mailbox_element_ptr what, receipt owed,
                               std::span<const std::byte> extensions) = 0;
  /// The introduction of the peer's own actor `number` to another node, except for the number there.
  [[nodiscard]] virtual introduce introduction_of(std::uint64_t number) const = 0;
  /// Returns true if the link has room for messages to the actor. notify_when_ready() waits for room.
  [[nodiscard]] virtual bool is_ready(std::uint64_t receiver) = 0;
  virtual void notify_when_ready(std::uint64_t receiver, const caf::strong_actor_ptr& proxy,
                                 const caf::strong_actor_ptr& who) = 0;

  /// The peer's name and the link's number, for people.
  [[nodiscard]] virtual std::string peer_text() const { return {}; }

  /// Returns true if nothing that is sent from now on leaves.
  [[nodiscard]] virtual bool is_down() const noexcept = 0;

  /// An actor of this node has answered a request of the peer's, or has dropped it. `took`: since the request was put
  /// into its mailbox. The measured request stands for that many.
  virtual void note_handled(std::chrono::nanoseconds took, std::uint64_t stands_for) noexcept = 0;

  /// The requests of the peer's actors that actors of this node have not answered.
  [[nodiscard]] std::uint64_t unanswered() const noexcept { return unanswered_.load(std::memory_order_acquire); }
  void begin_answer() noexcept { unanswered_.fetch_add(1, std::memory_order_relaxed); }
  void end_answer() noexcept { unanswered_.fetch_sub(1, std::memory_order_release); }

private:
  alignas(64) std::atomic<std::uint64_t> unanswered_{0}; // Apart from what senders read.
};

/// Ordinary CAF handles point at it; messages enqueued to it go over the link.
class proxy final : public caf::actor_proxy {
public:
  proxy(caf::actor_config& config, std::shared_ptr<proxy_link> link, std::uint64_t number,
        std::shared_ptr<const introduce> introduction);
  ~proxy() override;

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) override;
  void attach(caf::attachable_ptr what) override;
  std::size_t detach(const caf::attachable::token& what) override;
  bool add_backlink(caf::abstract_actor* other) override;
  bool remove_backlink(caf::abstract_actor* other) override;
  void kill_proxy(caf::execution_unit* context, caf::error reason) override;
  [[nodiscard]] const char* name() const override { return "troupe::proxy"; }

  /// As told by the actor's node.
  [[nodiscard]] std::set<std::string> message_types() const override;
  void set_message_types(std::set<std::string> types);

  [[nodiscard]] proxy_link* link() const noexcept { return link_.get(); }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// How the peer has introduced it; null if the actor is the peer's own.
  [[nodiscard]] const introduce* introduction() const noexcept { return introduction_.get(); }

private:
  std::shared_ptr<proxy_link> link_;
  std::uint64_t number_;
  const std::shared_ptr<const introduce> introduction_;
  std::set<std::string> message_types_; // Guarded by the actor's lock.
};

/// Makes the proxy for actor `number` of the peer `node`, which may have introduced it.
[[nodiscard]] caf::strong_actor_ptr make_proxy(caf::actor_system& system, caf::node_id node, std::uint64_t number,
                                               std::shared_ptr<proxy_link> link,
                                               std::shared_ptr<const introduce> introduction = nullptr);

struct ended_proxy {
  caf::strong_actor_ptr actor;
  caf::error reason;
};

/// Ends the proxies in order, and tells actors that monitor or are linked to them. Runs on one of the scheduler's
/// threads, because a receiver may block. An actor_pool, for example, holds its lock while it forwards a message to
/// another proxy that waits for room.
void end_proxies(caf::actor_system& system, std::vector<ended_proxy> proxies);

/// The proxy behind a handle; null if the handle is another actor's.
[[nodiscard]] proxy* as_proxy(const caf::strong_actor_ptr& actor);

} // namespace troupe::internal
