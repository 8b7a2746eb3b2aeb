// The mutations of the object table: rows, edges, entries in flight. Each mutation writes the truth in an order that
// recover() can read after a kill at any instruction. store/format.md states that order.
#pragma once

#include <troupe/store/internal/table/table_held.hpp>
#include <troupe/store/object_id.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace troupe::store::internal {

inline constexpr auto reclaim_batch = std::uint32_t{64}; // Rows that one create or release inspects in passing.

/// The result of a call on the table. The attachment turns it into an error with a text.
enum class outcome : std::uint8_t {
  done,
  need_objects, // No committed row is free: commit more without the lock and retry.
  need_edges,
  need_flights,
  no_space, // No free extent is long enough.
  not_found,
  unsealed,
  peer_gone,
  need_spill_files,
  need_waiters,
  need_call_sites,
  need_origins,
  origin_known, // An object of that origin exists or is being written.
};

/// Where the extent of a spilled object lies.
struct spill_place {
  std::uint32_t file = no_row;
  std::uint64_t offset = 0;
  std::uint32_t checksum = 0;
};

struct creation {
  std::uint64_t size_bytes = 0;
  std::uint32_t metadata_bytes = 0;
  std::span<const object_id> captured; // Requires: ids of this store.
  std::uint32_t slot = 0;
  std::uint32_t pid = 0;
  std::uint32_t call_site = 0; // As in the object's row.
  object_origin origin{};
  bool grows = false; // The pages are committed as the bytes arrive.
};

/// The object, sender, receiver and channel of handles in flight.
struct flight_key {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  process_id from;
  process_id to;
  std::uint64_t channel = 0;
};

/// Reads the parts of the table that can be read without its lock. Without the lock, an answer may be out of date.
class table_reader {
public:
  explicit table_reader(control_view view) : view_(view) {}

  /// Returns `done` if `id` names a sealed object that something keeps alive; else `unsealed` or `not_found`.
  [[nodiscard]] outcome look_up(const object_id& id) const;

  /// Whether nothing keeps the object alive. Requires: the row is not free.
  [[nodiscard]] bool unreferenced(std::uint32_t index) const {
    const auto& row = view_.object(index);
    return !has_any_bit(row.holders) && row.captured_by.load() == 0 && row.first_flight.load() == no_row;
  }

  /// Whether this very process is attached.
  [[nodiscard]] bool is_attached(const process_id& process) const {
    return process.slot < slots_max && process.nonce != 0
           && view_.slot(process.slot).state.load() == slot_state::attached
           && view_.slot(process.slot).nonce.load() == process.nonce;
  }

protected:
  control_view view_;
};

/// Changes the table. Its lookups run under the lock, so their results stay true until the lock is released.
class object_table : public table_reader {
public:
  explicit object_table(table_held held) : table_reader(held.view()), held_(held) {}

  using table_reader::look_up;

  /// Makes a row in the state `writing`. `hold(index)` must set the creator's holder bit.
  template <class Hold>
  [[nodiscard]] outcome create(const creation& wanted, std::uint32_t& index, Hold hold);

  /// Like create(), for an object in its own spill file, which does not exist yet. Needs no room in memory.
  template <class Hold>
  [[nodiscard]] outcome create_in_own_file(const creation& wanted, const process_id& worker, std::uint32_t& index,
                                           Hold hold);

  /// Looks up the object of that origin. Returns `done` if it is sealed, `unsealed` while it is being written, else
  /// `not_found`.
  [[nodiscard]] outcome look_up(const object_origin& origin, object_id& found) const;

  /// The first row of the chain that contains this origin.
  [[nodiscard]] std::uint32_t& bucket_of(const object_origin& origin) const;

  /// The row of that origin, or no_row. Returns the row even if its object can no longer be found.
  [[nodiscard]] std::uint32_t find_origin(const object_origin& origin) const;

