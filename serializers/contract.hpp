// Describes a program's types as its peers see them, as a text to keep in version control. Compares two such texts and
// reports what the change means for peers of the older version. All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/serialize_error.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

/// The aliases, fields and types of all entries, and the functions, in a stable form with one line for each:
///
///     troupe contract 1
///     type "weather.reading": struct
///       .sensor: text
///       .samples: numbers f64
///     function "mean": (list<f64>) -> f64
[[nodiscard]] TROUPE_EXPORT std::string contract_of(const type_registry& types);
/// The contract of one type: the first line and the lines of the type.
[[nodiscard]] TROUPE_EXPORT std::string contract_of(const type_entry& type);

/// The effect of a change on two programs of which one has the older version of a type and the other the newer one.
/// Valid for the families that tolerate other versions (`typed`, `msgpack`, `json`). With `cereal`, every change is
/// breaking, except a change of the order of aliases.
///
/// Two changes are not detected. If a list becomes a set, or a multimap a map, the receiver may refuse values with
/// duplicate keys. If the field in which a shared object first appears is removed, later fields cannot refer to the
/// object.
enum class contract_effect : std::uint8_t {
  harmless,          ///< All values pass. A field that one end lacks is skipped, or keeps its default.
  depends_on_values, ///< Some values are refused, such as numbers that do not fit, with an error that names the place.
  breaking,          ///< In at least one direction, every value may be refused.
};

[[nodiscard]] TROUPE_EXPORT std::string_view to_string(contract_effect effect);

struct contract_change {
  contract_effect effect = contract_effect::harmless;
  std::string place; ///< Such as "weather.reading.samples[]".
  std::string what;  ///< Such as "i64 became i32: values that do not fit are refused".
};

/// The changes from `older` to `newer`, in the order of the types' aliases; empty if there are none. Fails with
/// `malformed` if a text is not a contract; the error names the line.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<contract_change>, serialize_error>
compare_contracts(std::string_view older, std::string_view newer);

/// The first change that prevents the reader from reading any complete value of the writer, as far as the layouts tell.
/// Nullopt if there is none. Neither text needs to be trusted. Fails with `malformed` if a text is not a contract; the
/// error names the line.
[[nodiscard]] TROUPE_EXPORT std::expected<std::optional<contract_change>, serialize_error>
find_unreadable(std::string_view writer, std::string_view reader);

/// A sender with the contract `sender` may send values and calls. The result lists those that a receiver with the
/// contract `receiver` refuses, either always (`breaking`) or in some cases (`depends_on_values`). Empty if it refuses
/// nothing. Call it a second time with the arguments exchanged for the other direction. Neither text is trusted. Fails
/// with `malformed`, and the line, if a text is not a contract.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<contract_change>, serialize_error>
refused_by_receiver(std::string_view sender, std::string_view receiver);

/// One line per change: "breaking: weather.reading.samples: ...".
[[nodiscard]] TROUPE_EXPORT std::string to_text(const std::vector<contract_change>& changes);

/// For a program's tests: compares the registry with the contract in the file and returns the changes. If the file does
/// not exist yet, writes it and returns no changes. Does the same if the environment variable TROUPE_WRITE_CONTRACT is
/// set and neither empty nor "0". Fails with `malformed` if the file cannot be read or written, or is not a contract.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<contract_change>, serialize_error>
check_contract(const std::filesystem::path& file, const type_registry& types);

} // namespace troupe
