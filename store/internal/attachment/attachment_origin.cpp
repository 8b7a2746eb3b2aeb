// Objects of which a store has one only: found, waited for, or made.
#include <troupe/store/internal/attachment/attachment.hpp>

namespace troupe::store::internal {

std::expected<object_of_origin, store_error> attachment::find_origin(const object_origin& origin) {
  auto result = object_of_origin{};
  auto id = object_id{};
  const auto guard = lock();
  if (!guard)
    return std::unexpected(guard.error());
  const auto what = object_table(*guard).look_up(origin, id);
  if (what == outcome::done) {
    hold(id.index);
    touch(*guard, id.index);
    result.sealed = held_object{id.index, id.generation};
  } else if (what == outcome::unsealed) {
    result.being_written = id;
    result.writer_pid = view_.object(id.index).creator_pid;
  }
  return result;
}

/// Whether there is one is seen again under the lock under which it is made; who was quicker is looked for again, and
/// only many who give up one after the other could make that go on.
std::expected<object_of_origin, store_error> attachment::create_once(const object_origin& origin,
                                                                     std::size_t size_bytes,
                                                                     std::chrono::milliseconds grace,
                                                                     const std::source_location& where, bool grows) {
  constexpr auto tries_max = 16;
  for (auto tries = 1;; ++tries) {
    auto found = find_origin(origin);
    if (!found || found->sealed || found->being_written != object_id{})
      return found;
    auto made = create(size_bytes, {}, {}, grace, where, origin, grows);
    if (made) {
      found->made = std::move(*made);
      return found;
    }
    if (made.error().code() != store_errc::unsealed)
      return std::unexpected(made.error());
    if (tries == tries_max)
      return std::unexpected(store_error{store_errc::busy, made.error().message()});
  }
}

} // namespace troupe::store::internal
