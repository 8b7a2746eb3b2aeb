// A name under which peers find an actor, with the actor or a function that makes it.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/is_actor_handle.hpp>

namespace troupe {

/// A name with its actor, or with a function that makes the actor: an entry of node_options::publish.
///
///     {.name = "kitchen",
///      .listen = {"unix://@kitchen"},
///      .publish = {{"cup", cup},                                                             // A handle.
///                  {"oven", [](caf::actor_system& system) { return system.spawn(oven); }},   // Makes one.
///                  {"clock", [&] { return system.spawn(clock, 10); }}}}
///
/// Threads: one at a time.
/// Lifetime: holds its actor. CAF's actor system waits for every actor, so a publication must end before the actor
/// system.
class publication {
public:
  /// `source` is an untyped or typed handle, or a function that returns one and takes the actor system or nothing.
  /// node::open calls the function once, on the calling thread, in the order of the list, before any peer can dial. If
  /// the function throws, node::open fails with `bad_option`.
  template <class Source>
  publication(std::string name, Source source) : name_(std::move(name)) {
    if constexpr (is_handle<Source>) {
      make_ = [actor = caf::actor_cast<caf::strong_actor_ptr>(source)](caf::actor_system&) { return actor; };
    } else if constexpr (std::is_invocable_v<Source&, caf::actor_system&>) {
      static_assert(is_handle<std::invoke_result_t<Source&, caf::actor_system&>>,
                    "the function that a name is published with returns an actor's handle, such as system.spawn gives");
      make_ = [source = std::move(source)](caf::actor_system& system) mutable {
        return caf::actor_cast<caf::strong_actor_ptr>(source(system));
      };
    } else if constexpr (std::is_invocable_v<Source&>) {
      static_assert(is_handle<std::invoke_result_t<Source&>>,
                    "the function that a name is published with returns an actor's handle, such as system.spawn gives");
      make_ = [source = std::move(source)](caf::actor_system&) mutable {
        return caf::actor_cast<caf::strong_actor_ptr>(source());
      };
    } else {
      static_assert(is_handle<Source>,
                    "a name is published with an actor's handle, or with a function that returns one "
                    "and takes a caf::actor_system& or nothing");
    }
  }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Returns the actor. Throws what the function throws.
  [[nodiscard]] caf::strong_actor_ptr make(caf::actor_system& system) { return make_(system); }

private:
  template <class T>
  static constexpr bool is_handle = caf::is_actor_handle<std::remove_cvref_t<T>>::value
                                    || std::is_same_v<std::remove_cvref_t<T>, caf::strong_actor_ptr>;

  std::string name_;
  std::function<caf::strong_actor_ptr(caf::actor_system&)> make_;
};

} // namespace troupe
