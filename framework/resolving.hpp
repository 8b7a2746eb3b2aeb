// Behaviors whose handlers take values although the senders pass references to these values.
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <caf/behavior.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/deduce_mpi.hpp>
#include <caf/message_handler.hpp>
#include <caf/replies_to.hpp>
#include <caf/timeout_definition.hpp>
#include <caf/typed_behavior.hpp>

#include <troupe/framework/arg.hpp>
#include <troupe/framework/internal/caf_port/actors/resolving_behavior.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe {

namespace internal {

template <class T>
struct without_arg {
  using type = T;
};
template <class T>
struct without_arg<arg<T>> {
  using type = T;
};
template <class... Inputs, class Output>
struct without_arg<caf::typed_mpi<caf::detail::type_list<Inputs...>, Output>> {
  using type = caf::typed_mpi<caf::detail::type_list<typename without_arg<Inputs>::type...>, Output>;
};
/// A signature or a handler as one type, with each arg<T> replaced by T.
template <class Signature>
using plain_signature = typename without_arg<Signature>::type;

template <class T, class... Others>
inline constexpr bool is_among = (std::is_same_v<T, Others> || ...);

template <class Behavior, class... Found>
struct interface_check : std::true_type {}; // For untyped actors.
template <class... Signatures, class... Found>
struct interface_check<caf::typed_behavior<Signatures...>, Found...>
    : std::bool_constant<(is_among<plain_signature<Signatures>, plain_signature<Found>...> && ...)
                         && (is_among<plain_signature<Found>, plain_signature<Signatures>...> && ...)> {};

template <class Handler>
inline constexpr bool is_timeout = caf::is_timeout_definition<Handler>::value;

template <class Handler>
inline constexpr bool is_finished =
    std::is_same_v<Handler, caf::behavior> || std::is_same_v<Handler, caf::message_handler>;

template <class Behavior, class Handlers, class Indices>
struct interface_of;
template <class Behavior, class... Handlers, std::size_t... Indices>
struct interface_of<Behavior, std::tuple<Handlers...>, std::index_sequence<Indices...>> {
  using all = std::tuple<Handlers...>;
  static constexpr bool fits =
      interface_check<Behavior, caf::deduce_mpi_t<std::tuple_element_t<Indices, all>>...>::value;
};

} // namespace internal

/// A behavior whose handlers take values and accept references. A handler with a parameter `T`, `const T&` or
/// `array<T>` is also called for messages that have an `object_ref` or an `arg` of that type in its place. Bytes on
/// another host are fetched first; meanwhile the actor handles other messages.
///
///     caf::behavior cup(caf::event_based_actor* self) {
///       return troupe::resolving{self, [](stir_atom, const spoon& with) { return with.length; },
///                                caf::after(10s) >> [] { ... }};
///     }
///
/// Pass the handlers themselves, not a caf::behavior, and all of them to one resolving, because CAF 0.17 forgets the
/// types of a finished behavior's handlers. The interface of a typed actor is checked, with arg<T> and T treated as
/// equal.
///
/// - If a message fits a handler without resolving, that handler gets it: a handler that takes the object_ref itself
///   gets the object_ref. Otherwise the first handler that fits the values is called. References inside containers,
///   structs and responses stay references.
/// - The handler sees the message as if the value had been sent: sender, request, priority, promises, delegation and
///   skip all work. Arrays are views of the bytes in place. The thread that runs the handler decodes the value.
/// - Messages of one sender keep their order within a priority. While the values of a message are missing, the sender's
///   later messages wait in the mailbox as if skipped, and the values of a few of them are fetched ahead. Messages of
///   other senders are handled. Messages without a sender count as messages of one sender.
/// - Waiting messages are part of the mailbox. Therefore `become`, `unbecome`, a link's credit and the actor's end
/// affect
///   them like all messages in a mailbox. The actor's end answers requests with an error and cancels fetches. If a
///   behavior is replaced, its fetches are cancelled, and the new behavior starts them again.
/// - If a value cannot be fetched or decoded, a request is answered with the error of object_ref::get()
///   (to_node_error() converts it). A plain message is logged and dropped. Fetches have no timeout of their own; a
///   request has its sender's.
/// - As with all skipped messages, each handled message causes the waiting ones to be checked again. Thousands of them
///   slow down the messages of other senders.
/// - A waiting message does not count for `caf::after`, as if it had not arrived.
/// - While values are fetched for an actor, it is kept alive even if nothing refers to it.
/// - Blocking actors (`self->receive(troupe::resolving{self, ...}, caf::after(1s) >> ...)`, with the timeout outside)
///   wait for the bytes themselves and handle nothing meanwhile.
/// - If a behavior is needed other than as a return value, for example in a typed actor's `become`, write
///   `troupe::resolving{self, ...}.behavior()`.
///
/// Threads and lifetime: as for any behavior of `self`. Only that actor may use it.
template <class Self, class... Handlers>
class resolving {
  static constexpr std::size_t handler_count = sizeof...(Handlers) - (internal::is_timeout<Handlers> + ... + 0);

public:
  using behavior_type = typename Self::behavior_type;

