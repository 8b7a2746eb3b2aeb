// The only way to write an object.
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

/// Writable bytes that become an object when sealed. A builder that is dropped unsealed frees them. Until seal(), no
/// other process can read the object: `find` fails with `unsealed`.
///
/// Threads: one at a time, except for commit().
/// Lifetime: may outlive the `object_store`; the process stays attached until the builder is gone.
/// After a fork, the child's copy is poisoned as for `handle`, and bytes() is not mapped in the child.
/// Failures: in addition to the named ones, those of every call of the store (`object_store`).
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

  /// The room for the object, 64-byte aligned, with arbitrary previous contents. For an object of
  /// object_store::create_growing, only the committed bytes may be touched. No byte may be touched after seal(). If the
  /// environment has TROUPE_PROTECT_SEALED=1, a later write traps unless another object shares the page.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

  /// Shrinks the object to its first `size_bytes`; seal() frees the rest. Requires: `size_bytes` is at most
  /// `bytes().size()`; a larger value changes nothing.
  void shrink(std::size_t size_bytes) noexcept;

  /// For an object of object_store::create_growing: makes its first `size_bytes` writable. Does nothing for other
  /// objects, and for bytes that are already committed. May be called from any thread, even while another thread writes
  /// to committed bytes. Fails with `full` or `empty`. After a failure, the committed bytes stay writable and the call
  /// may be retried.
  [[nodiscard]] std::expected<void, store_error> commit(std::size_t size_bytes);

  /// Reports progress to callers of object_store::progress_of(). Cheap: no lock, no system call.
  void note_progress() noexcept;

  /// Appends `ids` to the list of objects that this object captures and so keeps alive, all or none. Each must name a
  /// sealed object; an object captures at most 1,024. Intended for writers that learn the ids only from the bytes as
  /// they arrive. Fails with `not_found` or `unsealed` for one of `ids`, `invalid_argument` (too many), `table_full`
  /// (1,048,576 captured ids in the store), `full` (the file system has no room for more captured ids) or `empty`
  /// (sealed or moved from). May be retried.
  [[nodiscard]] std::expected<void, store_error> capture(std::span<const object_id> ids);

  /// Makes the bytes immutable and the object visible to all processes. Bytes never written keep their previous
  /// contents. Fails with `empty` (sealed or moved from), and for a growing object as commit() does. Takes the table's
  /// lock only for a shrunk object, so only then can it fail with `busy`. After a failure the builder is unchanged and
  /// seal() may be retried.
  [[nodiscard]] std::expected<handle, store_error> seal() &&;

  /// The id that the object will have once sealed. All zero when empty.
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
