// The behavior behind troupe::resolving, without the types of its handlers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <typeinfo>
#include <vector>

#include <caf/detail/behavior_impl.hpp>
#include <caf/detail/try_match.hpp>
#include <caf/duration.hpp>
#include <caf/local_actor.hpp>
#include <caf/match_case.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/arg.hpp>
#include <troupe/framework/internal/caf_port/actors/value_kind.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe::internal {

/// What an element holds that stands for a T: a reference, a value, or neither.
struct standing_in {
  const object_state_ptr* state = nullptr;
  void* value = nullptr;
};

/// The types that may stand for a T in a message.
struct stand_ins {
  const value_kind* kind;
  const std::type_info* reference;
  const std::type_info* either;
  standing_in (*of_reference)(const void* element);
  standing_in (*of_either)(const void* element);
};

struct handler_parameter {
  caf::detail::meta_element exact;
  const stand_ins* others; // Null: no other type may stand for this one.
};

struct resolving_handler {
  caf::match_case* run;
  std::vector<handler_parameter> parameters;
  bool may_change_arguments;
};

/// The parts of a resolving behavior.
struct resolving_parts {
  std::vector<resolving_handler> handlers;
  std::shared_ptr<void> cases; // Keeps the cases that the handlers point to.
  caf::duration timeout;
  std::function<void()> on_timeout;
  bool blocks = false; // Made for a blocking actor.
};

[[nodiscard]] TROUPE_EXPORT caf::intrusive_ptr<caf::detail::behavior_impl>
make_resolving_behavior(caf::local_actor* self, resolving_parts parts);

template <class T>
struct may_be_referred_to : std::true_type {};
template <class T>
struct may_be_referred_to<object_ref<T>> : std::false_type {};
template <class T>
struct may_be_referred_to<arg<T>> : std::false_type {};
template <caf::atom_value Value>
struct may_be_referred_to<caf::atom_constant<Value>> : std::false_type {};

template <class T>
[[nodiscard]] const stand_ins* stand_ins_for() {
  if constexpr (may_be_referred_to<T>::value && std::is_copy_constructible_v<T>) {
    static const stand_ins others{
        &kind_of<T>(), &typeid(object_ref<T>), &typeid(arg<T>),
        [](const void* element) -> standing_in { return {&state_of(*static_cast<const object_ref<T>*>(element))}; },
        [](const void* element) -> standing_in {
          const auto* either = static_cast<const arg<T>*>(element);
          if (const auto* ref = either->ref())
            return {&state_of(*ref)};
          return {nullptr, const_cast<T*>(either->value())};
        }};
    return &others;
  } else {
    return nullptr;
  }
}

template <class T>
inline constexpr bool is_param = false;
template <class T>
inline constexpr bool is_param<caf::param<T>> = true;

template <class... Given, class... Decayed>
[[nodiscard]] resolving_handler describe_handler(caf::match_case& run, caf::detail::type_list<Given...>,
                                                 caf::detail::type_list<Decayed...>) {
  return {&run,
          {{caf::detail::meta_element_factory<Decayed>::create(), stand_ins_for<Decayed>()}...},
          ((caf::detail::is_mutable_ref<Given>::value || is_param<std::decay_t<Given>>) || ...)};
}

} // namespace troupe::internal
