// The calls of serialize.hpp without the templates that register types, for code that registers none. All calls may run
// in any number of threads at once.
#pragma once

#include <concepts>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/any_value.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/internal/coding/memory.hpp>
#include <troupe/serializers/payload_bytes.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe {

/// The behavior of serialize() for a value that it cannot encode.
enum class on_error : std::uint8_t {
  raise,   ///< serialize() fails.
  message, ///< The payload carries the error's text, which the receiver gets as the error `sent_as_text`.
};

/// `context` gives the limits and describes the transport. serialize() itself sets its `types`, `families` and
/// `iterate`.
struct serialize_options {
  std::vector<std::string> serializers = {"typed", "msgpack"}; ///< In order of preference.
  troupe::on_error on_error = troupe::on_error::raise;
  troupe::iterate iterate = troupe::iterate::automatic;
  troupe::context context = {};
};

/// `context` gives the limits and describes the transport. deserialize() itself sets its `types` and `families`.
struct deserialize_options {
  std::vector<std::string> deserializers = {"typed", "msgpack"}; ///< The accepted families.
  troupe::context context = {};
};

/// Encodes a value of that entry's type. Fails as serialize() does, except with `unknown_type`.
[[nodiscard]] TROUPE_EXPORT std::expected<payload, serialize_error>
serialize_entry(const type_entry& entry, const void* value, const serialize_options& options,
                const type_registry& types, const family_set& families);
/// Decodes into a default-constructed value of that entry's type, or into memory for a value if the type has no default
/// constructor. After a failure such memory holds no value. Fails as deserialize() does, except with `unknown_type`.
[[nodiscard]] TROUPE_EXPORT std::expected<void, serialize_error>
deserialize_entry(const type_entry& entry, void* target, const payload& from, const deserialize_options& options,
                  const type_registry& types, const family_set& families);

/// Encodes with the first family of the list that supports the type. Fails with `unknown_type` if the type is not
/// registered, and with `unknown_family` if a listed family does not exist. All other failures are handled as
/// `options.on_error` says: `not_supported` (the text names each family's reason), `limit_exceeded`, `codec_failed`,
/// `out_of_band_handle`, and the failures of the types' own codecs.
template <class T>
[[nodiscard]] std::expected<payload, serialize_error>
serialize(const T& value, const serialize_options& options, const type_registry& types, const family_set& families) {
  const auto* entry = types.find<T>();
  if (entry == nullptr)
    return std::unexpected(types.why_not_found(typeid(T)));
  return serialize_entry(*entry, &value, options, types, families);
}

/// Decodes a T. A payload of a family that is not listed is refused before any of it is decoded.
///
/// Fails with `unknown_type` if T is not registered, `unknown_family` if a listed family does not exist,
/// `refused_family`, `type_mismatch` if the payload's alias is not that of T, `layout_mismatch`, `not_supported`,
/// `malformed`, `limit_exceeded`, `sent_as_text`, `out_of_band_handle`, `codec_failed`, and the failures of the types'
/// own codecs.
template <std::move_constructible T>
[[nodiscard]] std::expected<T, serialize_error> deserialize(const payload& from, const deserialize_options& options,
                                                            const type_registry& types, const family_set& families) {
  const auto* entry = types.find<T>();
  if (entry == nullptr)
    return std::unexpected(types.why_not_found(typeid(T)));
  if constexpr (std::is_default_constructible_v<T>) {
    auto value = T();
    if (auto done = deserialize_entry(*entry, &value, from, options, types, families); !done)
      return std::unexpected(std::move(done.error()));
    return value;
  } else {
    detail::memory_for<T> place;
    if (auto done = deserialize_entry(*entry, &place.value, from, options, types, families); !done)
      return std::unexpected(std::move(done.error()));
    std::expected<T, serialize_error> value(std::move(place.value));
    place.value.~T();
    return value;
  }
}

/// Decodes a value of the type that the payload's alias names. If this process has no type of that alias, decodes a
/// `record` if the payload describes its own structure, as `typed`, `msgpack` and `json` payloads do.
/// any_value::alias() is the payload's alias. Fails as deserialize() does, and with `unknown_type` if the alias is
/// unknown and the payload does not describe its structure.
[[nodiscard]] TROUPE_EXPORT std::expected<any_value, serialize_error>
deserialize_any(const payload& from, const deserialize_options& options, const type_registry& types,
                const family_set& families);

} // namespace troupe
