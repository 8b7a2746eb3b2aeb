// A function that peers may ask this process to run, by name. function.hpp registers it.
#pragma once

#include <concepts>
#include <exception>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include <troupe/base/text.hpp>

namespace troupe {

/// A function as a value that can be passed as an argument and travels by name: `fn_ref<&count_words>`.
template <auto Function>
struct registered_function {};
template <auto Function>
inline constexpr registered_function<Function> fn_ref{};

namespace detail {

template <class T>
struct task_result {
  using type = T;
};
template <class T, class E>
struct task_result<std::expected<T, E>> {
  using type = T;
};

template <class Call>
struct call_shape;
template <class Result, class... Parameters>
struct call_shape<Result (*)(Parameters...)> {
  static_assert(
      ((!std::is_pointer_v<
            Parameters> && (!std::is_reference_v<Parameters> || std::is_const_v<std::remove_reference_t<Parameters>>))
       && ...),
      "a task's parameters are values or references to const: they come from another process");
  using result = typename task_result<std::remove_cvref_t<Result>>::type;
  using parameters = std::tuple<std::remove_cvref_t<Parameters>...>;
  static_assert(std::is_void_v<result> || std::copy_constructible<result>,
                "a task's result must be copyable, as the contents of CAF's messages are");
};
template <class Result, class... Parameters>
struct call_shape<Result (*)(Parameters...) noexcept> : call_shape<Result (*)(Parameters...)> {};
template <class F, class Result, class... Parameters>
struct call_shape<Result (F::*)(Parameters...) const> : call_shape<Result (*)(Parameters...)> {};
template <class F, class Result, class... Parameters>
struct call_shape<Result (F::*)(Parameters...) const noexcept> : call_shape<Result (*)(Parameters...)> {};

template <class F>
concept task_functor = std::is_class_v<F> && requires {
  typename call_shape<decltype(&F::operator())>::result;
};

/// Runs the call. Returns its result on the heap, or null if it has none. Fails with the text of the exception or
/// error.
template <class Result>
std::expected<std::shared_ptr<void>, std::string> settle(auto&& call) {
  const auto failure = [](const auto& error) -> std::string {
    if constexpr (requires { std::string(error.message()); })
      return std::string(error.message());
    else
      return std::string(error);
  };
  try {
    using returned = std::remove_cvref_t<decltype(call())>;
    if constexpr (std::is_void_v<returned>) {
      call();
      return nullptr;
    } else if constexpr (std::is_same_v<returned, Result>) {
      return std::make_shared<Result>(call());
    } else {
      auto result = call();
      if (!result)
        return std::unexpected(failure(result.error()));
      if constexpr (std::is_void_v<Result>)
        return nullptr;
      else
        return std::make_shared<Result>(*std::move(result));
    }
  } catch (const std::exception& thrown) {
    return std::unexpected(std::string(exception_text(thrown)));
  } catch (...) {
    return std::unexpected(std::string("an exception that is no std::exception"));
  }
}

} // namespace detail

/// A registered function, or a functor whose call operator is const and neither overloaded nor a template. Parameters
/// are values or references to const. The result is a value, void, or a std::expected of either, whose error is a text
/// or has a message().
///
/// Threads: any number of threads at once, as far as the function itself allows.
class function_entry {
public:
  using call = std::expected<std::shared_ptr<void>, std::string> (*)(std::span<const void* const> arguments);

  function_entry(std::string name, std::type_index key, std::vector<std::type_index> parameters, std::type_index result,
                 call function)
      : name_(std::move(name)), key_(key), parameters_(std::move(parameters)), result_(result), run_(function) {}

  template <auto Function>
  [[nodiscard]] static function_entry of_function(std::string name);
  template <class Functor>
  [[nodiscard]] static function_entry of_functor(std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The key for lookup in C++: the type of a registered_function, or of the functor.
  [[nodiscard]] std::type_index key() const { return key_; }
  /// The types of the parameters. For a functor, the first one is the functor itself.
  [[nodiscard]] std::span<const std::type_index> parameters() const { return parameters_; }
  /// The type of the result; typeid(void) if there is none.
  [[nodiscard]] std::type_index result() const { return result_; }
  /// Calls the function with the values at those addresses. Returns the result, or null for void. Fails with the text
  /// of the exception that the function threw or of the error that it returned. Requires: the values have the
  /// parameters' types.
  [[nodiscard]] std::expected<std::shared_ptr<void>, std::string> run(std::span<const void* const> arguments) const {
    return run_(arguments);
  }

private:
  const std::string name_;
  const std::type_index key_;
  const std::vector<std::type_index> parameters_;
  const std::type_index result_;
  const call run_;
};

template <auto Function>
function_entry function_entry::of_function(std::string name) {
  using shape = detail::call_shape<std::remove_const_t<decltype(Function)>>;
  return [&]<class... Parameters>(std::type_identity<std::tuple<Parameters...>>) {
    return function_entry(std::move(name), typeid(registered_function<Function>), {typeid(Parameters)...},
                          typeid(typename shape::result), [](std::span<const void* const> arguments) {
                            return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
                              return detail::settle<typename shape::result>(
                                  [&] { return Function(*static_cast<const Parameters*>(arguments[Index])...); });
                            }
                            (std::index_sequence_for<Parameters...>{});
                          });
  }(std::type_identity<typename shape::parameters>{});
}

template <class Functor>
function_entry function_entry::of_functor(std::string name) {
  using shape = detail::call_shape<decltype(&Functor::operator())>;
  return [&]<class... Parameters>(std::type_identity<std::tuple<Parameters...>>) {
    return function_entry(std::move(name), typeid(Functor), {typeid(Functor), typeid(Parameters)...},
                          typeid(typename shape::result), [](std::span<const void* const> arguments) {
                            return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
                              return detail::settle<typename shape::result>([&] {
                                return (*static_cast<const Functor*>(arguments[0]))(
                                    *static_cast<const Parameters*>(arguments[Index + 1])...);
                              });
                            }
                            (std::index_sequence_for<Parameters...>{});
                          });
  }(std::type_identity<typename shape::parameters>{});
}

} // namespace troupe
