// What a thread remembers about types for each link that it sends over.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {

/// What one link knows of one type.
struct known_type {
  static constexpr std::uint64_t unknown_signature = UINT64_MAX;

  std::uint64_t link = 0; // link_core::serial; 0: the slot is empty.
  element_type of = {};
  const type_entry* type = nullptr;
  const family* by = nullptr;    // The family that encoded it last; `header` and `counted_as` belong to it.
  std::uint64_t header = 0;      // 0: not known yet.
  traffic* counted_as = nullptr; // The counters for `by`; null: not known yet, or nothing is counted.
  std::uint64_t signature = unknown_signature; // The signature of a message with one element of this type.
  std::uint32_t plain_skips = 0; // Number of messages that skip the plain way, because the last try failed.

  /// Sets the family that encodes the type from now on. Null: the value is handed over unencoded.
  void encoded_by(const family* now) noexcept {
    if (by == now)
      return;
    by = now;
    header = 0;
    counted_as = nullptr;
  }
};

/// What one link knows of the signature of a message with several elements.
struct known_signature {
  static constexpr std::size_t types_max = 8;

  std::uint64_t link = 0; // As in known_type.
  std::size_t size = 0;
  std::array<const type_entry*, types_max> types = {};
  std::uint64_t number = known_type::unknown_signature;
};

/// Caches what links know of types, so that a message needs neither the registry nor the link's tables.
///
/// Threads: one.
class known_types {
public:
  /// Returns null if the registry does not have the type.
  [[nodiscard]] known_type* find(std::uint64_t link, const element_type& of, const type_registry& types) {
    auto& slot = slots_[(of.hash() + link * 7) % slots_.size()];
    if (slot.link != link || !(slot.of == of)) {
      const auto* type = of.entry_in(types);
      if (type == nullptr)
        return nullptr;
      slot = {.link = link, .of = of, .type = type};
    }
    return &slot;
  }

  /// Returns the slot for messages with elements of these types. Requires: 1 to known_signature::types_max types.
  [[nodiscard]] known_signature& signature(std::uint64_t link, std::span<const type_entry* const> types) {
    auto hash = link;
    for (const auto* type : types)
      hash = hash * 31 + (reinterpret_cast<std::uintptr_t>(type) >> 4);
    auto& slot = signatures_[hash % signatures_.size()];
    if (slot.link != link || !std::ranges::equal(std::span{slot.types}.first(slot.size), types)) {
      slot = {.link = link, .size = types.size()};
      std::ranges::copy(types, slot.types.begin());
    }
    return slot;
  }

private:
  // Indexed by a hash; a new entry replaces the old one.
  std::array<known_type, 64> slots_;
  std::array<known_signature, 64> signatures_;
};

} // namespace troupe::internal
