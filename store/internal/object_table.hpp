// The mutations of the object table: rows, edges, entries in flight. Each writes truth in an order that recover() can
// read after a kill at any instruction; the order stands in store/format.md.
#pragma once

#include <troupe/store/internal/control_view.hpp>
#include <troupe/store/object_id.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace troupe::store::internal {

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
};

struct creation {
  std::uint64_t size_bytes = 0;
  std::uint32_t metadata_bytes = 0;
  std::span<const object_id> captured; // Their store number is right.
  std::uint32_t slot = 0;
  std::uint32_t pid = 0;
};

/// Who sends what to whom.
struct flight_key {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  process_id from;
  process_id to;
  std::uint64_t channel = 0;
};

/// Requires for every call: the table's lock is held, unless it says otherwise.
class object_table {
public:
  explicit object_table(control_view view) : view_(view) {}

  /// Makes a row in the state `writing`. `hold(index)` must set the creator's holder bit.
  template <class Hold>
  [[nodiscard]] outcome create(const creation& wanted, std::uint32_t& index, Hold hold);

  /// Makes an object in the state `writing` smaller.
  void shrink(std::uint32_t index, std::uint64_t size_bytes);

  /// Whether `id` names a sealed object that something holds. Without the lock the answer may be out of date.
  [[nodiscard]] outcome look_up(const object_id& id) const;

  /// Whether nothing at all keeps the object. Requires: the row is not free.
  [[nodiscard]] bool unreferenced(std::uint32_t index) const;

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

  /// Whether that very process is attached.
  [[nodiscard]] bool is_attached(const process_id& process) const;

private:
  [[nodiscard]] outcome check_room(const creation& wanted) const;
  void fill_row(std::uint32_t index, const creation& wanted, std::uint64_t offset);
  void add_edge(std::uint32_t outer, const object_id& inner);
  void free_row(std::uint32_t index);
  void unchain_flight(std::uint32_t flight);
  [[nodiscard]] std::optional<std::uint64_t> take_extent(const creation& wanted);
  [[nodiscard]] std::uint32_t take_object_row();
  void publish(std::uint32_t index);

  control_view view_;
};

template <class Hold>
outcome object_table::create(const creation& wanted, std::uint32_t& index, Hold hold) {
  if (const auto room = check_room(wanted); room != outcome::done)
    return room;
  const auto offset = take_extent(wanted);
  if (!offset)
    return outcome::no_space;
  index = take_object_row();
  fill_row(index, wanted, *offset);
  hold(index);
  for (const auto& inner : wanted.captured)
    add_edge(index, inner);
  publish(index);
  return outcome::done;
}

} // namespace troupe::store::internal