  /// Makes an object in the state `writing` capture `ids` as well, all or none, behind those that it captures already.
  /// Fails unless all `ids` are sealed. Requires: together there are at most `captured_max`.
  [[nodiscard]] outcome capture(std::uint32_t index, std::span<const object_id> ids);

  /// How many ids the object captures.
  [[nodiscard]] std::size_t count_captured(std::uint32_t index) const;

  /// Writes the captured ids to the beginning of `ids`, in the order in which they were given. Returns their number.
  /// Requires: `ids` has room for all; `captured_max` always suffice.
  std::size_t list_captured(std::uint32_t index, std::span<object_id> ids) const;

  /// Shrinks an object in the state `writing`.
  void shrink(std::uint32_t index, std::uint64_t size_bytes);

  /// Frees hinted rows that nothing keeps alive, and gives hints at the rows that they captured. Inspects about
  /// `rows_max` rows. Returns whether hints are left.
  bool reclaim(std::uint32_t rows_max);

  /// Frees the row if nothing keeps it alive and it is not in use by a writer or mover.
  void free_if_unreferenced(std::uint32_t index);

  /// Frees a row whose writer is dead.
  void free_unfinished(std::uint32_t index);

  [[nodiscard]] outcome add_flight(const flight_key& key, std::uint32_t from_pid);

  /// Returns the entry with at least one such handle in flight, or no_row.
  [[nodiscard]] std::uint32_t find_flight(const flight_key& key) const;

  /// Takes one handle off an entry. Requires: the adopter's holder bit is already set.
  void take_flight(std::uint32_t flight);

  /// Drops an entry with all its handles, and hints at its object.
  void drop_flight(std::uint32_t flight);

  // -- spilling: object_table_spilling.cpp. `worker` is the process that moves the object. No other process frees the
  // object meanwhile.

  struct victims {
    std::size_t to_write = 0;        // Number of objects in `chosen`.
    std::uint64_t evicted_bytes = 0; // Freed from objects that had a copy on disk; only the copy is left.
    std::uint64_t calls_for_all = 1; // After so many calls without result, every object was inspected twice.
  };
  /// Fills `chosen` with sealed, unpinned objects, least recently used first, up to the content of one file. Together
  /// with the objects that are evicted at once, they have about `wanted_bytes`. Inspects a limited number of objects.
  /// Objects that cannot be spilled count as just used, so that the next call inspects others.
  [[nodiscard]] victims choose_victims(std::uint64_t wanted_bytes, std::span<std::uint32_t> chosen);

  /// A walk over the objects in memory, least recently used first, in several holds of the lock.
  struct walk {
    std::uint32_t at = no_row;
    std::uint64_t looks_left = 0; // Of all holds together.
    bool has_begun = false;
    bool spares_used = true; // The first round spares recently pinned objects.
    bool has_ended = false;
  };
  /// Frees the memory of unpinned objects that have a copy on disk, until `wanted_bytes` are free. This needs no write.
  /// The order of the other objects stays. Returns the bytes freed. Inspects a limited number of objects, so call it
  /// until the walk has ended.
  [[nodiscard]] std::uint64_t evict_copied(std::uint64_t wanted_bytes, walk& where);
  /// Like evict_copied(), but considers only the least recently used half of memory, or the part of it that one call
  /// inspects, and no recently pinned objects. Thus objects in use stay in memory, even if other objects must be
  /// written for that.
  [[nodiscard]] std::uint64_t evict_old_copied(std::uint64_t wanted_bytes);

  void begin_spill(std::uint32_t index, std::uint32_t worker);
  /// Records the place of the copy and evicts the object. If a process has pinned the object meanwhile, the object
  /// stays in memory and the call returns false.
  bool end_spill(std::uint32_t index, const spill_place& place);
  void give_up_spill(std::uint32_t index);

  /// Allocates memory for a spilled object.
  [[nodiscard]] outcome begin_restore(std::uint32_t index, std::uint32_t worker);
  void end_restore(std::uint32_t index); // The copy on disk stays.
  void give_up_restore(std::uint32_t index);

