#include <troupe/framework/internal/stored_object.hpp>

#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace troupe::internal {

namespace {

/// The store says `full` for both; what is full stands in the text.
bool is_about_the_disk(const store::store_error& error) {
  const auto says = [&](std::string_view words) { return error.message().find(words) != std::string::npos; };
  return error.code() == store::store_errc::full && !says("the file system of the store has no")
         && (says(std::strerror(ENOSPC)) || says(std::strerror(EDQUOT)) || says("the disk has no"));
}

} // namespace

node_error from_store(const store::store_error& error) {
  if (is_about_the_disk(error))
    return {node_errc::disk_full, error.message()};
  switch (error.code()) {
  case store::store_errc::full:
  case store::store_errc::table_full:
    return {node_errc::store_full, error.message()};
  case store::store_errc::busy:
    return {node_errc::timed_out, error.message()};
  default:
    return {node_errc::object_lost, error.message()};
  }
}

std::optional<frame> settled_object::here() const {
  auto found = bytes();
  return found ? std::optional{*std::move(found)} : std::nullopt;
}

object_source::fetch_id settled_object::fetch(std::chrono::steady_clock::time_point, answer then) {
  then(bytes());
  return 0;
}

std::expected<frame, node_error> stored_object::bytes() const {
  const std::lock_guard guard{mutex_};
  auto pinned = pinned_.lock();
  if (!pinned) {
    auto pin = object_.pin();
    if (!pin)
      return std::unexpected{from_store(pin.error())};
    pinned = std::make_shared<const stored_bytes>(*std::move(pin));
    pinned_ = pinned;
  }
  const auto whole = pinned->bytes();
  return frame{whole, std::move(pinned)};
}

std::expected<std::vector<object_source_ptr>, node_error> captured_by(const object_source& object) {
  const auto stored = object.stored();
  if (stored.empty()) {
    const auto bytes = object.here();
    const auto* own = bytes ? dynamic_cast<const heap_bytes*>(bytes->owner().get()) : nullptr;
    return own != nullptr ? own->captured : std::vector<object_source_ptr>{};
  }
  auto held = stored.hold_captured();
  if (!held)
    return std::unexpected{from_store(held.error())};
  std::vector<object_source_ptr> sources;
  sources.reserve(held->size());
  for (auto& each : *held)
    sources.push_back(std::make_shared<stored_object>(std::move(each)));
  return sources;
}

std::expected<frame, node_error> freed_object::bytes() const {
  return std::unexpected{node_error{node_errc::object_freed, why_}};
}

heap_bytes::heap_bytes(std::size_t size_bytes)
    : bytes_(static_cast<std::byte*>(::operator new (size_bytes, std::align_val_t{frame::alignment_bytes}))),
      size_bytes_(size_bytes) {}

heap_bytes::~heap_bytes() {
  ::operator delete (bytes_, std::align_val_t{frame::alignment_bytes});
}

} // namespace troupe::internal
