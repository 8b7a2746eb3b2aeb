// The mutations of the object table: rows, edges, entries in flight. Each writes truth in an order that recover() can
// read after a kill at any instruction; the order stands in store/format.md.
#pragma once

#include <troupe/store/internal/table/table_held.hpp>
#include <troupe/store/object_id.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace troupe::store::internal {

inline constexpr auto reclaim_batch = std::uint32_t{64}; // Rows that one create or release looks at on the way.

/// What a call on the table came to; the attachment turns it into an error with a text.
enum class outcome : std::uint8_t {
  done,
  need_objects, // No committed row is free: commit more without the lock and try again.
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
  origin_known, // An object of that origin is there, or being made.
};

/// Where a spilled object's extent lies.
struct spill_place {
  std::uint32_t file = no_row;
  std::uint64_t offset = 0;
  std::uint32_t checksum = 0;
};

struct creation {
  std::uint64_t size_bytes = 0;
  std::uint32_t metadata_bytes = 0;
  std::span<const object_id> captured; // Their store number is right.
  std::uint32_t slot = 0;
  std::uint32_t pid = 0;
  std::uint32_t call_site = 0; // As in the row.
  object_origin origin{};
  bool grows = false; // Its pages are committed as its bytes come.
};

/// Who sends what to whom.
struct flight_key {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  process_id from;
  process_id to;
  std::uint64_t channel = 0;
};

/// Reads what can be read of the table without its lock; then an answer may be out of date.
class table_reader {
public:
  explicit table_reader(control_view view) : view_(view) {}

  /// Whether `id` names a sealed object that something holds.
  [[nodiscard]] outcome look_up(const object_id& id) const;

  /// Whether nothing at all keeps the object. Requires: the row is not free.
  [[nodiscard]] bool unreferenced(std::uint32_t index) const {
    const auto& row = view_.object(index);
    return !has_any_bit(row.holders) && row.captured_by.load() == 0 && row.first_flight.load() == no_row;
  }

  /// Whether that very process is attached.
  [[nodiscard]] bool is_attached(const process_id& process) const {
    return process.slot < slots_max && process.nonce != 0
           && view_.slot(process.slot).state.load() == slot_state::attached
           && view_.slot(process.slot).nonce.load() == process.nonce;
  }

protected:
  control_view view_;
};

/// Changes the table. Its lookups are those of who has the lock, and so are true until that is given back.
class object_table : public table_reader {
public:
  explicit object_table(table_held held) : table_reader(held.view()), held_(held) {}

  using table_reader::look_up;

  /// Makes a row in the state `writing`. `hold(index)` must set the creator's holder bit.
  template <class Hold>
  [[nodiscard]] outcome create(const creation& wanted, std::uint32_t& index, Hold hold);

  /// The same for an object in a spill file of its own, which is not there yet. Needs no room in memory.
  template <class Hold>
  [[nodiscard]] outcome create_in_own_file(const creation& wanted, const process_id& worker, std::uint32_t& index,
                                           Hold hold);

  /// The object of that origin: done when it is sealed, `unsealed` while it is being written, else `not_found`.
  [[nodiscard]] outcome look_up(const object_origin& origin, object_id& found) const;

  /// The first row of the chain that this origin is in.
  [[nodiscard]] std::uint32_t& bucket_of(const object_origin& origin) const;

  /// The row of that origin, or no_row; also where its object is not found any more.
  [[nodiscard]] std::uint32_t find_origin(const object_origin& origin) const;

  /// Has an object in the state `writing` capture these too, all or none: sealed ones, behind those that it captures
  /// already. Requires: together they are at most `captured_max`.
  [[nodiscard]] outcome capture(std::uint32_t index, std::span<const object_id> ids);

  /// How many ids the object captures.
  [[nodiscard]] std::size_t count_captured(std::uint32_t index) const;

  /// Writes them to the beginning of `ids`, in the order in which they were given. Gives how many they are.
  /// Requires: there is room for all; `captured_max` always suffice.
  std::size_t list_captured(std::uint32_t index, std::span<object_id> ids) const;

  /// Makes an object in the state `writing` smaller.
  void shrink(std::uint32_t index, std::uint64_t size_bytes);

  /// Frees hinted rows that nothing keeps, and what they captured; looks at about `rows_max` rows. Gives whether there
  /// are hints left.
  bool reclaim(std::uint32_t rows_max);

