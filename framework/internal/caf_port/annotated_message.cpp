#include <troupe/framework/internal/caf_port/annotated_message.hpp>

#include <limits>
#include <typeinfo>
#include <utility>

#include <caf/atom.hpp>
#include <caf/local_actor.hpp>
#include <caf/message.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/system_messages.hpp>

#include <troupe/framework/internal/caf_port/context_in_force.hpp>
#include <troupe/framework/internal/caf_port/passing_on.hpp>
#include <troupe/framework/internal/traces/in_use.hpp>

namespace troupe::internal {

namespace {

/// CAF's scheduled actors drop such a timeout without calling a handler.
caf::type_erased_tuple& dropped_content() {
  constexpr std::uint64_t no_timeout = std::numeric_limits<std::uint64_t>::max();
  thread_local const auto never = caf::make_mailbox_element(nullptr, caf::make_message_id(), {},
                                                            caf::timeout_msg{caf::receive_atom::value, no_timeout});
  return never->content();
}

enum class receiver_kind : std::uint8_t { other, blocking, scheduled };

/// Remembers the last class, because dynamic casts of actors take long.
receiver_kind kind_of_receiver(caf::abstract_actor* receiver) {
  if (receiver == nullptr)
    return receiver_kind::other;
  struct known {
    const std::type_info* of = nullptr;
    receiver_kind kind = receiver_kind::other;
  };
  constinit thread_local known last;
  if (const auto& type = typeid(*receiver); last.of != &type)
    last = {&type, dynamic_cast<caf::scheduled_actor*>(receiver) != nullptr ? receiver_kind::scheduled
                   : dynamic_cast<caf::local_actor*>(receiver) != nullptr   ? receiver_kind::blocking
                                                                            : receiver_kind::other};
  return last.kind;
}

caf::local_actor* as_local(caf::abstract_actor* receiver) {
  return kind_of_receiver(receiver) != receiver_kind::other ? static_cast<caf::local_actor*>(receiver) : nullptr;
}

/// An actor asks a mailbox element for its content when it begins to handle it. If the request is over by then, it has
/// the content of a timeout. This is decided once, so that a handler that has begun keeps its arguments.
///
/// Threads: one at a time.
class annotated_message final : public caf::mailbox_element {
public:
  annotated_message(caf::mailbox_element_ptr message, message_notes notes, caf::abstract_actor* receiver)
      : caf::mailbox_element(std::move(message->sender), message->mid, std::move(message->stages)),
        message_(std::move(message)),
        notes_(std::move(notes)),
        handled_by_(notes_.trace ? as_local(receiver) : nullptr),
        is_blocking_(handled_by_ != nullptr && kind_of_receiver(receiver) == receiver_kind::blocking),
        leaves_(receiver == nullptr),
        state_(notes_.deadline && kind_of_receiver(receiver) == receiver_kind::scheduled ? state::undecided
                                                                                         : state::current) {}
  ~annotated_message() override {
    takes_over(this);
    if (!notes_.trace)
      return;
    leave_context(this);
    if (state_ == state::over)
      notes_.trace->fails("its deadline has passed");
    else if (was_handled_)
      notes_.trace->ends();
  }

  [[nodiscard]] const message_notes& notes() const noexcept { return notes_; }

  caf::type_erased_tuple& content() override {
    if (is_over())
      return dropped_content();
    enter();
    return message_->content();
  }
  const caf::type_erased_tuple& content() const override {
    if (is_over())
      return dropped_content();
    enter();
    return std::as_const(*message_).content();
  }
  caf::message move_content_to_message() override { return message_->move_content_to_message(); }
  caf::message copy_content_to_message() const override { return message_->copy_content_to_message(); }

private:
  enum class state : std::uint8_t { undecided, current, over };

  [[nodiscard]] bool is_over() const {
    takes_over(this);
    if (state_ == state::undecided) {
      state_ = std::chrono::steady_clock::now() < *notes_.deadline ? state::current : state::over;
      if (state_ == state::over && notes_.expired)
        notes_.expired->fetch_add(1, std::memory_order_relaxed);
    }
    return state_ == state::over;
  }

  void enter() const noexcept {
    if (!notes_.trace || leaves_)
      return;
    if (is_blocking_)
      enter_blocking(*handled_by_);
    else if (handled_by_ != nullptr && !is_in_context(this, *notes_.trace))
      enter_context({.message = this, .actor = handled_by_, .trace = notes_.trace});
    if (!std::exchange(was_handled_, true))
      notes_.trace->begins();
  }

  const caf::mailbox_element_ptr message_;
  const message_notes notes_;
  caf::local_actor* const handled_by_; // Null if no context enters into force.
  const bool is_blocking_;             // The receiver.
  const bool leaves_;                  // This process, so that no handler begins.
  mutable state state_;
  mutable bool was_handled_ = false;
};

} // namespace

caf::mailbox_element_ptr annotate(caf::mailbox_element_ptr message, message_notes notes,
                                  caf::abstract_actor* receiver) {
  use_contexts();
  auto* made = new annotated_message{std::move(message), std::move(notes), receiver};
  passes_on(made);
  return caf::mailbox_element_ptr{made};
}

const message_notes* notes_of(const caf::mailbox_element& message) noexcept {
  // In this order no names are compared, because this class is local to its file.
  return typeid(annotated_message) == typeid(message) ? &static_cast<const annotated_message&>(message).notes()
                                                      : nullptr;
}

} // namespace troupe::internal
