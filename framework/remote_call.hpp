// Running registered functions in the peer: link::submit.
#pragma once

#include <chrono>
#include <expected>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/message.hpp>
#include <caf/scoped_actor.hpp>

#include <troupe/base/longest_wait.hpp>
#include <troupe/framework/link.hpp>
#include <troupe/framework/message_types.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/function.hpp>

namespace troupe {

namespace internal {

/// Precedes a task's arguments in a request.
struct task_call {
  std::string name;
};
TROUPE_DESCRIBE(task_call, name)

} // namespace internal

/// A call of a function that is to run in the peer. It is not sent yet.
///
/// A request fails with an error of requests over links (link.hpp), or with
/// - `not_allowed`: the peer's end of the link has no `allow_tasks`.
/// - `not_found`: the function is not registered, here or in the peer.
/// - `interface_mismatch`: the function has other parameters in the peer.
/// - `task_failed`: the text has what the function threw or returned as its error.
/// - `unserializable`: a functor is not described, or the type of the result is not registered in the peer.
///
/// Threads: one at a time. Lifetime: may outlive the link; the call then fails with `link_down`. The actor system must
/// outlive it.
template <class Result>
class remote_call {
public:
  remote_call(caf::actor runner, caf::message call) : runner_(std::move(runner)), call_(std::move(call)) {}

  /// Sends the call as an ordinary request of the actor `self`. `.then`, `.await` or `.receive` gets the Result
  /// (nothing for void), or a caf::error that to_node_error() converts. If the program discards the returned object,
  /// the answer is discarded as well.
  template <class Self>
  auto request(Self* self, std::chrono::milliseconds timeout) && {
    return self->request(runner_, bounded_wait(timeout), std::move(call_));
  }

  /// Sends the call and blocks until the answer or the timeout. Do not call it in actors' handlers. Fails with
  /// `timed_out` or one of the errors above.
  [[nodiscard]] std::expected<Result, node_error> get(std::chrono::milliseconds timeout) && {
    caf::scoped_actor self(caf::actor_cast<caf::abstract_actor*>(runner_)->home_system());
    std::expected<Result, node_error> answer = std::unexpected(node_error(node_errc::timed_out, "no answer"));
    const auto failed = [&](const caf::error& error) { answer = std::unexpected(to_node_error(error)); };
    auto asked = self->request(runner_, bounded_wait(timeout), std::move(call_));
    if constexpr (std::is_void_v<Result>)
      asked.receive([&] { answer = {}; }, failed);
    else
      asked.receive([&](Result& result) { answer = std::move(result); }, failed);
    return answer;
  }

private:
  caf::actor runner_;
  caf::message call_;
};

namespace internal {

/// `given` holds the function's arguments, after the functor if there is one.
template <class Shape, class... Given>
auto make_task(caf::actor runner, task_call call, Given&&... given) {
  constexpr auto leading = sizeof...(Given) - std::tuple_size_v<typename Shape::parameters>;
  const auto make = [&]<class... Sent>(std::type_identity<std::tuple<Sent...>>) {
    // Arguments are converted as in a call of the function.
    return caf::make_message(std::move(call), [](Sent value) { return value; }(std::forward<Given>(given))...);
  };
  using parameters = typename Shape::parameters;
  using sent = decltype([] {
    if constexpr (leading == 0)
      return std::type_identity<parameters>();
    else
      return std::type_identity<decltype(std::tuple_cat(
          std::declval<std::tuple<std::remove_cvref_t<std::tuple_element_t<0, std::tuple<Given...>>>>>(),
          std::declval<parameters>()))>();
  }());
  return remote_call<typename Shape::result>(std::move(runner), make(sent()));
}

} // namespace internal

template <auto Function, class... Arguments>
auto link::submit(registered_function<Function>, Arguments&&... arguments) const {
  using shape = detail::call_shape<std::remove_const_t<decltype(Function)>>;
  static_assert(sizeof...(Arguments) == std::tuple_size_v<typename shape::parameters>,
                "not as many arguments as the function has parameters");
  internal::task_call call;
  auto runner = runner_of(typeid(registered_function<Function>), call.name);
  return internal::make_task<shape>(std::move(runner), std::move(call), std::forward<Arguments>(arguments)...);
}

template <class Functor, class... Arguments>
requires(std::is_class_v<Functor>) auto link::submit(Functor functor, Arguments&&... arguments) const {
  static_assert(detail::task_functor<Functor>, "not a class with one call operator, which is const");
  using shape = detail::call_shape<decltype(&Functor::operator())>;
  static_assert(sizeof...(Arguments) == std::tuple_size_v<typename shape::parameters>,
                "not as many arguments as the functor has parameters");
  internal::task_call call;
  if constexpr (described<Functor> || detail::hooked<Functor>) {
    auto runner = runner_of(typeid(Functor), call.name);
    return internal::make_task<shape>(std::move(runner), std::move(call), std::move(functor),
                                      std::forward<Arguments>(arguments)...);
  } else {
    return remote_call<typename shape::result>(refusal_of_undescribed(typeid(Functor)),
                                               caf::make_message(std::move(call)));
  }
}

} // namespace troupe
