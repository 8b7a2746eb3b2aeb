#include <troupe/framework/internal/caf_port/actors/answered_actor.hpp>

#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

void answered_actor::enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) {
  if (what->mid.is_response()) {
    const auto answered = taken(what->mid.request_id().integer_value());
    if (!answered)
      return;
    if (what->content().match_elements<caf::error>())
      return answered(std::unexpected{to_node_error(what->content().get_as<caf::error>(0))});
    return answered(what->move_content_to_message());
  }
  if (const auto& content = what->content();
      content.match_elements<caf::exit_msg>() || content.match_elements<caf::down_msg>())
    return;
  relayed_message message{std::move(what)};
  if (has_ended_.load(std::memory_order_acquire))
    return std::move(message).fail({node_errc::link_down, "the receiver has ended"});
  take_(std::move(message));
}

void answered_actor::kill_proxy(caf::execution_unit* context, caf::error reason) {
  cleanup(std::move(reason), context);
}

std::uint64_t answered_actor::begin_request(outside_actor::on_answer answered) {
  const std::lock_guard guard{mutex_};
  waiting_.emplace(++last_, std::move(answered));
  return last_;
}

bool answered_actor::forget(std::uint64_t request) {
  return taken(request) != nullptr;
}

void answered_actor::refuse_all() {
  has_ended_.store(true, std::memory_order_release);
  std::unordered_map<std::uint64_t, outside_actor::on_answer> dropped; // Destroyed without the lock.
  const std::lock_guard guard{mutex_};
  dropped.swap(waiting_);
}

outside_actor::on_answer answered_actor::taken(std::uint64_t request) {
  const std::lock_guard guard{mutex_};
  auto node = waiting_.extract(request);
  return node ? std::move(node.mapped()) : nullptr;
}

} // namespace troupe::internal
