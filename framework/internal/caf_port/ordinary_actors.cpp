#include <troupe/framework/internal/caf_port/ordinary_actors.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <caf/actor_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/make_actor.hpp>
#include <caf/resumable.hpp>

namespace troupe::internal {

namespace {

/// The implementation that a virtual call reaches for that object. This relies on the Itanium C++ ABI, which all
/// compilers for the supported platforms follow: a pointer to a virtual member function holds its offset in the class's
/// table.
template <class Class, class Result, class... Args>
const void* reached(const Class& object, Result (Class::*function)(Args...)) noexcept {
  struct {
    std::uintptr_t place;
    std::ptrdiff_t adjustment;
  } parts;
  static_assert(sizeof parts == sizeof function);
  std::memcpy(&parts, &function, sizeof parts);
#if defined(__aarch64__) || defined(__arm__)
  const auto offset = parts.place; // Here a bit of the adjustment marks a virtual function,
#else
  const auto offset = parts.place - 1; // and here the lowest bit of the place.
#endif
  const std::byte* table = nullptr;
  std::memcpy(&table, static_cast<const void*>(&object), sizeof table);
  const void* found = nullptr;
  std::memcpy(&found, table + offset, sizeof found);
  return found;
}

const void* enqueue_of(const caf::abstract_actor& actor) noexcept {
  return reached<caf::abstract_actor, void, caf::mailbox_element_ptr, caf::execution_unit*>(
      actor, &caf::abstract_actor::enqueue);
}

const void* resume_of(const caf::resumable& actor) noexcept {
  return reached(actor, &caf::resumable::resume);
}

} // namespace

/// Reads the functions from an actor that is never launched.
ordinary_actors::ordinary_actors(caf::actor_system& system) {
  caf::actor_config config;
  const auto made = caf::make_actor<caf::event_based_actor, caf::strong_actor_ptr>(system.next_actor_id(),
                                                                                   system.node(), &system, config);
  auto* const ordinary = static_cast<caf::scheduled_actor*>(made->get());
  enqueue_ = enqueue_of(*ordinary);
  resume_ = resume_of(*ordinary);
}

caf::scheduled_actor* ordinary_actors::find(caf::abstract_actor& actor) const noexcept {
  // Only classes derived from scheduled_actor have its functions.
  if (enqueue_of(actor) != enqueue_ || actor.getf(caf::abstract_actor::is_detached_flag))
    return nullptr;
  auto& scheduled = static_cast<caf::scheduled_actor&>(actor);
  return resume_of(scheduled) == resume_ ? &scheduled : nullptr;
}

} // namespace troupe::internal
