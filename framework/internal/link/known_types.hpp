// Types, as the links that a thread sends over know them.
#pragma once

#include <array>
#include <cstdint>

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

  /// From now on that family encodes it; null: nothing does.
  void encoded_by(const family* now) noexcept {
    if (by == now)
      return;
    by = now;
    header = 0;
    counted_as = nullptr;
  }
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

private:
  std::array<known_type, 64> slots_; // By a hash; the last one to come stays.
};

} // namespace troupe::internal
