// Who asks a request that came over a link, for that one request.
#pragma once

#include <atomic>
#include <cstdint>

#include <caf/actor_proxy.hpp>
#include <caf/actor_system.hpp>
#include <caf/message_id.hpp>

#include <troupe/framework/internal/caf_port/proxy.hpp>

namespace troupe::internal {

/// Has the id of the actor that asks, and passes everything on to its proxy. CAF does not say when a response promise
/// is dropped; but a promise refers to whoever asks, so when nothing refers to the asker of an unanswered request any
/// more, nobody can answer it, and the reason is sent instead.
class asker final : public caf::actor_proxy {
public:
  /// `question`: as in the request.
  asker(caf::actor_config& config, caf::strong_actor_ptr actor, caf::message_id question);
  ~asker() override;

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) override;
  void attach(caf::attachable_ptr what) override;
  std::size_t detach(const caf::attachable::token& what) override;
  bool add_backlink(caf::abstract_actor* other) override;
  bool remove_backlink(caf::abstract_actor* other) override;
  void kill_proxy(caf::execution_unit*, caf::error) override {}
  [[nodiscard]] const char* name() const override { return "troupe::asker"; }

  /// The proxy.
  [[nodiscard]] const caf::strong_actor_ptr& actor() const noexcept { return actor_; }

  /// Somebody else sees to the answer.
  void excuse() noexcept { is_excused_.store(true, std::memory_order_relaxed); }

private:
  const caf::strong_actor_ptr actor_;
  const caf::message_id question_;
  std::atomic<bool> is_excused_{false};
};

/// For a request of another node's `actor` that is put into a mailbox. Requires: a proxy.
[[nodiscard]] caf::strong_actor_ptr make_asker(caf::actor_system& system, caf::strong_actor_ptr actor,
                                               caf::message_id question);

/// The asker behind a handle; null when it is something else.
[[nodiscard]] asker* as_asker(const caf::strong_actor_ptr& actor);

/// The actor itself, where the handle is that of an asker.
[[nodiscard]] inline const caf::strong_actor_ptr& itself(const caf::strong_actor_ptr& actor) {
  const auto* asking = as_asker(actor);
  return asking != nullptr ? asking->actor() : actor;
}

} // namespace troupe::internal
