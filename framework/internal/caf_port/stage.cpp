#include <troupe/framework/internal/caf_port/stage.hpp>

#include <utility>

#include <caf/actor_proxy.hpp>
#include <caf/actor_registry.hpp>
#include <caf/error.hpp>
#include <caf/make_actor.hpp>
#include <caf/message.hpp>

#include <troupe/framework/internal/caf_port/question_id.hpp>

namespace troupe::internal {

namespace {

/// Asks one question. The link that carries the question keeps this actor until it is answered or fails.
class stage final : public caf::actor_proxy {
public:
  stage(caf::actor_config& config, caf::strong_actor_ptr source, caf::message_id id,
        caf::mailbox_element::forwarding_stack rest)
      : caf::actor_proxy(config), source_(std::move(source)), id_(id), rest_(std::move(rest)) {}

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) override {
    if (!what->mid.is_response() || rest_.empty())
      return;
    auto result = what->move_content_to_message();
    auto next = std::move(rest_.back());
    rest_.pop_back();
    if (!result.match_elements<caf::error>())
      next->enqueue(caf::make_mailbox_element(std::move(source_), id_, std::exchange(rest_, {}), std::move(result)),
                    context);
    else if (source_ && id_.is_request())
      source_->enqueue(nullptr, id_.response_id(), std::move(result), context);
    rest_.clear();
  }
  void kill_proxy(caf::execution_unit*, caf::error) override {}
  [[nodiscard]] const char* name() const override { return "troupe::stage"; }

private:
  caf::strong_actor_ptr source_;
  const caf::message_id id_;
  caf::mailbox_element::forwarding_stack rest_;
};

} // namespace

caf::mailbox_element_ptr without_stages(caf::actor_system& system, caf::mailbox_element_ptr what) {
  caf::actor_config config;
  auto urgent = what->mid.is_urgent_message();
  auto asks =
      caf::make_actor<stage, caf::strong_actor_ptr>(system.next_actor_id(), system.node(), &system, config,
                                                    std::move(what->sender), what->mid, std::move(what->stages));
  return caf::make_mailbox_element(std::move(asks), question_id(1, urgent), {}, what->move_content_to_message());
}

} // namespace troupe::internal
