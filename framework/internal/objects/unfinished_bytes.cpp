#include <troupe/framework/internal/objects/unfinished_bytes.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <troupe/framework/internal/objects/stored_object.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

// How long one attempt waits for the store to make room, and how long all attempts take together.
constexpr std::chrono::milliseconds own_try_patience{200};
constexpr std::chrono::seconds own_room_patience{20};

} // namespace

void unfinished_bytes::keep(core_turn held, handles::reference what, frame bytes, std::vector<std::byte> metadata) {
  objects_.in(held).emplace(what, std::make_shared<const object>(object{std::move(bytes), std::move(metadata)}));
}

void unfinished_bytes::finish(core_turn held, handles::room_id as, handles::reference what,
                              std::vector<store::object_id> captured) {
  maker_.add(
      [this, as, from = objects_.in(held).at(what), captured = std::move(captured)] { write(as, *from, captured); });
}

void unfinished_bytes::forget(core_turn held, handles::reference what) {
  if (auto found = objects_.in(held).extract(what); !found.empty())
    worker_.add([dropped = std::move(found.mapped())] {}); // Objects that it captures are released outside the lock.
}

void unfinished_bytes::end() {
  auto held = core_.lock();
  const auto dropped = std::exchange(objects_.in(held->turn()), {});
  held.guard().unlock();
}

/// Waits for room like replicas of other hosts' objects.
void unfinished_bytes::write(handles::room_id as, const object& from, const std::vector<store::object_id>& captured) {
  const auto attempt = [&]() -> std::expected<store::handle, store::store_error> {
    auto built = store_.create(from.bytes.size_bytes(), from.metadata, captured, own_try_patience);
    if (!built)
      return std::unexpected{std::move(built).error()};
    std::ranges::copy(from.bytes.bytes(), built->bytes().begin());
    return std::move(*built).seal();
  };
  const auto until = clock::now() + own_room_patience;
  auto sealed = attempt();
  auto held = core_.lock();
  while (!sealed && lacks_room(sealed.error().code()) && held->wants(as) && clock::now() < until) {
    held->note_full(as, from_store(sealed.error()));
    held.guard().unlock();
    sealed = attempt();
    held.guard().lock();
  }
  held->note_full(as, std::nullopt);
  held.guard().unlock();
  core_.sealed(as, std::move(sealed));
}

} // namespace troupe::internal
