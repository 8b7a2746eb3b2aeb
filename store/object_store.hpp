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

/// What a store has of one origin: one of these, or nothing at all.
struct object_of_origin {
  std::optional<builder> building; // To be written and sealed here: nobody else has it.
  handle sealed;
  object_id being_written; // By another process, or by another builder of this one.
  pid_t writer = 0;        // Who does that.
};

/// Keeps immutable objects in shared memory: one copy per host, read in place by every process of one user. There is
/// no server; any process may be killed at any instruction.
///
/// Threads: every member may be called from any thread.
/// Lifetime: a shared reference to this process's one attachment; a copy is another reference. The last clean close of
/// the last process removes the store.
/// Every call may fail with `busy` (a lock's owner was stopped), `forked` (use after a fork), `detached` (this process
/// has lost its descriptors or locks) or `corrupt`.
/// Layout in memory, and why it survives kills: store/format.md.
class TROUPE_EXPORT object_store {
public:
  /// Opens the store of that name, making it where there is none. Opening it again in the same process gives the same
  /// attachment. Fails with `options_differ`, `layout_mismatch`, `namespace_mismatch`, `denied`, `full`, `table_full`
  /// (too many processes), `invalid_argument` or `system_failure`.
  [[nodiscard]] static std::expected<object_store, store_error> open(const options& options);

  /// Makes room for an object of `size_bytes` (0 is legal). `metadata` is copied and immutable from then on; the
  /// objects in `captured`, at most 1,024, stay as long as the new one does. Waits for room as `full_grace` says, or as
  /// long as `grace`. Fails with `full` (the text carries the numbers), `table_full`, `invalid_argument`, and
  /// `not_found` or `unsealed` for an id in `captured`. Where the environment says TROUPE_RECORD_CALL_SITES=1, the
  /// object's row in the summary says `where` it was made; a store has room for 4,096 such places.
  [[nodiscard]] std::expected<builder, store_error>
  create(std::size_t size_bytes, std::span<const std::byte> metadata = {}, std::span<const object_id> captured = {},
         const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
         const std::source_location& where = std::source_location::current());

  /// Makes room for objects of these sizes, all or none; costs the lock once for every 64 of them. Fails as create()
  /// does, and with `full` at once where all together exceed the store's capacity.
  [[nodiscard]] std::expected<std::vector<builder>, store_error>
  create_all(std::span<const std::size_t> sizes_bytes,
             const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
             const std::source_location& where = std::source_location::current());

  /// Makes room for an object of which the store is to have one only: of all that call this with the same origin one
  /// gets a builder, the others the sealed object, wherever it lies, or the name of what is being written, which they
  /// can wait for with wait_until() and is_being_written(). A builder that is dropped, or whose process dies, frees the
  /// origin, as does the end of the object. Requires: the origin is not empty. Fails as create() does, and with `busy`
  /// when many have begun and given up meanwhile. 65,536 objects can have an origin; what comes then has none, so that
  /// there may be more than one of it.
  [[nodiscard]] std::expected<object_of_origin, store_error>
  create_once(const object_origin& origin, std::size_t size_bytes,
              const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
              const std::source_location& where = std::source_location::current());

  /// The same for an object of which nobody knows whether all of its bytes will come, as that of a peer that has only
  /// said how many they are: its place in the store is taken, and pages, or room on the disk, as builder::commit() asks
  /// for them, also where others lie behind it. An empty origin is none. Fails as create_once() does.
  [[nodiscard]] std::expected<object_of_origin, store_error>
  create_growing(const object_origin& origin, std::size_t size_bytes,
                 const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
                 const std::source_location& where = std::source_location::current());

  /// As create_once() for who makes nothing where there is nothing.
  [[nodiscard]] std::expected<object_of_origin, store_error> find(const object_origin& origin);

  /// Copies `bytes` in and seals them. Fails as create() does.
  [[nodiscard]] std::expected<handle, store_error>
  put(std::span<const std::byte> bytes, std::span<const std::byte> metadata = {},
      std::span<const object_id> captured = {}, const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
      const std::source_location& where = std::source_location::current());

