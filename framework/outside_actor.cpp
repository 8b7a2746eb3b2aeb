#include <troupe/framework/outside_actor.hpp>

#include <atomic>
#include <utility>

#include <troupe/base/longest_wait.hpp>
#include <troupe/framework/internal/caf_port/actors/answered_actor.hpp>
#include <troupe/framework/internal/caf_port/actors/request_guard.hpp>
#include <troupe/framework/internal/caf_port/annotated_message.hpp>
#include <troupe/framework/internal/caf_port/ordinary_actors.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe {

struct outside_actor::parts {
  parts(caf::actor_system& of, std::function<void(relayed_message)> take)
      : system(of), self(made(of, std::move(take))) {}

  static caf::strong_actor_ptr made(caf::actor_system& system, std::function<void(relayed_message)> take) {
    caf::actor_config config;
    return caf::make_actor<internal::answered_actor, caf::strong_actor_ptr>(system.next_actor_id(), system.node(),
                                                                            &system, config, std::move(take));
  }

  [[nodiscard]] internal::answered_actor& actor() const { return static_cast<internal::answered_actor&>(*self->get()); }

  caf::actor_system& system;
  const caf::strong_actor_ptr self;
  const caf::actor handle = caf::actor_cast<caf::actor>(self);
  std::atomic<bool> has_ended{false};
};

namespace {

/// CAF does not report that an actor has dropped a promise. Other nodes and Troupe's own actors report it themselves.
bool needs_guard(caf::actor_system& system, caf::abstract_actor& receiver) {
  static const internal::ordinary_actors ordinary{system}; // Knows addresses of functions, nothing of the system.
  return ordinary.find(receiver) != nullptr;
}

/// A request whose deadline has passed is dropped where it is, which looks as if the actor had dropped it.
outside_actor::on_answer in_time(std::chrono::steady_clock::time_point limit, std::chrono::milliseconds timeout,
                                 outside_actor::on_answer answered) {
  return [limit, timeout, answered = std::move(answered)](std::expected<caf::message, node_error> answer) {
    if (!answer && answer.error().code() == node_errc::broken_promise && std::chrono::steady_clock::now() >= limit)
      answer = std::unexpected{
          node_error{node_errc::timed_out, "no answer within " + std::to_string(timeout.count()) + " ms"}};
    answered(std::move(answer));
  };
}

} // namespace

outside_actor::outside_actor(caf::actor_system& system, std::function<void(relayed_message)> take)
    : parts_(std::make_unique<parts>(system, std::move(take))) {}

outside_actor::outside_actor(outside_actor&&) noexcept = default;

outside_actor& outside_actor::operator=(outside_actor&& other) noexcept {
  if (this != &other) {
    if (parts_)
      end({node_errc::none, ""});
    parts_ = std::move(other.parts_);
  }
  return *this;
}

outside_actor::~outside_actor() {
  if (parts_)
    end({node_errc::none, ""});
}

const caf::actor& outside_actor::handle() const noexcept {
  return parts_->handle;
}

std::uint64_t outside_actor::ask(const caf::actor& receiver, caf::message what, std::chrono::milliseconds timeout,
                                 on_answer answered) {
  const auto limit = std::chrono::steady_clock::now() + bounded_wait(timeout);
  const auto number = parts_->actor().begin_request(in_time(limit, timeout, std::move(answered)));
  const auto id = caf::make_message_id(number);
  auto* const to = caf::actor_cast<caf::abstract_actor*>(receiver);
  auto sender = parts_->self;
  if (needs_guard(parts_->system, *to))
    sender = internal::make_request_guard(parts_->system, std::move(sender), id);
  auto request = caf::make_mailbox_element(std::move(sender), id, {}, std::move(what));
  internal::message_notes notes{.deadline = limit};
  to->enqueue(internal::annotate(std::move(request), std::move(notes), to), nullptr);
  return number;
}

bool outside_actor::give_up(std::uint64_t request) {
  return parts_->actor().forget(request);
}

void outside_actor::tell(const caf::actor& receiver, caf::message what) {
  caf::actor_cast<caf::abstract_actor*>(receiver)->enqueue(
      caf::make_mailbox_element(parts_->self, caf::make_message_id(), {}, std::move(what)), nullptr);
}

void outside_actor::end(const node_error& why) {
  if (parts_->has_ended.exchange(true, std::memory_order_acq_rel))
    return;
  parts_->actor().refuse_all();
  parts_->actor().kill_proxy(nullptr, why.code() == node_errc::none ? caf::error{} : to_caf_error(why));
}

} // namespace troupe
