// Types, as the links that a thread sends over know them.
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

  std::uint64_t link = 0; // link_core::serial; 0: nothing is known here.
  element_type of = {};
  const type_entry* type = nullptr;
  const family* by = nullptr;                  // The family that encoded it last, and whose header it is.
  std::uint64_t header = 0;                    // 0: not known yet.
  traffic* counted_as = nullptr;               // By that family; null: not known yet, or nothing is counted.
  std::uint64_t signature = unknown_signature; // Of a message of one element of this type.
  std::uint32_t plain_skips =
      0; // So many messages with such a value are not tried as plain ones: the last try was lost.

  /// From now on that family encodes it; null: nothing does.
  void encoded_by(const family* now) noexcept {
    if (by == now)
      return;
    by = now;
    header = 0;
    counted_as = nullptr;
  }
};

/// The signature of messages of a few elements, as one link knows it.
struct known_signature {
  static constexpr std::size_t types_max = 8;

  std::uint64_t link = 0; // As in known_type.
  std::size_t size = 0;
  std::array<const type_entry*, types_max> types = {};
  std::uint64_t number = known_type::unknown_signature;
};

/// Remembers what links know of types, so that neither the registry nor a link's tables are asked for each message.
///
/// Threads: one.
class known_types {
public:
  /// Null where the registry does not have the type.
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

  /// Of messages of elements of these types. Requires: 1 to known_signature::types_max of them.
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
  // By a hash; the last one to come stays.
  std::array<known_type, 64> slots_;
  std::array<known_signature, 64> signatures_;
};

} // namespace troupe::internal
