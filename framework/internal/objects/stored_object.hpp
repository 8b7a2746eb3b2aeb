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

/// What a call of the store failed with, as the node says it.
[[nodiscard]] node_error from_store(const store::store_error& error);

/// A view of the object, for which it may have to be brought back from disk: waits for what store::handle::pin() waits
/// for, so long at most. Fails as that does, `busy` as `fetch_timed_out`.
[[nodiscard]] std::expected<std::shared_ptr<const stored_bytes>, node_error>
map(const store::handle& object, const std::optional<std::chrono::milliseconds>& within);
/// Whether another try to map the same object may end otherwise: the store or its disk was full, or somebody was busy.
[[nodiscard]] bool may_change(const node_error& error);

/// How long it is until then, for what a store waits for; empty where no end was said, 0 when it is over.
[[nodiscard]] std::optional<std::chrono::milliseconds> room_time_until(std::chrono::steady_clock::time_point until);

/// An object that need not be brought here from anywhere: its bytes are there at once, or never will be.
class settled_object : public object_source {
public:
  /// As map() gives them.
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

/// An object of this host's store. It is held; pinned only while it is read.
class stored_object final : public settled_object {
public:
  /// Keeps `beside` as long as it lives.
  explicit stored_object(store::handle object, std::shared_ptr<const void> beside = nullptr)
      : object_(std::move(object)), size_bytes_(object_.size_bytes()), beside_(std::move(beside)) {}

  [[nodiscard]] source_kind kind() const noexcept override { return source_kind::stored; }
  [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }
  /// Brings them back from disk where need be.
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

/// An object that was known by name only, and that nothing holds any more.
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

  /// The objects that the value refers to, in the order in which it names them. Set before it is shared.
  std::vector<object_source_ptr> captured;

private:
  std::byte* const bytes_;
  const std::size_t size_bytes_;
};

} // namespace troupe::internal
