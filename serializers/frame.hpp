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

/// The kind of memory behind a frame, for code that treats some kinds specially. Each kind except `plain` belongs to
/// one class, to which the owner may be cast.
enum class frame_owner_kind : std::uint8_t {
  plain,      ///< Anything else: a heap block, a value, a class of the user.
  compressed, ///< The output of a frame codec (compressed_owner).
  in_process, ///< An object in this process's own memory (heap_bytes).
  in_store,   ///< An object of a store (stored_bytes).
};

/// Keeps a frame's bytes alive and unchanged: a heap block, a store's pin, a value.
class TROUPE_EXPORT frame_owner {
public:
  frame_owner() = default;
  frame_owner(const frame_owner&) = delete;
  frame_owner& operator=(const frame_owner&) = delete;
  virtual ~frame_owner();
  /// Whether other processes that share a store with this process can read the bytes in place.
  [[nodiscard]] virtual bool is_shared() const { return false; }
  /// Classes outside of Troupe must not override this function.
  [[nodiscard]] virtual frame_owner_kind kind() const noexcept { return frame_owner_kind::plain; }
};

/// Immutable bytes with a shared owner. Zero length is legal. A moved-from frame is empty.
///
/// Threads: different threads may use copies at once; a single frame follows the rules of std::shared_ptr.
/// Lifetime: the bytes live as long as any frame of their owner.
class TROUPE_EXPORT frame {
public:
  /// The alignment of the heap blocks of `copy_of` and `uninitialized`, so that arrays of any element type can be
  /// viewed in place.
  static constexpr std::size_t alignment_bytes = 64;

  frame() = default;

  /// Requires: `bytes` stay valid and unchanged while `owner` lives. Without an owner they must stay so for ever
  /// (constants).
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

  /// Copies `bytes` into a heap block.
  [[nodiscard]] static frame copy_of(std::span<const std::byte> bytes);
  /// A heap block with uninitialized content. Requires: the caller writes all of `into` before it shares the frame.
  [[nodiscard]] static frame uninitialized(std::size_t size_bytes, std::byte*& into);
  /// Takes ownership of `bytes` without a copy.
  [[nodiscard]] static frame adopt(std::vector<std::byte> bytes);

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_.size(); }

  /// A part of this frame, with the same owner and without a copy. Cut off at the end of this frame.
  [[nodiscard]] frame slice(std::size_t offset, std::size_t size_bytes) const;

  [[nodiscard]] const std::shared_ptr<const frame_owner>& owner() const noexcept { return owner_; }

private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const frame_owner> owner_;
};

} // namespace troupe
