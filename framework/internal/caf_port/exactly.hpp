// Tells which of Troupe's own classes an actor has, because CAF's base class has no place for a tag.
#pragma once

#include <type_traits>
#include <typeinfo>

#include <caf/abstract_actor.hpp>

namespace troupe::internal {

/// The actor as a `Class`; null if it has another class. Cheaper than a dynamic_cast: because `Class` is final, it is
/// enough to compare two type_infos.
template <class Class>
[[nodiscard]] Class* exactly(caf::abstract_actor* actor) noexcept {
  static_assert(std::is_final_v<Class> && std::is_base_of_v<caf::abstract_actor, Class>);
  return actor != nullptr && typeid(*actor) == typeid(Class) ? static_cast<Class*>(actor) : nullptr;
}

} // namespace troupe::internal
