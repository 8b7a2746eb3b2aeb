// Objects whose bytes are on this host, or are known to be gone.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/internal/objects/shared_view.hpp>
#include <troupe/framework/internal/objects/stored_bytes.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/store/handle.hpp>

namespace troupe::internal {

/// Whether the store had no room, in memory or on its disk.
[[nodiscard]] constexpr bool lacks_room(store::store_errc code) noexcept {
  return code == store::store_errc::full || code == store::store_errc::disk_full;
}
/// Converts an error of the store into one of the node.
[[nodiscard]] node_error from_store(const store::store_error& error);

/// Maps the object; if it is on disk, restores it first. Waits like store::handle::pin(), at most `within`. Fails as
/// pin() does, but `busy` becomes `fetch_timed_out`.
[[nodiscard]] std::expected<std::shared_ptr<const stored_bytes>, node_error>
map(const store::handle& object, const std::optional<std::chrono::milliseconds>& within);
/// Whether mapping the same object again may succeed: the store or its disk was full, or the store was busy.
[[nodiscard]] bool may_change(const node_error& error);

/// The time that is left until `until`, as the store's timeouts expect it. Nullopt if `until` is time_point::max(), 0
/// if it has passed.
[[nodiscard]] std::optional<std::chrono::milliseconds> room_time_until(std::chrono::steady_clock::time_point until);

/// An object that never has to be fetched, because its bytes are on this host or will never be available.
class settled_object : public object_source {
public:
  /// Waits and fails as map() does.
  [[nodiscard]] virtual std::expected<frame, node_error>
  bytes(const std::optional<std::chrono::milliseconds>& within) const = 0;

  [[nodiscard]] std::optional<frame> here() const final;
  [[nodiscard]] std::optional<frame> here_at_once() const final;
  /// Waits on the calling thread, as bytes() does.
  fetch_id fetch(std::chrono::steady_clock::time_point until, answer then) final;
  void cancel(fetch_id) final {}
};

/// Null for an object of another kind.
[[nodiscard]] inline const settled_object* as_settled(const object_source& which) noexcept {
  return is_settled(which.kind()) ? static_cast<const settled_object*>(&which) : nullptr;
}

/// An object of this host's store. It is held all the time, but pinned only while it is read.
class stored_object final : public settled_object {
public:
  /// Keeps `beside` alive with it.
  explicit stored_object(store::handle object, std::shared_ptr<const void> beside = nullptr)
      : object_(std::move(object)), size_bytes_(object_.size_bytes()), beside_(std::move(beside)) {}

  [[nodiscard]] source_kind kind() const noexcept override { return source_kind::stored; }
  [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }
  /// Restores the bytes from disk if need be.
  [[nodiscard]] std::expected<frame, node_error>
  bytes(const std::optional<std::chrono::milliseconds>& within) const override {
    return view_.of(object_, within);
  }
  [[nodiscard]] store::handle stored() const override { return object_; }

private:
  const store::handle object_;
  const std::uint64_t size_bytes_;
  const std::shared_ptr<const void> beside_;
  const shared_view view_;
};

/// An object that was known by name only, and that has no holder any more.
class freed_object final : public settled_object {
public:
  explicit freed_object(std::string why) : why_(std::move(why)) {}

  [[nodiscard]] source_kind kind() const noexcept override { return source_kind::freed; }
  [[nodiscard]] std::uint64_t size_bytes() const override { return 0; }
  [[nodiscard]] std::expected<frame, node_error>
  bytes(const std::optional<std::chrono::milliseconds>& within) const override;

private:
  const std::string why_;
};

/// The objects to which a value refers, in the order in which it names them. Fails with `timed_out` or `object_lost`.
[[nodiscard]] std::expected<std::vector<object_source_ptr>, node_error> captured_by(const object_source& object);

/// Keeps the bytes of a frame that lies in this process's own memory, for nodes without a store.
class heap_bytes final : public frame_owner {
public:
  explicit heap_bytes(std::size_t size_bytes);
  ~heap_bytes() override;

  [[nodiscard]] frame_owner_kind kind() const noexcept override { return frame_owner_kind::in_process; }
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {bytes_, size_bytes_}; }

  /// The objects that the value refers to, in the order in which it names them. Set before the bytes are shared.
  std::vector<object_source_ptr> captured;

private:
  std::byte* const bytes_;
  const std::size_t size_bytes_;
};

} // namespace troupe::internal
