// The positions of all structures in one process's mapping of the control file.
#pragma once

#include <troupe/store/internal/table/layout.hpp>

#include <atomic>
#include <cassert>
#include <type_traits>

namespace troupe::store::internal {

/// Copies are cheap. Lifetime: valid while the mapping exists.
class control_view {
public:
  control_view() = default;
  explicit control_view(void* base) : base_(static_cast<std::byte*>(base)) {}

  [[nodiscard]] control_header& header() const { return *reinterpret_cast<control_header*>(base_); }

  [[nodiscard]] object_row_entry& object(std::uint32_t index) const {
    return row<object_row_entry>(header().objects, index);
  }

  [[nodiscard]] capture_edge& edge(std::uint32_t index) const { return row<capture_edge>(header().edges, index); }

  [[nodiscard]] flight_entry& flight(std::uint32_t index) const { return row<flight_entry>(header().flights, index); }

  [[nodiscard]] waiter_entry& waiter(std::uint32_t index) const { return row<waiter_entry>(header().waiters, index); }

  [[nodiscard]] spill_file_entry& spill_file(std::uint32_t index) const {
    return row<spill_file_entry>(header().spill_files, index);
  }

  [[nodiscard]] call_site_entry& call_site(std::uint32_t index) const {
    return row<call_site_entry>(header().call_sites, index);
  }

  [[nodiscard]] origin_entry& origin(std::uint32_t index) const { return row<origin_entry>(header().origins, index); }

  /// The first row of that bucket, or no_row.
  [[nodiscard]] std::uint32_t& origin_bucket(std::uint32_t bucket) const {
    assert(bucket < origin_buckets);
    return reinterpret_cast<std::uint32_t*>(base_ + header().origin_buckets_offset)[bucket];
  }

  /// The spill directory; empty: no spilling.
  [[nodiscard]] const char* spill_directory() const {
    return reinterpret_cast<const char*>(base_ + header().spill_directory_offset);
  }

  [[nodiscard]] extent_node& node(std::uint32_t index) const {
    return reinterpret_cast<extent_node*>(base_ + header().nodes_offset)[index];
  }

  [[nodiscard]] std::uint32_t index_of(const extent_node& node) const {
    return static_cast<std::uint32_t>(&node - reinterpret_cast<extent_node*>(base_ + header().nodes_offset));
  }

  [[nodiscard]] hint_words& hints() const { return *reinterpret_cast<hint_words*>(base_ + header().hints_offset); }

  [[nodiscard]] process_slot& slot(std::uint32_t index) const { return header().slots[index]; }

private:
  template <class Row>
  [[nodiscard]] Row& row(const growing_table& table, std::uint32_t index) const {
    assert(index < table.rows_max);
    return reinterpret_cast<Row*>(base_ + table.file_offset)[index];
  }

  std::byte* base_ = nullptr;
};

/// Stores a value that a crash must find in order with the stores before and after it. The compiler keeps the order. A
/// processor may make the stores visible in another order. That does no harm, because all finished instructions of a
/// killed process take effect. Do not use it for decisions between two processes that depend on whose store is seen
/// first.
template <class T>
void store_in_order(std::atomic<T>& where, std::type_identity_t<T> value) {
  where.store(value, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Whether the row's generations are used up. A retired row is never reused once free, so no old id finds a new object.
[[nodiscard]] inline bool is_retired(const object_row_entry& row) {
  return row.generation.load() == generation_max;
}

/// Operations on the bit of one slot. All are sequentially consistent: if two processes clear the last two bits at
/// once, at least one of them must see that no bit is left.
inline void set_bit(slot_bits& bits, std::uint32_t slot) {
  bits[slot / 64].fetch_or(std::uint64_t{1} << slot % 64);
}

/// Like set_bit(). Requires: all other bits are clear, and no other process sets or clears any.
inline void set_only_bit(slot_bits& bits, std::uint32_t slot) {
  store_in_order(bits[slot / 64], std::uint64_t{1} << slot % 64);
}

inline void clear_bit(slot_bits& bits, std::uint32_t slot) {
  bits[slot / 64].fetch_and(~(std::uint64_t{1} << slot % 64));
}

/// Like clear_bit(). Requires: the caller holds the table's lock, without which no bit is set. If the bit is the only
/// one in its word, then no other process changes the word.
inline void clear_bit_locked(slot_bits& bits, std::uint32_t slot) {
  auto& word = bits[slot / 64];
  if (word.load(std::memory_order_relaxed) == std::uint64_t{1} << slot % 64)
    store_in_order(word, 0);
  else
    clear_bit(bits, slot);
}

[[nodiscard]] inline bool has_bit(const slot_bits& bits, std::uint32_t slot) {
  return (bits[slot / 64].load() >> slot % 64 & 1) != 0;
}

[[nodiscard]] inline bool has_any_bit(const slot_bits& bits) {
  auto all = std::uint64_t{0};
  for (const auto& word : bits)
    all |= word.load();
  return all != 0;
}

} // namespace troupe::store::internal
