// The objects of the shared store that a link has sent (exports) and received (imports), each with its count. Pure
// tables: the link that owns them guards them with its own lock, and drops what they give back outside of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <troupe/serializers/frame.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// Keeps the bytes of a frame that lies in the store: the object is held and mapped as long as any frame of it lives.
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

/// What keeps the frame's bytes, where they lie in the store; null elsewhere.
[[nodiscard]] inline const stored_bytes* stored_bytes_of(const frame& of) noexcept {
  const auto* const owner = of.owner().get();
  const auto is_stored = owner != nullptr && owner->kind() == frame_owner_kind::in_store;
  return is_stored ? static_cast<const stored_bytes*>(owner) : nullptr;
}

class imported_object;

/// Objects that are held for the peer until it releases them.
class object_exports {
public:
  void add(const store::handle& object);

  /// Takes back `count` sendings; nullopt when the peer releases more than it was sent.
  [[nodiscard]] std::optional<std::optional<store::handle>> release(const store::object_id& id, std::uint64_t count);

  [[nodiscard]] std::vector<store::handle> take_all();

  struct sent {
    std::uint64_t count = 0;
    std::chrono::steady_clock::time_point since; // The first of them that is not released.
  };
  [[nodiscard]] std::optional<sent> find(const store::object_id& id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? std::nullopt : std::optional{sent{found->second.count, found->second.since}};
  }

private:
  struct entry {
    store::handle object;
    std::uint64_t count = 0;
    std::chrono::steady_clock::time_point since{};
  };

  std::unordered_map<store::object_id, entry> entries_;
};

/// Objects received from the peer, each represented by one shared owner while anything here refers to it.
class object_imports {
public:
  /// Counts one more receipt; gives the living owner, or null: then `put` must follow.
  std::shared_ptr<const imported_object> receive(const store::object_id& id);
  void put(const store::object_id& id, const std::shared_ptr<const imported_object>& owner);

  /// The owner is being destroyed. Gives the count to release to the peer; 0 when a newer owner has taken its place.
  [[nodiscard]] std::uint64_t gone(const store::object_id& id, const imported_object* owner);

  void clear() { entries_.clear(); }

private:
  struct entry {
    std::weak_ptr<const imported_object> owner;
    const imported_object* identity = nullptr;
    std::uint64_t count = 0;
  };

  std::unordered_map<store::object_id, entry> entries_;
};

} // namespace troupe::internal
