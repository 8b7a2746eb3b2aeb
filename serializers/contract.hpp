// What the types of a program look like to its peers, as a text to keep in version control, and what a change of it
// means for peers of the older version.
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

/// The aliases, fields and types of all entries, and the functions, in a stable form, a line for each:
///
///     troupe contract 1
///     type "weather.reading": struct
///       .sensor: text
///       .samples: numbers f64
///     function "mean": (list<f64>) -> f64
[[nodiscard]] TROUPE_EXPORT std::string contract_of(const type_registry& types);
/// The same of one type: the title and its lines.
[[nodiscard]] TROUPE_EXPORT std::string contract_of(const type_entry& type);

/// What a change means when one program has the older version of a type and its peer the newer one, for the families
/// that tell versions apart (`typed`, `msgpack`, `json`). By `cereal`, every change but to the order of aliases breaks.
/// Not seen: whether a list is a set or a map a multimap, which matters to those that refuse a key twice; and that a
/// shared object cannot be referred to where the field is gone in which it comes first.
enum class contract_effect : std::uint8_t {
  harmless,          ///< All values pass; fields that one end does not have are skipped, or keep their default.
  depends_on_values, ///< Some values are refused, with an error that names the place: such as do not fit.
  breaking,          ///< In at least one direction nothing can be relied upon to pass.
};

[[nodiscard]] TROUPE_EXPORT std::string_view to_string(contract_effect effect);

struct contract_change {
  contract_effect effect = contract_effect::harmless;
  std::string place; ///< "weather.reading.samples[]"
  std::string what;  ///< "i64 became i32: values that do not fit are refused"
};

/// The changes, in the order of the types' aliases; empty when there is none.
/// Fails with `malformed`, and the line, where a text is no contract.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<contract_change>, serialize_error>
compare_contracts(std::string_view older, std::string_view newer);

/// What of one end's contract keeps the other end from reading any value that is complete, as far as layouts tell: the
/// first breaking change in the direction from `writer` to `reader`; nullopt when there is none. Neither text is
/// trusted. Fails with `malformed`, and the line, where a text is no contract.
[[nodiscard]] TROUPE_EXPORT std::expected<std::optional<contract_change>, serialize_error>
find_unreadable(std::string_view writer, std::string_view reader);

/// A line for each change: "breaking: weather.reading.samples: ...".
[[nodiscard]] TROUPE_EXPORT std::string to_text(const std::vector<contract_change>& changes);

/// For a program's tests: compares the registry with the contract in the file. Writes the file where it does not exist
/// yet, and where the environment variable TROUPE_WRITE_CONTRACT is set and not 0.
/// Fails with `malformed`, also where the file cannot be read or written.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<contract_change>, serialize_error>
check_contract(const std::filesystem::path& file, const type_registry& types);

} // namespace troupe
