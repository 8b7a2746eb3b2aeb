// Functions that peers may ask this process to run, by name. type_registry::add_function is defined here.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <troupe/serializers/codec.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/function_entry.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

template <auto Function>
type_registry& type_registry::add_function(std::string name) {
  return insert_function(std::make_shared<function_entry>(function_entry::of_function<Function>(std::move(name))));
}

template <class Functor>
type_registry& type_registry::add_function(std::string name) {
  static_assert(detail::task_functor<Functor>, "not a class with one call operator, which is const");
  static_assert(
      described<Functor> || detail::hooked<Functor>,
      "a functor's state travels with it: describe it with TROUPE_DESCRIBE. What a lambda has captured has no "
      "names: write a described functor, or a function");
  add<Functor>(name);
  return insert_function(std::make_shared<function_entry>(function_entry::of_functor<Functor>(std::move(name))));
}

} // namespace troupe
