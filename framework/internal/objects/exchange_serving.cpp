// Giving bytes to peers that pull them: cut and summed ahead of their writing, outside of the link's lock.
#include <utility>

#include <asio/post.hpp>

#include <troupe/framework/internal/objects/object_exchange.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/framework/internal/wire/crc32c.hpp>

namespace troupe::internal {

namespace {

// So many are ready to be written at a time, and new ones are cut when fewer than this are left.
constexpr std::size_t pieces_max = 8;
constexpr std::size_t pieces_low = 4;

// For what finds no room to come back from disk the peer asks again, as long as it has time. Nobody else is served
// meanwhile.
constexpr std::chrono::milliseconds serving_patience{100};

handles::handle_errc refusal_of(const store::store_error& why) {
  switch (why.code()) {
  case store::store_errc::damaged:
    return handles::handle_errc::object_lost;
  case store::store_errc::full:
    return handles::handle_errc::full;
  default:
    return handles::handle_errc::busy;
  }
}

} // namespace

void object_exchange::act(const handles::send_bytes& what) {
  if (const auto to = lanes_.find(what.link); to != lanes_.end())
    to->second.next = what;
}

/// I/O thread. Cuts what the link has room for.
void object_exchange::prepare(handles::link_number to) {
  while (prepare_next(to)) {
  }
}

bool object_exchange::prepare_next(handles::link_number to) {
  std::unique_lock guard{mutex_};
  auto found = lanes_.find(to);
  if (found == lanes_.end() || is_ended_ || found->second.pieces.size() >= pieces_max)
    return false;
  auto& to_peer = found->second;
  if (!to_peer.next) {
    if (!ledger_.send_chunk(to)) {
      to_peer.serving.clear(); // Also of what was cancelled.
      return false;
    }
    settle();
    if (!to_peer.next)
      return true; // A head, which is a message.
  }
  const auto request = to_peer.next->what.request;
  auto& served = to_peer.serving[request];
  if (!served.bytes) {
    if (!std::exchange(to_peer.is_pinning, true))
      pin_for(to, to_peer.next->place);
    return false;
  }
  const auto what = *std::exchange(to_peer.next, std::nullopt);
  const auto owner = served.bytes;
  const auto before = served.sum;
  const auto whole = owner->bytes();
  if (what.what.offset + what.what.size_bytes >= whole.size())
    to_peer.serving.erase(request);
  guard.unlock();
  piece cut{.start = {}, .bytes = frame{whole.subspan(what.what.offset, what.what.size_bytes), owner}};
  const auto sum = crc32c(before, cut.bytes.bytes());
  append_object_chunk_head(cut.start, {what.what, sum});
  guard.lock();
  found = lanes_.find(to);
  if (found == lanes_.end())
    return false;
  if (const auto again = found->second.serving.find(request); again != found->second.serving.end())
    again->second.sum = sum;
  found->second.pieces.push_back(std::move(cut));
  return true;
}

/// What lies on disk has to be brought back, which takes too long for the I/O thread.
void object_exchange::pin_for(handles::link_number to, const store::object_id& place) {
  const auto found = holds_.find(place);
  auto object = found != holds_.end() ? found->second.object : store::handle{};
  worker_.add([self = shared_from_this(), to, object = std::move(object)] {
    auto pinned = object.pin(serving_patience);
    auto bytes = pinned ? std::make_shared<const stored_bytes>(*std::move(pinned)) : nullptr;
    std::unique_lock guard{self->mutex_};
    const auto waiting = self->lanes_.find(to);
    if (waiting == self->lanes_.end() || !waiting->second.next)
      return;
    waiting->second.is_pinning = false;
    if (bytes) {
      waiting->second.serving[waiting->second.next->what.request].bytes = std::move(bytes);
    } else {
      const auto request = waiting->second.next->what.request;
      waiting->second.serving.erase(request);
      waiting->second.next.reset();
      const auto is_disk_full = from_store(pinned.error()).code() == node_errc::disk_full;
      self->ledger_.cannot_serve(to, request, refusal_of(pinned.error()), is_disk_full);
      self->settle();
    }
    self->flush_soon(to);
  });
}

std::optional<object_exchange::piece> object_exchange::next_piece(handles::link_number to) {
  std::lock_guard guard{mutex_};
  const auto found = lanes_.find(to);
  if (found == lanes_.end() || found->second.pieces.empty())
    return std::nullopt;
  auto& pieces = found->second.pieces;
  auto next = std::move(pieces.front());
  pieces.pop_front();
  if (pieces.size() < pieces_low)
    flush_soon(to);
  return next;
}

bool object_exchange::has_piece(handles::link_number to) const {
  std::lock_guard guard{mutex_};
  const auto found = lanes_.find(to);
  return found != lanes_.end() && !found->second.pieces.empty();
}

} // namespace troupe::internal
