// The names of a store's objects and processes. Messages carry them between processes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <troupe/base/export.hpp>
#include <troupe/base/salted_hash.hpp>

namespace troupe::store {

/// Names one object for ever. The index is reused after the object is gone. The triple is not reused: a row that has
/// had 2^32 - 1 objects gets no more.
struct object_id {
  std::uint64_t store = 0;      // Random number of the store, never 0 in a real id.
  std::uint32_t index = 0;      // Row of the store's object table.
  std::uint32_t generation = 0; // Counts the objects of that row, from 1.

  friend auto operator<=>(const object_id&, const object_id&) = default;
};

/// Names one attachment of one process to a store. The nonce is fresh and random for each attachment. A process that
/// knows the nonce has opened the very same store, or was told the nonce by a process that has opened it.
struct process_id {
  std::uint32_t slot = 0;  // 0 to 255.
  std::uint64_t nonce = 0; // Never 0 in a real id.

  friend auto operator<=>(const process_id&, const process_id&) = default;
};

/// Identifies the source of which an object is a copy. The code that creates the copies chooses the meaning of the two
/// numbers. A store has at most one object per origin (`object_store::create_once`). All zero: no origin.
struct object_origin {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  [[nodiscard]] bool empty() const noexcept { return (high | low) == 0; }
  friend auto operator<=>(const object_origin&, const object_origin&) = default;
};

/// For example "5f0c2b6e9d1a4470-12-1": store in 16 hexadecimal digits, index, generation.
[[nodiscard]] TROUPE_EXPORT std::string to_string(const object_id& id);

/// For example "3-5f0c2b6e9d1a4470": slot, nonce in 16 hexadecimal digits.
[[nodiscard]] TROUPE_EXPORT std::string to_string(const process_id& id);

} // namespace troupe::store

template <>
struct std::hash<troupe::store::object_id> {
  std::size_t operator()(const troupe::store::object_id& id) const {
    constexpr troupe::detail::salted_hash salted; // Peers choose the ids by which nodes look up objects.
    return salted(salted(id.store) ^ (static_cast<std::uint64_t>(id.index) << 32 | id.generation));
  }
};

template <>
struct std::hash<troupe::store::process_id> {
  std::size_t operator()(const troupe::store::process_id& id) const noexcept {
    return static_cast<std::size_t>(id.nonce ^ id.slot);
  }
};
