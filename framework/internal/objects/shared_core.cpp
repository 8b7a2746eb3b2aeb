#include <troupe/framework/internal/objects/shared_core.hpp>

#include <troupe/framework/internal/objects/stored_object.hpp>

namespace troupe::internal {

void shared_core::found(handles::room_id which, store::handle object) {
  const auto place = object.id();
  const auto held = lock();
  if (!held->wants(which))
    return;
  held.holds().keep(std::move(object));
  if (!held->room_found(which, place))
    held.holds().drop(place);
}

void shared_core::sealed(handles::room_id which, std::expected<store::handle, store::store_error> object) {
  const auto held = lock();
  if (!held->wants(which))
    return;
  if (!object) {
    if (object.error().code() == store::store_errc::busy)
      return held->room_failed(which, handles::handle_errc::busy, from_store(object.error()));
    // Any other error: the bytes have no place here, but are not lost.
    const auto code = lacks_room(object.error().code()) ? object.error().code() : store::store_errc::full;
    return held->room_failed(which, handles::handle_errc::full, from_store({code, object.error().message()}));
  }
  const auto place = object->id();
  held.holds().keep(*std::move(object));
  if (!held->room_sealed(which, place))
    held.holds().drop(place);
}

} // namespace troupe::internal
