// Distributed traces: which context a handler has, and how messages that the handler sends get it. What is
// recorded of each hop: span.hpp. The guide: framework/guides/tracing.md.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <caf/detail/implicit_conversions.hpp>
#include <caf/detail/type_list.hpp>
#include <caf/detail/type_traits.hpp>
#include <caf/execution_unit.hpp>
#include <caf/local_actor.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message_priority.hpp>
#include <caf/response_type.hpp>
#include <caf/typed_actor.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/trace_context.hpp>

namespace troupe {

/// The trace context in force for the actor on the calling thread: that of with_context(), or else that of the message
/// that the actor's current handler serves. Nullopt if there is none. Threads: the actor's own.
[[nodiscard]] TROUPE_EXPORT std::optional<trace_context> current_context(const caf::local_actor* self);
/// The context of with_context(), or of the task that runs on this thread.
[[nodiscard]] TROUPE_EXPORT std::optional<trace_context> current_context();

namespace internal {

/// While it lives, the context is in force on the thread that made it.
class TROUPE_EXPORT scoped_context {
public:
  /// `context` must outlive this object. Null: none is in force.
  explicit scoped_context(const trace_context* context) noexcept;
  ~scoped_context();
  scoped_context(const scoped_context&) = delete;
  scoped_context& operator=(const scoped_context&) = delete;

private:
  const trace_context* const before_;
  const bool was_set_;
};

TROUPE_EXPORT void enqueue_in_context(const caf::local_actor& self, caf::abstract_actor& receiver,
                                      caf::mailbox_element_ptr message, caf::execution_unit* context);

/// A function with the same parameters as `Function`, which CAF reads from its call operator.
template <class Function, class Signature = typename caf::detail::get_callable_trait<Function>::fun_sig>
class function_in_context;

template <class Function, class Result, class... Parameters>
class function_in_context<Function, Result(Parameters...)> {
public:
  function_in_context(std::optional<trace_context> context, Function function)
      : context_(std::move(context)), function_(std::move(function)) {}

  Result operator()(Parameters... parameters) {
    const scoped_context scope{context_ ? &*context_ : nullptr};
    return function_(std::forward<Parameters>(parameters)...);
  }

private:
  std::optional<trace_context> context_;
  Function function_;
};

} // namespace internal

/// Returns a function that calls `function` with this context in force; nullopt: with none. Any thread may call it.
/// Messages that it sends to remote actors belong to the trace.
///
///     with_context(trace_context::begin(), [&] { self->send(remote, order{7}); })();
template <class Function>
[[nodiscard]] auto with_context(std::optional<trace_context> context, Function function) {
  return internal::function_in_context<Function>{std::move(context), std::move(function)};
}

/// Returns `function` as a function that runs with current_context(self), for handlers that run later.
///
///     self->request(local, 1s, item).then(troupe::with_context(self, [=](int left) { self->send(remote, left); }));
template <class Function>
[[nodiscard]] auto with_context(const caf::local_actor* self, Function function) {
  return internal::function_in_context<Function>{current_context(self), std::move(function)};
}

/// Sends like `self->send(receiver, values...)`, and attaches the current context, also if the receiver is in this
/// process. Threads: the actor's own. For a caf::scoped_actor, `self` is its `ptr()`.
template <caf::message_priority Priority = caf::message_priority::normal, class Self, class Handle, class... Values>
void send(Self* self, const Handle& receiver, Values&&... values) {
  using types =
      caf::detail::type_list<typename caf::detail::implicit_conversions<typename std::decay<Values>::type>::type...>;
  static_assert(sizeof...(Values) > 0, "no message to send");
  static_assert(caf::response_type_unbox<caf::signatures_of_t<Handle>, types>::valid,
                "the receiver does not accept such a message");
  if (receiver)
    internal::enqueue_in_context(
        *self, *receiver.operator->(),
        caf::make_mailbox_element(self->ctrl(), caf::make_message_id(Priority), {}, std::forward<Values>(values)...),
        self->context());
}

} // namespace troupe