  /// The same for bytes that lie in several places: one object, the parts one after the other.
  [[nodiscard]] std::expected<handle, store_error>
  put(std::span<const std::span<const std::byte>> parts, std::span<const std::byte> metadata = {},
      std::span<const object_id> captured = {}, const std::optional<std::chrono::milliseconds>& grace = std::nullopt,
      const std::source_location& where = std::source_location::current());

  /// Gives a handle to a sealed object. Fails with `not_found`, or `unsealed` while it is still being written. An
  /// object that nothing holds any more is not found, even if nobody has reclaimed it yet.
  [[nodiscard]] std::expected<handle, store_error> find(object_id id);

  /// The same for many, an answer for each in their order; costs the lock once for every 64 of them.
  [[nodiscard]] std::vector<std::expected<handle, store_error>> find_all(std::span<const object_id> ids);

  /// Whether find() would succeed right now.
  [[nodiscard]] bool contains(object_id id) const;

  /// Waits until `how_many` of `ids` are sealed, by whichever process, or the time is over. Gives those that are, in
  /// the order of `ids` and not more than asked for; each only once, however often it is listed. What nothing holds any
  /// more is not there.
  [[nodiscard]] std::expected<std::vector<object_id>, store_error>
  wait(std::span<const object_id> ids, std::size_t how_many, std::chrono::milliseconds timeout);

  /// Whether that object has a builder, which somebody may still seal. Waits for nothing. A process that dies keeps its
  /// builders until it is reaped.
  [[nodiscard]] bool is_being_written(object_id id) const noexcept;

  /// How often that object's builder has said that the writing goes on (builder::note_progress()); nullopt where it has
  /// no builder. Waits for nothing. The same number after a while: the writer waits for something, is stopped, or is
  /// one that never says so.
  [[nodiscard]] std::optional<std::uint32_t> progress_of(object_id id) const noexcept;

  /// Calls `is_so` at once and whenever objects were sealed, dropped or freed, by whichever process, and at least ten
  /// times a second, until it gives true or the time is over. Gives what it gave last. Reaps dead processes meanwhile.
  [[nodiscard]] std::expected<bool, store_error> wait_until(const std::function<bool()>& is_so,
                                                            std::chrono::milliseconds timeout);

  /// Receiver's half of a hand-over: takes one handle that `from` has in flight to this process on `channel`. Fails
  /// with `not_found` when there is none. Works after `from` has died.
  [[nodiscard]] std::expected<handle, store_error> adopt(object_id id, process_id from, std::uint64_t channel);

  /// Drops everything that is in flight between this process and `peer` on `channel`, in both directions. For the end
  /// of a link; `peer` may be dead. What `peer` still sends on that channel is dropped by reap(), so the two must not
  /// use it again. Fails with `busy` or `corrupt` half-way; reap() then does the rest.
  std::expected<void, store_error> abandon(process_id peer, std::uint64_t channel);

  /// Reaps dead processes, reclaims, then lists what is left.
  [[nodiscard]] std::expected<store_summary, store_error> summary(const summary_query& what = {});

  /// The same without the rows: costs the lock once, however many objects there are.
  [[nodiscard]] std::expected<store_summary, store_error> totals() const;

  /// Clears up after processes that died and channels that were abandoned: gives the number of those processes, 0 when
  /// the table's lock is not to be had. Cheap when there is nothing to do.
  std::size_t reap();

  /// Checks the whole table against everything derived from it. Fails with `corrupt` and the first contradiction.
  [[nodiscard]] std::expected<void, store_error> verify() const;

  /// This process's name in the store; travels in a link's handshake.
  [[nodiscard]] process_id self() const noexcept;

  /// Whether `peer` is a live process attached to this very store.
  [[nodiscard]] bool shares_with(process_id peer) const;

  /// What whoever runs the program should know about where the objects lie; empty when all is as it should be.
  [[nodiscard]] std::string notice() const;

  /// The store's random number, `object_id::store` of all its objects.
  [[nodiscard]] std::uint64_t number() const noexcept;

  /// 32 random bytes that whoever has this store open can read and nobody else: a key for sums by which its processes
  /// know what one of them has made. Not for the eyes of peers.
  [[nodiscard]] std::array<std::byte, 32> secret() const noexcept;

private:
  explicit object_store(internal::attachment_ptr attachment);

  internal::attachment_ptr attachment_; // Never null, except after a move.
};

} // namespace troupe::store
