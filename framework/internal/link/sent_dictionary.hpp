// The numbers by which a link's messages name their signatures and headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/wire/kept_definitions.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {

/// Numbers signatures and headers for the peer. A packet defines a new one ahead of its first use. The peer keeps all
/// definitions, up to the bounds in kept_definitions.hpp. A definition that exceeds them is not sent.
///
/// Definitions that this node forwards for third nodes are bounded separately, because others choose their number and
/// size. Their bound is a quarter of what a reader accepts. Own and foreign signatures share one sequence of numbers,
/// as do headers.
class sent_dictionary {
public:
  static constexpr std::size_t others_signatures_max = 16'384;
  static constexpr std::size_t others_headers_max = 4'096;
  static constexpr std::size_t others_definition_bytes_max = 4 * 1024 * 1024;

  /// Reserved in what the peer keeps, so that errors and ends of actors always find room.
  static constexpr std::size_t reserved_signatures = 64;
  static constexpr std::size_t reserved_bytes = 64 * 1024;

  struct numbered {
    std::uint64_t number = 0;
    bool is_new = false; // Defined for the peer by this call.
  };

  /// The signature of a message with values of these types. Numbers begin at 0. Returns nullopt if the peer has no room
  /// for it. A `vital` signature may use the reserved room.
  [[nodiscard]] std::optional<numbered> signature(const link_held& held, const std::vector<const type_entry*>& types,
                                                  bool vital, outbox& out);
  /// As signature(), but returns nullopt instead of defining a new one.
  [[nodiscard]] std::optional<std::uint64_t> find_signature(const link_held& held,
                                                            std::span<const type_entry* const> types) const;
  /// The standard header of that family's payloads of that type. Numbers begin at 1. 0: the peer has no room for the
  /// header, so each element has to carry it. After the link's end `out` is null. Then nothing is sent, and the number
  /// stays unused.
  numbered header(const link_held& held, const family& by, const type_entry& type, outbox* out);

  /// Returns true if the signature of a message that is passed on is defined, or there is room to define it.
  [[nodiscard]] bool admits_for_others(const link_held& held, const std::vector<std::string>& aliases) const;
  /// Returns nullopt if the signature is not admitted.
  [[nodiscard]] std::optional<std::uint64_t> signature_for_others(const link_held& held,
                                                                  const std::vector<std::string>& aliases, outbox& out);
  /// Number 0: there is no room for the header, so each element has to carry it.
  numbered header_for_others(const link_held& held, bytes_view header, outbox& out);

  /// Calls `tell` with each definition, as the body of its packet.
  void each(const link_held& held, const std::function<void(packet_kind, byte_vector)>& tell) const;

  /// How many signatures the peer was told, and how many bytes it keeps in all.
  [[nodiscard]] std::uint64_t signatures(const link_held&) const noexcept { return signatures_; }
  [[nodiscard]] std::size_t kept_bytes(const link_held&) const noexcept { return kept_.bytes(); }

private:
  struct types_hash {
    std::size_t operator()(const std::vector<const type_entry*>& types) const noexcept;
  };

  [[nodiscard]] bool has_room(std::size_t reserved_numbers, std::size_t bytes) const;

  std::uint64_t signatures_ = 0; // Own and foreign.
  std::uint64_t headers_ = 0;
  kept_definitions kept_; // Kept by the peer: signatures and headers.
  std::unordered_map<std::vector<const type_entry*>, std::uint64_t, types_hash> own_signatures_;
  std::map<std::pair<const family*, const type_entry*>, std::uint64_t> own_headers_;
  std::map<std::vector<std::string>, std::uint64_t> others_signatures_;
  std::unordered_map<std::string, std::uint64_t> others_headers_; // By the bytes of the header.
  std::size_t others_bytes_ = 0;                                  // Foreign signatures and headers.
};

} // namespace troupe::internal
