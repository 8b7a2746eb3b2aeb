// The sender of one request that came over a link.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include <caf/actor_proxy.hpp>
#include <caf/actor_system.hpp>
#include <caf/message_id.hpp>

#include <troupe/framework/internal/caf_port/answer_memory.hpp>
#include <troupe/framework/internal/caf_port/proxy.hpp>
#include <troupe/framework/internal/wire/message_deadline.hpp>
#include <troupe/framework/trace_context.hpp>

namespace troupe::internal {

/// What came with a request, for the requests in the same name that its handler delegates.
struct request_context {
  std::optional<deadline_point> deadline = std::nullopt;
  std::optional<trace_context> trace = std::nullopt;
  std::shared_ptr<answer_slot> answers_to = nullptr; // Takes the answer as well; may be null.
};

/// When a request was put into a mailbox, and for how many requests it stands. 0: its handling is not measured.
struct handling_start {
  std::chrono::steady_clock::time_point at = {};
  std::uint64_t stands_for = 0;
};

/// Stands for the remote actor that sent a request. It has that actor's id, and forwards everything to the actor's
/// proxy. CAF does not report when a response promise is dropped. But a promise refers to the sender. So if the asker
/// of an unanswered request is destroyed, no actor can answer the request any more, and the asker sends an error
/// instead.
class asker final : public caf::actor_proxy {
public:
  /// `actor` must be a proxy. `question` is the request's id.
  asker(caf::actor_config& config, caf::strong_actor_ptr actor, caf::message_id question,
        std::unique_ptr<const request_context> context, const handling_start& began);
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

  /// Null if the request came without a context.
  [[nodiscard]] const request_context* context() const noexcept { return context_.get(); }

  /// Disables the error, because another actor is responsible for the answer.
  void excuse() noexcept;

private:
  [[nodiscard]] proxy_link& link() const noexcept;
  void note_handled() const noexcept;

  const caf::strong_actor_ptr actor_;
  const caf::message_id question_;
  const std::unique_ptr<const request_context> context_;
  const handling_start began_;
  std::atomic<bool> is_excused_{false};
};

/// For a request of another node's `actor` that is put into a mailbox. Requires: `actor` is a proxy.
[[nodiscard]] caf::strong_actor_ptr make_asker(caf::actor_system& system, caf::strong_actor_ptr actor,
                                               caf::message_id question,
                                               std::unique_ptr<const request_context> context = nullptr,
                                               const handling_start& began = {});

/// The asker behind a handle; null if the handle is another actor's.
[[nodiscard]] asker* as_asker(const caf::strong_actor_ptr& actor);

/// The deadline of the request in whose name a message from `sender` is sent; nullopt if there is none.
[[nodiscard]] inline std::optional<deadline_point> deadline_in_name_of(const caf::strong_actor_ptr& sender) {
  const auto* const asking = as_asker(sender);
  return asking != nullptr && asking->context() != nullptr ? asking->context()->deadline : std::nullopt;
}

/// The proxy if the handle is an asker's; otherwise the handle itself.
[[nodiscard]] inline const caf::strong_actor_ptr& itself(const caf::strong_actor_ptr& actor) {
  const auto* asking = as_asker(actor);
  return asking != nullptr ? asking->actor() : actor;
}

} // namespace troupe::internal
