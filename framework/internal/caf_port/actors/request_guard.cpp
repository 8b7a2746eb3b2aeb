#include <troupe/framework/internal/caf_port/actors/request_guard.hpp>

#include <atomic>
#include <utility>

#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

class request_guard final : public caf::actor_proxy {
public:
  request_guard(caf::actor_config& config, caf::strong_actor_ptr sender, caf::message_id request)
      : caf::actor_proxy(config), sender_(std::move(sender)), request_(request) {}
  ~request_guard() override {
    if (!is_answered_)
      sender_->enqueue(nullptr, request_.response_id(),
                       caf::make_message(to_caf_error(
                           {node_errc::broken_promise, "the actor dropped the request without an answer"})),
                       nullptr);
  }

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) override {
    if (what->mid.is_response())
      is_answered_ = true;
    sender_->enqueue(std::move(what), context);
  }
  void kill_proxy(caf::execution_unit*, caf::error) override {}
  [[nodiscard]] const char* name() const override { return "troupe::request_guard"; }

private:
  const caf::strong_actor_ptr sender_;
  const caf::message_id request_;
  std::atomic<bool> is_answered_{false};
};

} // namespace

caf::strong_actor_ptr make_request_guard(caf::actor_system& system, caf::strong_actor_ptr sender,
                                         caf::message_id request) {
  caf::actor_config config;
  return caf::make_actor<request_guard, caf::strong_actor_ptr>(system.next_actor_id(), system.node(), &system, config,
                                                               std::move(sender), request);
}

} // namespace troupe::internal
