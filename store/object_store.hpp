// The shared store of immutable objects. Start reading here.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/store/builder.hpp>
#include <troupe/store/fwd.hpp>
#include <troupe/store/handle.hpp>
#include <troupe/store/object_id.hpp>
#include <troupe/store/options.hpp>
#include <troupe/store/store_error.hpp>
#include <troupe/store/summary.hpp>

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace troupe::store {

/// What a store has for one origin: at most one of `building`, `sealed` and `being_written` is set.
struct object_of_origin {
  std::optional<builder> building; // For this caller alone to write and seal.
  handle sealed;
  object_id being_written; // Set while another process, or another builder of this process, writes the object.
  pid_t writer = 0;        // The process that writes it.
};

/// Keeps immutable objects in shared memory: one copy per host, read in place by every process of one user. There is
/// no server; any process may be killed at any instruction.
///
/// Threads: every member may be called from any thread.
/// Lifetime: a shared reference to this process's one attachment; a copy is another reference. When the last process
/// closes the store cleanly, the store is removed.
/// Every call may fail with `busy` (the owner of a lock is stopped), `forked` (use after a fork), `detached` (this
/// process has lost its descriptors or locks) or `corrupt`.
/// Layout in memory, and why it survives kills: store/format.md.
class TROUPE_EXPORT object_store {
public:
  /// Opens the store `options.name`, creating it if none exists. Opening it again in the same process returns the same
  /// attachment. Fails with `options_differ`, `layout_mismatch`, `namespace_mismatch`, `denied`, `full`, `table_full`
  /// (too many processes), `invalid_argument` or `system_failure`.
  [[nodiscard]] static std::expected<object_store, store_error> open(const options& options);

  /// Allocates an object of `size_bytes` (0 is legal). `metadata` is copied and is immutable from then on. The new
  /// object keeps the objects in `captured`, at most 1,024, alive. If the store is full, waits for room for `grace`, by
  /// default `options::full_grace`. Fails with `full` (the text carries the numbers), `table_full`, `invalid_argument`,
  /// and with `not_found` or `unsealed` for an id in `captured`. If the environment has TROUPE_RECORD_CALL_SITES=1, the
  /// object's row in the summary shows `where`; a store records at most 4,096 such places.
  [[nodiscard]] std::expected<builder, store_error>
  create(std::size_t size_bytes, std::span<const std::byte> metadata = {}, std::span<const object_id> captured = {},
         const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
         const std::source_location& where = std::source_location::current());

  /// Allocates objects of these sizes, all or none. Takes the lock once for every 64 objects. Fails as create() does,
  /// and with `full` at once if all together exceed the store's capacity.
  [[nodiscard]] std::expected<std::vector<builder>, store_error>
  create_all(std::span<const std::size_t> sizes_bytes,
             const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
             const std::source_location& where = std::source_location::current());

  /// Allocates an object that the store has only once. Of all callers that pass the same origin, one gets a builder.
  /// The others get the sealed object, in memory or on disk, or the id of the object that is being written; they can
  /// wait for it with wait_until() and is_being_written(). The origin is free again when its builder is dropped, its
  /// writer dies or its object ends. Requires: the origin is not empty. Fails as create() does, and with `busy` if many
  /// other writers began and gave up meanwhile. At most 65,536 objects can have an origin; objects beyond that are
  /// created without one and may exist several times.
  [[nodiscard]] std::expected<object_of_origin, store_error>
  create_once(const object_origin& origin, std::size_t size_bytes,
              const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
              const std::source_location& where = std::source_location::current());

  /// Like create_once(), for an object of which some bytes may never arrive, for example because only a peer states its
  /// size. Reserves the object's place in the store now; builder::commit() takes the memory pages, or the room on
  /// disk, as the bytes arrive, even if other objects lie behind it. An empty `origin` means none. Fails as
  /// create_once() does.
  [[nodiscard]] std::expected<object_of_origin, store_error>
  create_growing(const object_origin& origin, std::size_t size_bytes,
                 const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
                 const std::source_location& where = std::source_location::current());

  /// Like create_once(), but creates nothing: returns the sealed object, the id of the one being written, or an empty
  /// result.
  [[nodiscard]] std::expected<object_of_origin, store_error> find(const object_origin& origin);

  /// Copies `bytes` in and seals them. Fails as create() does.
  [[nodiscard]] std::expected<handle, store_error>
  put(std::span<const std::byte> bytes, std::span<const std::byte> metadata = {},
      std::span<const object_id> captured = {}, const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
      const std::source_location& where = std::source_location::current());

  /// Copies all `parts`, one after the other, into one object and seals it. Fails as create() does.
  [[nodiscard]] std::expected<handle, store_error>
  put(std::span<const std::span<const std::byte>> parts, std::span<const std::byte> metadata = {},
      std::span<const object_id> captured = {}, const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
      const std::source_location& where = std::source_location::current());

  /// Returns a handle to a sealed object. Fails with `not_found`, or with `unsealed` while the object is still being
  /// written. An object without holders is not found, even before it is reclaimed.
  [[nodiscard]] std::expected<handle, store_error> find(object_id id);

  /// Like find() for each of `ids`; the results are in the same order. Takes the lock once for every 64 ids.
  [[nodiscard]] std::vector<std::expected<handle, store_error>> find_all(std::span<const object_id> ids);

  /// Whether find() would succeed at this moment.
  [[nodiscard]] bool contains(object_id id) const;

  /// Waits until `how_many` of `ids` are sealed, by any process, or until `timeout`. Returns the sealed ones in the
  /// order of `ids`, at most `how_many`, each only once even if `ids` lists it several times. Objects without holders
  /// do not count.
  [[nodiscard]] std::expected<std::vector<object_id>, store_error>
  wait(std::span<const object_id> ids, std::size_t how_many, std::chrono::milliseconds timeout);

  /// Whether the object still has a builder that may seal it. Never blocks. The builders of a dead process count until
  /// that process is reaped.
  [[nodiscard]] bool is_being_written(object_id id) const noexcept;

  /// How many times the object's builder has called builder::note_progress(); nullopt if the object has no builder.
  /// Never blocks. If the number does not change for a while, the writer is waiting, is stopped, or never reports
  /// progress.
  [[nodiscard]] std::optional<std::uint32_t> progress_of(object_id id) const noexcept;

  /// Calls `is_so` once immediately, then whenever any process seals, drops or frees objects, and at least ten times a
  /// second, until it returns true or `timeout` has passed. Returns its last result. Reaps dead processes meanwhile.
  [[nodiscard]] std::expected<bool, store_error> wait_until(const std::function<bool()>& is_so,
                                                            std::chrono::milliseconds timeout);

  /// The receiver's half of a hand-over: adopts one handle that `from` has in flight to this process on `channel`
  /// (handle::hand_over says what a channel is). Works even after `from` has died. Fails with `not_found` if the object
  /// or such a handle does not exist, or as every call may fail.
  [[nodiscard]] std::expected<handle, store_error> adopt(object_id id, process_id from, std::uint64_t channel);

  /// Drops all handles in flight between this process and `peer` on `channel`, in both directions. Intended for the end
  /// of a link; `peer` may be dead. reap() drops whatever `peer` still sends on the channel, so the two processes must
  /// not use that channel again. May fail half-way with `busy` or `corrupt`; reap() then completes it.
  std::expected<void, store_error> abandon(process_id peer, std::uint64_t channel);

  /// Reaps dead processes, reclaims, then lists the remaining objects.
  [[nodiscard]] std::expected<store_summary, store_error> summary(const summary_query& what = {});

  /// Like summary(), without rows. Takes the lock once, however many objects there are.
  [[nodiscard]] std::expected<store_summary, store_error> totals() const;

  /// Cleans up after dead processes and abandoned channels. Returns the number of dead processes, 0 if the table's lock
  /// cannot be acquired. Cheap if there is nothing to do.
  std::size_t reap();

  /// Checks the whole table against all data derived from it. Fails with `corrupt`; the text names the first
  /// contradiction.
  [[nodiscard]] std::expected<void, store_error> verify() const;

  /// This process's id in the store; sent in a link's handshake.
  [[nodiscard]] process_id self() const noexcept;

  /// Whether `peer` is a live process attached to this very store.
  [[nodiscard]] bool shares_with(process_id peer) const;

  /// A message for the operator, about the location of the objects or about a store of another layout version beside
  /// this one; empty if all is well.
  [[nodiscard]] std::string notice() const;

  /// The store's random number: the `object_id::store` of all its objects.
  [[nodiscard]] std::uint64_t number() const noexcept;

  /// 32 random bytes that only processes with this store open can read: a key for message authentication codes, by
  /// which these processes recognize data that one of them has made. Must not be shown to peers.
  [[nodiscard]] std::array<std::byte, 32> secret() const noexcept;

private:
  explicit object_store(internal::attachment_ptr attachment);

  internal::attachment_ptr attachment_; // Null only after a move.
};

} // namespace troupe::store
