// Frames that lie in a store.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <troupe/serializers/frame.hpp>
#include <troupe/store/handle.hpp>

namespace troupe::internal {

/// Keeps the bytes of a frame that lies in the store. The object is held and mapped as long as any frame of it lives.
class stored_bytes : public frame_owner {
public:
  explicit stored_bytes(store::pin pin) : pin_(std::move(pin)) {}

  [[nodiscard]] bool is_shared() const override { return true; }
  [[nodiscard]] frame_owner_kind kind() const noexcept final { return frame_owner_kind::in_store; }
  [[nodiscard]] const store::handle& object() const noexcept { return pin_.object(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return pin_.bytes(); }
  [[nodiscard]] std::span<const std::byte> metadata() const noexcept { return pin_.metadata(); }

private:
  store::pin pin_;
};

/// The owner of the frame's bytes if they lie in the store; null otherwise.
[[nodiscard]] inline const stored_bytes* stored_bytes_of(const frame& of) noexcept {
  const auto* const owner = of.owner().get();
  const auto is_stored = owner != nullptr && owner->kind() == frame_owner_kind::in_store;
  return is_stored ? static_cast<const stored_bytes*>(owner) : nullptr;
}

} // namespace troupe::internal
