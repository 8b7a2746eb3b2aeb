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
/// Threads: different handles may be used from any threads; one handle like a `std::shared_ptr`.
/// Lifetime: it may outlive the `object_store` variable; the process stays attached until the last one is gone.
/// After a fork the child's copies are poisoned: calls fail with `store_errc::forked`, destructors do nothing.
class TROUPE_EXPORT handle {
public:
  /// An empty handle, like one that was moved from.
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

  /// For the store's own use: takes over one hold that the attachment has already counted for that reason.
  handle(internal::attachment& attachment, std::uint32_t index, std::uint32_t generation,
         hold_reason why = hold_reason::reference) noexcept
      : attachment_(&attachment), index_(index), generation_(generation), why_(why) {}

  /// One more hold of the object, counted for that reason in the rows of object_store::summary(). What is moved keeps
  /// its reason, a copy is a `reference`, and so is what is asked to be `unfinished`, which only builders' holds are.
  [[nodiscard]] handle held_for(hold_reason why) const&;
  /// The same hold, counted for that reason from now on.
  [[nodiscard]] handle held_for(hold_reason why) &&;

  [[nodiscard]] bool empty() const noexcept { return attachment_ == nullptr; }

  /// All zero when empty.
  [[nodiscard]] object_id id() const noexcept;

  /// Without the metadata. 0 when empty.
  [[nodiscard]] std::size_t size_bytes() const noexcept;

  /// The ids that the object captures, in the order in which its maker gave them; one that was given more than once
  /// stands there as often. All are alive as long as this object is. Costs the lock once. Fails with `empty`, `forked`
  /// or `busy`.
  [[nodiscard]] std::expected<std::vector<object_id>, store_error> captured() const;

  /// The same as handles. Costs the lock once more for every 64 of them.
  [[nodiscard]] std::expected<std::vector<handle>, store_error> hold_captured() const;

  /// Gives a view of the bytes, in place. An object on disk is brought back first, for which others may have to go
  /// there. If the disk takes no more and no other object in memory has a copy there, the object is read where it lies
  /// on the disk. It waits for room as `full_grace` says, 30 s for another process that is bringing it back, and for
  /// neither longer than `within`: with 0 it tries once, and waits 200 ms at most for such a process. Reading and
  /// writing by this process takes what it takes, but a disk that is full or fails is tried again in that time only.
  /// Fails with `empty` or `forked`; when bringing it back, with `damaged` (the file is gone or changed: this object is
  /// lost, no other is), `full` (no room came free in time), `busy` (also when another process did not bring it back in
  /// time) or `system_failure`.
  [[nodiscard]] std::expected<store::pin, store_error>
  pin(const std::optional<std::chrono::milliseconds>& within = std::nullopt) const;

  /// Whether pin() would have to bring it back from disk right now. Waits for nothing. False when empty.
  [[nodiscard]] bool is_on_disk() const noexcept;

  /// Counts one handle in flight to `to`, which keeps the object alive until `to` adopts it, dies, or either side
  /// abandons `channel`. Call it before the message is committed. `to` may be this process itself.
  /// Fails with `peer_gone`, `table_full`, `busy`, `empty` or `forked`; nothing is counted then.
  [[nodiscard]] std::expected<void, store_error> hand_over(process_id to, std::uint64_t channel) const;

  /// Undoes one hand_over() whose message was never sent. Does nothing where none is in flight any more; when the
  /// store's lock cannot be had, the count stays until the channel is abandoned.
  void take_back(process_id to, std::uint64_t channel) const;

private:
  friend class store::pin;
  void release() noexcept;

  internal::attachment* attachment_ = nullptr; // Lives while something of it is held.
  std::uint32_t index_ = 0;
  std::uint32_t generation_ = 0;
  hold_reason why_ = hold_reason::reference;
};

/// A mapped, read-only view of one object: while it lives, the object lives and its bytes do not move. Writing through
/// it traps. Copies are cheap. Threads, lifetime and fork: as for `handle`.
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

  /// What the creator gave along, 64-byte aligned.
  [[nodiscard]] std::span<const std::byte> metadata() const noexcept { return metadata_; }

  [[nodiscard]] object_id id() const noexcept { return object_.id(); }

  /// The handle that this view holds.
  [[nodiscard]] const handle& object() const noexcept { return object_; }

private:
  void release() noexcept;

  handle object_;
  internal::mapping_ptr mapping_; // Null where the object lies in the store's memory.
  std::span<const std::byte> bytes_;
  std::span<const std::byte> metadata_;
};

} // namespace troupe::store
