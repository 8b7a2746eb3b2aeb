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

/// Writable bytes that become an object when sealed. A builder dropped unsealed frees them. Until seal(), no other
/// process sees the object: `find` fails with `unsealed`.
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

  /// The room for the object, 64-byte aligned, with arbitrary previous contents. Must not be touched after seal(). If
  /// the environment has TROUPE_PROTECT_SEALED=1, a later write traps unless another object shares the page.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

  /// Shrinks the object to its first `size_bytes`; the rest is free for others once sealed. Requires: `size_bytes` is
  /// at most `bytes().size()`; a larger value changes nothing.
  void shrink(std::size_t size_bytes) noexcept;

  /// For an object of object_store::create_growing: makes its first `size_bytes` writable. May be called from any
  /// thread, also while another thread writes to bytes that are already committed. Fails with `full`, `empty`,
  /// `forked`, `detached` or `system_failure`; may be retried.
  [[nodiscard]] std::expected<void, store_error> commit(std::size_t size_bytes);

  /// Reports progress to callers of object_store::progress_of(). Costs one atomic store.
  void note_progress() noexcept;

  /// Appends `ids`, which must name sealed objects, to the list of objects that this object captures and so keeps
  /// alive; at most 1,024 in all. Intended for writers that learn the ids only from the bytes as they arrive. All or
  /// none. Fails with `not_found` or `unsealed` for one of `ids`, `invalid_argument` (too many), `table_full`, `empty`
  /// (sealed or moved from), `forked` or `busy`; may be retried.
  [[nodiscard]] std::expected<void, store_error> capture(std::span<const object_id> ids);

  /// Makes the bytes immutable and visible; bytes never written keep their previous contents. Fails with `empty`
  /// (sealed or moved from), `forked`, for a growing object as commit() does, and for a shrunk one with `busy`; may be
  /// retried after `busy`.
  [[nodiscard]] std::expected<handle, store_error> seal() &&;

  /// The id that the object will have. All zero when empty.
  [[nodiscard]] object_id id() const noexcept;

private:
  void drop() noexcept;

  internal::attachment* attachment_ = nullptr; // The hold keeps it alive.
  std::uint32_t index_ = 0;
  std::uint32_t generation_ = 0;
  std::span<std::byte> bytes_;
  internal::mapping_ptr own_file_; // Null if the object lies in the store's memory.
  bool shrunk_ = false;
  bool grows_ = false;
  std::atomic<std::size_t> committed_bytes_{0}; // Of an object that grows.
};

} // namespace troupe::store
