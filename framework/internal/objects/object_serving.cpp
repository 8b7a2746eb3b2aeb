#include <troupe/framework/internal/objects/object_serving.hpp>

#include <chrono>
#include <utility>

#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/framework/internal/wire/crc32c.hpp>

namespace troupe::internal {

namespace {

// At most `pieces_max` pieces are ready to be written. New ones are cut when fewer than `pieces_low` are left.
constexpr std::size_t pieces_max = 8;
constexpr std::size_t pieces_low = 4;

// How long an object that lies on disk may wait for room to be restored. Other peers are not served meanwhile; the peer
// asks again while it has time.
constexpr std::chrono::milliseconds serving_patience{100};

handles::handle_errc refusal_of(const store::store_error& why) {
  switch (why.code()) {
  case store::store_errc::damaged:
    return handles::handle_errc::object_lost;
  case store::store_errc::full:
  case store::store_errc::disk_full:
    return handles::handle_errc::full;
  default:
    return handles::handle_errc::busy;
  }
}

} // namespace

void object_serving::prepare(handles::link_number to) {
  while (prepare_next(to)) {
  }
}

bool object_serving::prepare_next(handles::link_number to) {
  auto held = core_.lock();
  if (held->is_ended() || !held->is_up(to))
    return false;
  auto& peer = lanes_[to];
  if (peer.pieces.size() >= pieces_max)
    return false;
  if (!peer.next)
    peer.next = held->next_chunk(to);
  if (!peer.next) {
    const auto dropped = std::exchange(peer.objects, {}); // Includes objects whose requests were cancelled.
    held.guard().unlock();
    return false;
  }
  if (peer.next->what.size_bytes == 0) {
    peer.next.reset(); // An empty object's head carries everything.
    return true;
  }
  const auto request = peer.next->what.request;
  auto& wanted = peer.objects[request];
  if (!wanted.bytes) {
    if (!std::exchange(peer.is_pinning, true))
      pin_for(to, held.holds().find(peer.next->place));
    return false;
  }
  const auto what = std::exchange(peer.next, std::nullopt)->what;
  const auto owner = wanted.bytes;
  const auto before = wanted.sum;
  const auto whole = owner->bytes();
  if (what.offset + what.size_bytes >= whole.size())
    peer.objects.erase(request);
  held.guard().unlock();
  object_piece cut{.start = {}, .bytes = frame{whole.subspan(what.offset, what.size_bytes), owner}};
  const auto sum = crc32c(before, cut.bytes.bytes());
  append_object_chunk_head(cut.start, {what, sum});
  held.guard().lock();
  const auto found = lanes_.find(to);
  if (found == lanes_.end())
    return false;
  if (const auto again = found->second.objects.find(request); again != found->second.objects.end())
    again->second.sum = sum;
  found->second.pieces.push_back(std::move(cut));
  return true;
}

/// Restoring an object from disk takes too long for the I/O thread. Its chunk waits meanwhile.
void object_serving::pin_for(handles::link_number to, store::handle object) {
  worker_.add([this, to, object = std::move(object)] {
    auto pinned = object.pin(serving_patience);
    auto bytes = pinned ? std::make_shared<const stored_bytes>(*std::move(pinned)) : nullptr;
    const auto held = core_.lock();
    const auto waiting = lanes_.find(to);
    if (waiting == lanes_.end() || held->is_ended())
      return;
    auto& peer = waiting->second;
    peer.is_pinning = false;
    const auto request = peer.next->what.request;
    if (bytes) {
      peer.objects[request].bytes = std::move(bytes);
    } else {
      peer.objects.erase(request);
      peer.next.reset();
      const auto is_disk_full = from_store(pinned.error()).code() == node_errc::disk_full;
      held->cannot_serve(to, request, refusal_of(pinned.error()), is_disk_full);
    }
    errands_.write_soon(held->turn(), to);
  });
}

std::optional<object_piece> object_serving::next(handles::link_number to) {
  const auto held = core_.lock();
  const auto found = lanes_.find(to);
  if (found == lanes_.end() || found->second.pieces.empty())
    return std::nullopt;
  auto& pieces = found->second.pieces;
  auto taken = std::move(pieces.front());
  pieces.pop_front();
  if (pieces.size() < pieces_low)
    errands_.write_soon(held->turn(), to);
  return taken;
}

bool object_serving::has_piece(handles::link_number to) const {
  const auto held = core_.lock();
  const auto found = lanes_.find(to);
  return found != lanes_.end() && !found->second.pieces.empty();
}

void object_serving::forget(handles::link_number to) {
  auto held = core_.lock();
  const auto dropped = lanes_.extract(to);
  held.guard().unlock(); // The rest of the lane is destroyed outside the lock.
}

void object_serving::end() {
  auto held = core_.lock();
  const auto dropped = std::exchange(lanes_, {});
  held.guard().unlock();
}

} // namespace troupe::internal
