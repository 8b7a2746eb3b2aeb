#include <troupe/framework/relay.hpp>

#include <optional>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/actors/relay_actor.hpp>
#include <troupe/framework/internal/caf_port/actors/request_guard.hpp>
#include <troupe/framework/internal/caf_port/annotated_message.hpp>
#include <troupe/framework/internal/supervision/pool_actor.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe {

struct relayed_message::origin {
  caf::strong_actor_ptr sender;
  std::vector<caf::strong_actor_ptr> stages;
  caf::message_id id;
  std::optional<internal::message_notes> notes;
};

relayed_message::relayed_message(caf::mailbox_element_ptr what) : origin_(std::make_unique<origin>()) {
  if (const auto* const notes = internal::notes_of(*what))
    origin_->notes = *notes;
  origin_->id = what->mid;
  origin_->stages = std::move(what->stages);
  origin_->sender = std::move(what->sender);
  content_ = what->move_content_to_message();
}

relayed_message::relayed_message(relayed_message&&) noexcept = default;

relayed_message& relayed_message::operator=(relayed_message&& other) noexcept {
  if (this != &other) {
    drop();
    origin_ = std::move(other.origin_);
    content_ = std::move(other.content_);
  }
  return *this;
}

relayed_message::~relayed_message() {
  drop();
}

/// Mostly there is nothing left to answer, and then no error is made.
void relayed_message::drop() {
  if (is_request())
    std::move(*this).fail({node_errc::broken_promise, "the request was dropped on its way"});
}

bool relayed_message::is_request() const noexcept {
  return origin_ && origin_->id.is_request() && origin_->sender;
}

std::optional<std::chrono::steady_clock::time_point> relayed_message::deadline() const noexcept {
  return is_request() && origin_->notes ? origin_->notes->deadline : std::nullopt;
}

void relayed_message::pass_to(const caf::actor& receiver) && {
  auto* const to = caf::actor_cast<caf::abstract_actor*>(receiver);
  // A request of a pool of this process, whose promise the receiver may drop. Requests of other nodes have askers.
  if (is_request() && internal::as_pool(caf::actor_cast<caf::actor>(origin_->sender)) != nullptr)
    origin_->sender = internal::make_request_guard(to->home_system(), std::move(origin_->sender), origin_->id);
  auto passed = caf::make_mailbox_element(std::move(origin_->sender), origin_->id, std::move(origin_->stages),
                                          std::move(content_));
  if (origin_->notes && !origin_->notes->is_empty())
    passed = internal::annotate(std::move(passed), *std::move(origin_->notes), to);
  origin_.reset();
  to->enqueue(std::move(passed), internal::context_of_relay());
}

void relayed_message::fail(const node_error& why) && {
  if (is_request())
    return std::move(*this).answer(caf::make_message(to_caf_error(why)));
  origin_.reset();
  content_ = {};
}

void relayed_message::answer(caf::message with) && {
  if (is_request())
    origin_->sender->enqueue(nullptr, origin_->id.response_id(), std::move(with), internal::context_of_relay());
  origin_.reset();
  content_ = {};
}

caf::actor make_relay(caf::actor_system& system, std::function<void(relayed_message)> take) {
  caf::actor_config config;
  return caf::actor_cast<caf::actor>(caf::make_actor<internal::relay_actor, caf::strong_actor_ptr>(
      system.next_actor_id(), system.node(), &system, config, std::move(take)));
}

} // namespace troupe
