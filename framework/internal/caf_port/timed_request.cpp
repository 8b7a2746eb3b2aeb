#include <troupe/framework/internal/caf_port/timed_request.hpp>

#include <limits>
#include <typeinfo>
#include <utility>

#include <caf/atom.hpp>
#include <caf/message.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/system_messages.hpp>

#include <troupe/framework/internal/caf_port/passing_on.hpp>

namespace troupe::internal {

namespace {

/// CAF's scheduled actors drop such a timeout without calling a handler.
caf::type_erased_tuple& dropped_content() {
  constexpr std::uint64_t no_timeout = std::numeric_limits<std::uint64_t>::max();
  thread_local const auto never = caf::make_mailbox_element(nullptr, caf::make_message_id(), {},
                                                            caf::timeout_msg{caf::receive_atom::value, no_timeout});
  return never->content();
}

/// A scheduled actor asks a mailbox element for its content when it begins to handle it. If the request is over by
/// then, it has the content of a timeout. This is decided once, so that a handler that has begun keeps its arguments.
///
/// Threads: one at a time.
class timed_request final : public caf::mailbox_element {
public:
  timed_request(caf::mailbox_element_ptr request, deadline_point deadline, bool may_be_dropped, expired_counter counter)
      : caf::mailbox_element(std::move(request->sender), request->mid, std::move(request->stages)),
        request_(std::move(request)),
        deadline_(deadline),
        state_(may_be_dropped ? state::undecided : state::current),
        counter_(std::move(counter)) {}

  [[nodiscard]] deadline_point deadline() const noexcept { return deadline_; }

  caf::type_erased_tuple& content() override { return is_over() ? dropped_content() : request_->content(); }
  const caf::type_erased_tuple& content() const override {
    return is_over() ? dropped_content() : std::as_const(*request_).content();
  }
  caf::message move_content_to_message() override { return request_->move_content_to_message(); }
  caf::message copy_content_to_message() const override { return request_->copy_content_to_message(); }

private:
  enum class state : std::uint8_t { undecided, current, over };

  [[nodiscard]] bool is_over() const {
    takes_over(this);
    if (state_ == state::undecided) {
      state_ = std::chrono::steady_clock::now() < deadline_ ? state::current : state::over;
      if (state_ == state::over && counter_)
        counter_->fetch_add(1, std::memory_order_relaxed);
    }
    return state_ == state::over;
  }

  const caf::mailbox_element_ptr request_;
  const deadline_point deadline_;
  mutable state state_;
  const expired_counter counter_;
};

} // namespace

caf::mailbox_element_ptr make_timed_request(caf::mailbox_element_ptr request, deadline_point deadline,
                                            const caf::abstract_actor& receiver, expired_counter counter) {
  const auto is_scheduled = dynamic_cast<const caf::scheduled_actor*>(&receiver) != nullptr;
  auto* made = new timed_request{std::move(request), deadline, is_scheduled, std::move(counter)};
  passes_on(made);
  return caf::mailbox_element_ptr{made};
}

std::optional<deadline_point> deadline_of(const caf::mailbox_element& message) noexcept {
  if (typeid(message) != typeid(timed_request))
    return std::nullopt;
  return static_cast<const timed_request&>(message).deadline();
}

} // namespace troupe::internal
