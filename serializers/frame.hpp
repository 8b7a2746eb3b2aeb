// Frames: the immutable byte ranges of which payloads consist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>

namespace troupe {

/// What keeps a frame's bytes, for code that treats some of them in a way of their own. Each but `plain` belongs to one
/// class: who sees it may cast to that class.
enum class frame_owner_kind : std::uint8_t {
  plain,      ///< Anything: a heap block, a value, a class of the user's.
  compressed, ///< Bytes that a codec of frames has made (compressed_owner).
  in_process, ///< An object in this process's own memory (heap_bytes).
  in_store,   ///< An object of a store (stored_bytes).
};

/// Whatever keeps a frame's bytes alive and unchanged: a heap block, a store's pin, a value.
class TROUPE_EXPORT frame_owner {
public:
  frame_owner() = default;
  frame_owner(const frame_owner&) = delete;
  frame_owner& operator=(const frame_owner&) = delete;
  virtual ~frame_owner();
  /// Whether other processes that share a store with this one can read the bytes where they lie.
  [[nodiscard]] virtual bool is_shared() const { return false; }
  /// Classes outside of Troupe leave it as it is.
  [[nodiscard]] virtual frame_owner_kind kind() const noexcept { return frame_owner_kind::plain; }
};

/// Immutable bytes with a shared owner. Zero length is legal. A frame that was moved from is empty.
///
/// Threads: copies may be used by any thread at once. Lifetime: the bytes live as long as any frame of their owner.
class TROUPE_EXPORT frame {
public:
  /// Heap blocks of `copy_of` and `uninitialized` start at a multiple of this, so that arrays of any element type lie
  /// in place.
  static constexpr std::size_t alignment_bytes = 64;

  frame() = default;

  /// Requires: `bytes` stay valid and unchanged while `owner` lives; no owner means for ever (constants).
  frame(std::span<const std::byte> bytes, std::shared_ptr<const frame_owner> owner) noexcept
      : bytes_(bytes), owner_(std::move(owner)) {}
  frame(const frame&) = default;
  frame(frame&& other) noexcept : bytes_(std::exchange(other.bytes_, {})), owner_(std::move(other.owner_)) {}
  frame& operator=(const frame&) = default;
  frame& operator=(frame&& other) noexcept {
    bytes_ = std::exchange(other.bytes_, {});
    owner_ = std::move(other.owner_);
    return *this;
  }
  ~frame() = default;

  [[nodiscard]] static frame copy_of(std::span<const std::byte> bytes);
  /// A heap block whose content is not set. Requires: all of `into` is written before anybody else has the frame.
  [[nodiscard]] static frame uninitialized(std::size_t size_bytes, std::byte*& into);
  [[nodiscard]] static frame adopt(std::vector<std::byte> bytes);

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_.size(); }

  /// A part of this frame with the same owner. What reaches beyond the end is cut off.
  [[nodiscard]] frame slice(std::size_t offset, std::size_t size_bytes) const;

  [[nodiscard]] const std::shared_ptr<const frame_owner>& owner() const noexcept { return owner_; }

private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const frame_owner> owner_;
};

} // namespace troupe