  /// Frees the row if nothing keeps it and it is not being written.
  void free_if_unreferenced(std::uint32_t index);

  /// For a row whose writer is dead.
  void free_unfinished(std::uint32_t index);

  [[nodiscard]] outcome add_flight(const flight_key& key, std::uint32_t from_pid);

  /// Whether at least one such handle is in flight: gives the entry's index or no_row.
  [[nodiscard]] std::uint32_t find_flight(const flight_key& key) const;

  /// Takes one handle off an entry. The caller must have set the adopter's holder bit before.
  void take_flight(std::uint32_t flight);

  /// Drops a whole entry, and hints at its object.
  void drop_flight(std::uint32_t flight);

  // -- spilling: object_table_spilling.cpp. `worker` is who does it; nobody else frees the object
  // meanwhile.

  struct victims {
    std::size_t to_write = 0;        // So many stand in `chosen`.
    std::uint64_t evicted_bytes = 0; // Of objects that had a copy on disk already: now they have nothing else.
    std::uint64_t calls_for_all = 1; // So many that find nothing have looked at every object twice.
  };
  /// Fills `chosen` with sealed objects that nobody has pinned, the longest unused first: as many as one file takes.
  /// They and what is evicted at once make about `wanted_bytes`. Looks at a bounded number of objects; what cannot go
  /// counts as used just now, so that the next call looks at others.
  [[nodiscard]] victims choose_victims(std::uint64_t wanted_bytes, std::span<std::uint32_t> chosen);

  /// A walk over what lies in memory, the longest unused first, in several holds of the lock.
  struct walk {
    std::uint32_t at = no_row;
    std::uint64_t looks_left = 0; // In all holds together.
    bool has_begun = false;
    bool spares_used = true; // What was pinned lately stays for the first round.
    bool has_ended = false;
  };
  /// Gives up the memory of objects that nobody has pinned and that have a copy on disk already, which needs no write,
  /// until `wanted_bytes` are free. The order of the others stays. Gives how many bytes that has freed; looks at a
  /// bounded number of objects, so call it until the walk has ended.
  [[nodiscard]] std::uint64_t evict_copied(std::uint64_t wanted_bytes, walk& where);
  /// The same among the half of memory that was unused the longest, or the part of it that one call looks at, and
  /// without what was pinned lately: what is in use stays, though others have to be written for that.
  [[nodiscard]] std::uint64_t evict_old_copied(std::uint64_t wanted_bytes);

  void begin_spill(std::uint32_t index, std::uint32_t worker);
  /// Notes where the copy is and gives the object's memory up, unless somebody has pinned it meanwhile: then false.
  bool end_spill(std::uint32_t index, const spill_place& place);
  void give_up_spill(std::uint32_t index);

  /// Takes room for a spilled object.
  [[nodiscard]] outcome begin_restore(std::uint32_t index, std::uint32_t worker);
  void end_restore(std::uint32_t index); // The copy on disk stays.
  void give_up_restore(std::uint32_t index);

  /// A file that is about to be written; the row is `file`.
  [[nodiscard]] outcome take_spill_file(const process_id& worker, std::uint32_t& file);
  /// It is written; what it holds must be told by end_spill() before the lock is given back.
  void end_spill_file(std::uint32_t file, std::uint64_t size_bytes);
  /// What living processes are writing to disk; 0 when nobody is.
  [[nodiscard]] std::uint64_t bytes_being_spilled() const;
  /// A file that is to be removed, now by `worker`; no_row when there is none.
  [[nodiscard]] std::uint32_t take_file_to_remove(const process_id& worker);
  void end_removal(std::uint32_t file);

  /// The row of that call site plus 1, new where it is not known; 0 when the table is full.
  [[nodiscard]] outcome take_call_site(std::string_view text, std::uint32_t& site);

  // -- waiting for room, in the order of coming

  [[nodiscard]] outcome add_waiter(const process_id& who, std::uint64_t size_bytes, std::int64_t expires_ns,
                                   std::uint32_t& waiter);
  void remove_waiter(std::uint32_t waiter);
  [[nodiscard]] bool anybody_waits() const { return view_.header().waiters.used != view_.header().waiters.free_rows; }
  /// The smallest size that any waiter ahead of `waiter` wants; 0 if no waiter is ahead. For no_row, all waiters are
  /// ahead. Removes the entries of dead processes and the expired ones.
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