  /// Takes the row `file` for a file that is about to be written.
  [[nodiscard]] outcome take_spill_file(const process_id& worker, std::uint32_t& file);
  /// Marks the file as written. end_spill() must record its objects before the lock is released.
  void end_spill_file(std::uint32_t file, std::uint64_t size_bytes);
  /// The number of bytes that living processes are writing to disk.
  [[nodiscard]] std::uint64_t bytes_being_spilled() const;
  /// Gives `worker` a file to remove; returns no_row if there is none.
  [[nodiscard]] std::uint32_t take_file_to_remove(const process_id& worker);
  void end_removal(std::uint32_t file);

  /// Sets `site` to the row of that call site plus 1, adding a row if needed; 0 if the table is full.
  [[nodiscard]] outcome take_call_site(std::string_view text, std::uint32_t& site);

  // -- waiting for room, in order of arrival

  [[nodiscard]] outcome add_waiter(const process_id& who, std::uint64_t size_bytes, std::int64_t expires_ns,
                                   std::uint32_t& waiter);
  void remove_waiter(std::uint32_t waiter);
  [[nodiscard]] bool anybody_waits() const { return view_.header().waiters.used != view_.header().waiters.free_rows; }
  /// The smallest size that any waiter ahead of `waiter` wants; 0 if no waiter is ahead. For no_row, all waiters are
  /// ahead. Removes the entries of dead processes and expired entries.
  [[nodiscard]] std::uint64_t wanted_ahead(std::uint32_t waiter, std::int64_t now_ns);

private:
  [[nodiscard]] outcome check_room(const creation& wanted) const;
  [[nodiscard]] outcome check_captured(std::span<const object_id> ids) const;
  void fill_row(std::uint32_t index, const creation& wanted, std::uint64_t offset);
  [[nodiscard]] outcome check_origin(const object_origin& origin) const;
  void give_origin(std::uint32_t index, const object_origin& origin);
  void drop_origin(std::uint32_t index);
  void add_edges(std::uint32_t outer, std::span<const object_id> inner);
  void add_edge(std::uint32_t outer, const object_id& inner, std::uint32_t position);
  void free_row(std::uint32_t index);
  void unchain_flight(std::uint32_t flight);
  [[nodiscard]] std::optional<std::uint64_t> take_extent(std::uint64_t length);
  void return_extent(std::uint32_t index);
  void leave_spill_file(const object_row_entry& row);
  void give_own_file(std::uint32_t index, std::uint32_t file);
  void uncount_spilled(const object_row_entry& row);
  [[nodiscard]] bool evict(std::uint32_t index);
  [[nodiscard]] std::uint32_t take_object_row();
  void publish(std::uint32_t index);

  table_held held_;
};

template <class Hold>
outcome object_table::create(const creation& wanted, std::uint32_t& index, Hold hold) {
  if (const auto room = check_room(wanted); room != outcome::done)
    return room;
  const auto offset = take_extent(extent_length(wanted.size_bytes, wanted.metadata_bytes));
  if (!offset)
    return outcome::no_space;
  index = take_object_row();
  fill_row(index, wanted, *offset);
  hold(index);
  add_edges(index, wanted.captured);
  give_origin(index, wanted.origin);
  publish(index);
  return outcome::done;
}

template <class Hold>
outcome object_table::create_in_own_file(const creation& wanted, const process_id& worker, std::uint32_t& index,
                                         Hold hold) {
  if (const auto room = check_room(wanted); room != outcome::done)
    return room;
  auto file = no_row;
  if (const auto taken = take_spill_file(worker, file); taken != outcome::done)
    return taken;
  index = take_object_row();
  fill_row(index, wanted, 0);
  hold(index);
  add_edges(index, wanted.captured);
  give_origin(index, wanted.origin);
  give_own_file(index, file);
  publish(index);
  return outcome::done;
}

} // namespace troupe::store::internal
