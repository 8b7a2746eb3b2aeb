// Counted references to sealed objects, and views of their bytes.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/store/fwd.hpp>
#include <troupe/store/hold_reason.hpp>
#include <troupe/store/object_id.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace troupe::store {

/// A counted reference that keeps one sealed object alive. Copying and dropping it costs a few atomic operations and
/// never waits for the store's lock.
///
/// Threads: different handles may be used from any threads; a single handle follows the rules of `std::shared_ptr`.
/// Lifetime: may outlive the `object_store`; the process stays attached until its last handle is gone.
/// After a fork the child's copies are poisoned: calls fail with `store_errc::forked`, destructors do nothing.
class TROUPE_EXPORT handle {
public:
  /// An empty handle, equal to a moved-from one.
  handle() = default;
  handle(const handle& other);
  handle(handle&& other) noexcept
      : attachment_(std::exchange(other.attachment_, nullptr)),
        index_(other.index_),
        generation_(other.generation_),
        why_(other.why_) {}
  handle& operator=(const handle& other);
  handle& operator=(handle&& other) noexcept;
  ~handle();

  /// For the store's own use: takes over one hold that the attachment has already counted for `why`.
  handle(internal::attachment& attachment, std::uint32_t index, std::uint32_t generation,
         hold_reason why = hold_reason::reference) noexcept
      : attachment_(&attachment), index_(index), generation_(generation), why_(why) {}

  /// Returns another hold of the object, counted for `why` in the rows of object_store::summary(). A moved handle keeps
  /// its reason; a copy counts as `reference`. `unfinished` is reserved for builders and counts as `reference` here.
  [[nodiscard]] handle held_for(hold_reason why) const&;
  /// Moves this hold; it counts for `why` from now on.
  [[nodiscard]] handle held_for(hold_reason why) &&;

  [[nodiscard]] bool empty() const noexcept { return attachment_ == nullptr; }

  /// All zero when empty.
  [[nodiscard]] object_id id() const noexcept;

  /// Excludes the metadata. 0 when empty.
  [[nodiscard]] std::size_t size_bytes() const noexcept;

  /// The ids that the object captures, in the order its creator gave them; an id given twice appears twice. All of them
  /// are alive as long as this object is. Takes the lock once. Fails with `empty`, `forked` or `busy`.
  [[nodiscard]] std::expected<std::vector<object_id>, store_error> captured() const;

  /// Like captured(), but returns handles. Takes the lock once more for every 64 of them.
  [[nodiscard]] std::expected<std::vector<handle>, store_error> hold_captured() const;

  /// Returns a view of the bytes, in place. An object on disk is restored first, which may spill others. If the disk
  /// takes no more data and no object in memory can be evicted, the object is read from its place on disk. Waits for
  /// room as `full_grace` says, but at most `within`; with 0, tries once. If another process is restoring the object,
  /// waits for it: `within`, but at least 200 ms and at most 30 s. The time of this process's own disk reads and writes
  /// is not bounded, but `within` bounds the retries on a full or failing disk. Fails with `empty` or `forked`; when
  /// restoring, with `damaged` (the file is gone or changed: only this object is lost), `full` (no room in time),
  /// `busy` (also if another process did not restore the object in time) or `system_failure`.
  [[nodiscard]] std::expected<store::pin, store_error>
  pin(const std::optional<std::chrono::milliseconds>& within = std::nullopt) const;

  /// Whether pin() would have to restore the object from disk at this moment. Never blocks. False when empty.
  [[nodiscard]] bool is_on_disk() const noexcept;

  /// Counts one handle in flight to `to`. This keeps the object alive until `to` adopts the handle
  /// (object_store::adopt) or dies, or until either process abandons `channel`. A channel is a number on which both
  /// processes have agreed, such as that of a connection between them. It lets object_store::abandon drop all handles
  /// of that connection at once. Call this function before the message with the id can reach `to`. `to` may be this
  /// process itself.
  /// Fails with `peer_gone`, `table_full`, `busy`, `empty` or `forked`; then nothing is counted.
  [[nodiscard]] std::expected<void, store_error> hand_over(process_id to, std::uint64_t channel) const;

  /// Undoes one hand_over() whose message was never sent. Does nothing if no such handle is in flight. If the store's
  /// lock cannot be acquired, the count stays until the channel is abandoned.
  void take_back(process_id to, std::uint64_t channel) const;

private:
  friend class store::pin;
  void release() noexcept;

  internal::attachment* attachment_ = nullptr; // The hold keeps it alive.
  std::uint32_t index_ = 0;
  std::uint32_t generation_ = 0;
  hold_reason why_ = hold_reason::reference;
};

/// A mapped, read-only view of one object. It keeps the object alive and its bytes in place. Writing through it traps.
/// Copies are cheap. Threads, lifetime and fork: as for `handle`.
class TROUPE_EXPORT pin {
public:
  /// An empty pin: no bytes.
  pin() = default;
  pin(const pin& other);
  pin(pin&& other) noexcept;
  pin& operator=(const pin& other);
  pin& operator=(pin&& other) noexcept;
  ~pin();

  /// For the store's own use: takes over one pin that the attachment has already counted.
  pin(const handle& object, internal::mapping_ptr mapping);

  [[nodiscard]] bool empty() const noexcept { return object_.empty(); }

  /// The object's bytes, 64-byte aligned.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// The metadata given to create(), 64-byte aligned.
  [[nodiscard]] std::span<const std::byte> metadata() const noexcept { return metadata_; }

  [[nodiscard]] object_id id() const noexcept { return object_.id(); }

  /// The handle that this view holds.
  [[nodiscard]] const handle& object() const noexcept { return object_; }

private:
  void release() noexcept;

  handle object_;
  internal::mapping_ptr mapping_; // Null if the object lies in the store's memory.
  std::span<const std::byte> bytes_;
  std::span<const std::byte> metadata_;
};

} // namespace troupe::store