  explicit resolving(Self* self, Handlers... handlers) {
    static_assert(!(internal::is_finished<Handlers> || ...),
                  "give resolving the handlers themselves: CAF forgets the types of those of a behavior");
    static_assert(handler_count > 0, "a resolving behavior needs a handler");
    static_assert(
        internal::interface_of<behavior_type, std::tuple<Handlers...>, std::make_index_sequence<handler_count>>::fits,
        "these are not the handlers of the actor's interface, arg<T> being the same as T");
    using cases = std::tuple<typename caf::detail::lift_behavior<Handlers>::type...>;
    auto shared = std::make_shared<cases>(std::move(handlers)...);
    internal::resolving_parts parts;
    [&]<std::size_t... Indices>(std::index_sequence<Indices...>) {
      (parts.handlers.push_back(described(std::get<Indices>(*shared))), ...);
    }
    (std::make_index_sequence<handler_count>());
    if constexpr (handler_count < sizeof...(Handlers)) {
      static_assert(handler_count + 1 == sizeof...(Handlers), "one timeout, behind all handlers");
      const auto& last = std::get<handler_count>(*shared);
      parts.timeout = last.timeout;
      parts.on_timeout = last.handler;
    }
    parts.cases = std::move(shared);
    parts.blocks = std::is_base_of_v<caf::blocking_actor, Self>;
    impl_ = internal::make_resolving_behavior(self, std::move(parts));
  }

  [[nodiscard]] behavior_type behavior() const {
    if constexpr (std::is_same_v<behavior_type, caf::behavior>)
      return caf::behavior(impl_);
    else
      return behavior_type(typename behavior_type::unsafe_init(), caf::behavior(impl_));
  }
  operator behavior_type() const { return behavior(); }

  [[nodiscard]] const caf::behavior::impl_ptr& as_behavior_impl() const noexcept { return impl_; }

private:
  template <class Handler>
  static internal::resolving_handler described(caf::trivial_match_case<Handler>& one) {
    using arguments = typename caf::trivial_match_case<Handler>::arg_types;
    using decayed = typename caf::trivial_match_case<Handler>::pattern;
    return internal::describe_handler(one, arguments(), decayed());
  }

  caf::behavior::impl_ptr impl_;
};

} // namespace troupe

namespace troupe::internal {

struct whole_behavior {}; // Stands for all handlers of a resolving in a behavior's list of handlers.

} // namespace troupe::internal

// Lets CAF make a behavior from a resolving wherever it makes one from handlers: in become and receive.
namespace caf::detail {

template <class Self, class... Handlers>
struct lift_behavior<troupe::resolving<Self, Handlers...>, false> {
  using type = troupe::internal::whole_behavior;
};

template <>
class default_behavior_impl<std::tuple<troupe::internal::whole_behavior>> final : public behavior_impl {
public:
  template <class Self, class... Handlers>
  explicit default_behavior_impl(const troupe::resolving<Self, Handlers...>& from)
      : behavior_impl(from.as_behavior_impl()->timeout()), whole_(from.as_behavior_impl()) {}

  match_case::result invoke_empty(invoke_result_visitor& visitor) override { return whole_->invoke_empty(visitor); }
  match_case::result invoke(invoke_result_visitor& visitor, type_erased_tuple& elements) override {
    return whole_->invoke(visitor, elements);
  }
  void handle_timeout() override { whole_->handle_timeout(); }

private:
  const behavior_impl::pointer whole_;
};

} // namespace caf::detail
