#include <troupe/framework/internal/caf_port/actors/answer_collector.hpp>

#include <utility>

#include <caf/actor_config.hpp>
#include <caf/actor_proxy.hpp>
#include <caf/error.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>

#include <troupe/framework/internal/caf_port/question_id.hpp>

namespace troupe::internal {

class answer_collector::collector final : public caf::actor_proxy {
public:
  collector(caf::actor_config& config, std::shared_ptr<box> to) : caf::actor_proxy(config), box_(std::move(to)) {}

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    if (!what->mid.is_response())
      return;
    const auto number = question_number(what->mid);
    auto content = what->move_content_to_message();
    const std::lock_guard guard{box_->mutex};
    box_->answers.push_back({number, std::move(content), std::chrono::steady_clock::now()});
    box_->changed.notify_one();
  }
  void kill_proxy(caf::execution_unit*, caf::error) override {}
  [[nodiscard]] const char* name() const override { return "troupe::answer_collector"; }

private:
  static std::uint64_t question_number(caf::message_id of) { return of.request_id().integer_value(); }

  const std::shared_ptr<box> box_;
};

answer_collector::answer_collector(caf::actor_system& system)
    : actor_([&] {
        caf::actor_config config;
        return caf::make_actor<collector, caf::strong_actor_ptr>(system.next_actor_id(), system.node(), &system, config,
                                                                 box_);
      }()) {}

void answer_collector::ask(const caf::strong_actor_ptr& whom, std::uint64_t number, bool urgent, caf::message what) {
  whom->enqueue(caf::make_mailbox_element(actor_, question_id(number, urgent), {}, std::move(what)), nullptr);
}

void answer_collector::tell(const caf::strong_actor_ptr& whom, bool urgent, caf::message what) {
  whom->enqueue(caf::make_mailbox_element(actor_, question_id(0, urgent), {}, std::move(what)), nullptr);
}

std::vector<collected_answer> answer_collector::take(std::chrono::steady_clock::time_point until) {
  std::unique_lock held{box_->mutex};
  box_->changed.wait_until(held, until, [this] { return !box_->answers.empty(); });
  return std::exchange(box_->answers, {});
}

} // namespace troupe::internal
