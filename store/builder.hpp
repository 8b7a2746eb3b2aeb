// The one way to write an object.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/store/fwd.hpp>
#include <troupe/store/handle.hpp>
#include <troupe/store/object_id.hpp>
#include <troupe/store/store_error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

namespace troupe::store {

/// Writable bytes that become an object when sealed. Dropped unsealed, they are free again. Nobody else can see the
/// object before that: `find` answers `unsealed`.
///
/// Threads: one at a time. After a fork the child's copy is poisoned, as for `handle`.
class TROUPE_EXPORT builder {
public:
  /// For the store's own use: takes over an object in the state `writing` and its hold.
  builder(internal::attachment& attachment, std::uint32_t index, std::uint32_t generation, std::span<std::byte> bytes);
  builder(internal::attachment& attachment, std::uint32_t index, std::uint32_t generation, std::span<std::byte> bytes,
          internal::mapping_ptr own_file, bool grows = false);
  builder(builder&& other) noexcept;
  builder& operator=(builder&& other) noexcept;
  builder(const builder&) = delete;
  builder& operator=(const builder&) = delete;
  ~builder();

  /// The room for the object, 64-byte aligned, with whatever was there before. Must not be touched after seal(); where
  /// the environment says TROUPE_PROTECT_SEALED=1, a write to it then traps if no other object lies in the same page.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

  /// Makes the object smaller: its first `size_bytes` stay. The rest is free for others once sealed.
  /// Requires: `size_bytes` is at most `bytes().size()`; more changes nothing.
  void shrink(std::size_t size_bytes) noexcept;

  /// Of an object that grows (object_store::create_growing): makes sure that its first `size_bytes` can be written. Any
  /// thread, also while another one writes to what was committed before. Fails with `full`, `empty`, `forked`,
  /// `detached` or `system_failure`; it may be tried again.
  [[nodiscard]] std::expected<void, store_error> commit(std::size_t size_bytes);

  /// Says that the writing goes on, for those who look with object_store::progress_of(). Costs one atomic store.
  void note_progress() noexcept;

  /// The object keeps these sealed objects alive too, from now on; they stand behind those that it captures already,
  /// 1,024 at most with them. For who learns only while the bytes come in what they refer to. All or none: fails with
  /// `not_found` or `unsealed` for one of `ids`, `invalid_argument` (too many), `table_full`, `empty` when this builder
  /// was sealed or moved from, `forked` or `busy`; it may be tried again.
  [[nodiscard]] std::expected<void, store_error> capture(std::span<const object_id> ids);

  /// Makes the bytes immutable and visible, with what was never written as it is. Fails as commit() does for an object
  /// that grows, with `empty` when this builder was sealed or moved from, with
  /// `forked`, and, only when it was shrunk, with `busy`; it may be tried again after `busy`.
  [[nodiscard]] std::expected<handle, store_error> seal() &&;

  /// The id that the object will have. All zero when empty.
  [[nodiscard]] object_id id() const noexcept;

private:
  void drop() noexcept;

  internal::attachment* attachment_ = nullptr; // Lives while something of it is held.
  std::uint32_t index_ = 0;
  std::uint32_t generation_ = 0;
  std::span<std::byte> bytes_;
  internal::mapping_ptr own_file_; // Null where the object lies in the store's memory.
  bool shrunk_ = false;
  bool grows_ = false;
  std::atomic<std::size_t> committed_bytes_{0}; // Of an object that grows.
};

} // namespace troupe::store
