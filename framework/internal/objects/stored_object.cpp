#include <troupe/framework/internal/objects/stored_object.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace troupe::internal {

node_error from_store(const store::store_error& error) {
  switch (error.code()) {
  case store::store_errc::full:
  case store::store_errc::table_full:
    return {node_errc::store_full, error.message()};
  case store::store_errc::disk_full:
    return {node_errc::disk_full, error.message()};
  case store::store_errc::busy:
    return {node_errc::timed_out, error.message()};
  default:
    return {node_errc::object_lost, error.message()};
  }
}

std::expected<std::shared_ptr<const stored_bytes>, node_error>
map(const store::handle& object, const std::optional<std::chrono::milliseconds>& within) {
  auto pin = object.pin(within);
  if (pin)
    return std::make_shared<const stored_bytes>(*std::move(pin));
  if (pin.error().code() == store::store_errc::busy)
    return std::unexpected{node_error{node_errc::fetch_timed_out, pin.error().message()}};
  return std::unexpected{from_store(pin.error())};
}

namespace {

frame frame_of(std::shared_ptr<const stored_bytes> pinned) {
  const auto whole = pinned->bytes();
  return {whole, std::move(pinned)};
}

} // namespace

std::optional<frame> shared_view::known() const {
  std::unique_lock guard{mutex_};
  auto pinned = pinned_.lock();
  guard.unlock();
  return pinned ? std::optional{frame_of(std::move(pinned))} : std::nullopt;
}

std::expected<frame, node_error> shared_view::of(const store::handle& object,
                                                 const std::optional<std::chrono::milliseconds>& within) const {
  if (auto found = known())
    return *std::move(found);
  auto pinned = map(object, within); // Without the lock.
  if (!pinned)
    return std::unexpected{std::move(pinned).error()};
  std::unique_lock guard{mutex_};
  auto others = pinned_.lock();
  if (!others)
    pinned_ = *pinned;
  guard.unlock();
  return frame_of(others ? std::move(others) : *std::move(pinned));
}

bool may_change(const node_error& error) {
  return error.code() == node_errc::store_full || error.code() == node_errc::disk_full
         || error.code() == node_errc::fetch_timed_out;
}

std::optional<std::chrono::milliseconds> room_time_until(std::chrono::steady_clock::time_point until) {
  if (until == std::chrono::steady_clock::time_point::max())
    return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds{0});
}

std::optional<frame> settled_object::here() const {
  auto found = bytes(std::nullopt);
  return found ? std::optional{*std::move(found)} : std::nullopt;
}

std::optional<frame> settled_object::here_at_once() const {
  auto found = bytes(std::chrono::milliseconds{0});
  return found ? std::optional{*std::move(found)} : std::nullopt;
}

object_source::fetch_id settled_object::fetch(std::chrono::steady_clock::time_point until, answer then) {
  then(bytes(room_time_until(until)));
  return 0;
}

std::expected<std::vector<object_source_ptr>, node_error> captured_by(const object_source& object) {
  auto stored = object.stored();
  if (stored.empty()) {
    const auto bytes = object.here();
    if (bytes && bytes->owner() && bytes->owner()->kind() == frame_owner_kind::in_process)
      return static_cast<const heap_bytes&>(*bytes->owner()).captured;
    stored = object.stored(); // It may have come to the store since the first look.
  }
  if (stored.empty())
    return std::vector<object_source_ptr>{};
  auto held = stored.hold_captured();
  if (!held)
    return std::unexpected{from_store(held.error())};
  std::vector<object_source_ptr> sources;
  sources.reserve(held->size());
  for (auto& each : *held)
    sources.push_back(std::make_shared<stored_object>(std::move(each)));
  return sources;
}

std::expected<frame, node_error> freed_object::bytes(const std::optional<std::chrono::milliseconds>&) const {
  return std::unexpected{node_error{node_errc::object_freed, why_}};
}

heap_bytes::heap_bytes(std::size_t size_bytes)
    : bytes_(static_cast<std::byte*>(::operator new (size_bytes, std::align_val_t{frame::alignment_bytes}))),
      size_bytes_(size_bytes) {}

heap_bytes::~heap_bytes() {
  ::operator delete (bytes_, std::align_val_t{frame::alignment_bytes});
}

} // namespace troupe::internal
