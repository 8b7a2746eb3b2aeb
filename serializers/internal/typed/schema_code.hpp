// The codes of a type's layout. typed/format.md describes the form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <troupe/base/export.hpp>

namespace troupe::detail {

/// The values are part of the format: append only. The codes 2 to 11 are those of number_kind.
enum class schema_code : std::uint8_t {
  boolean = 1,
  text = 12,
  none = 13,
  optional = 14,    // node
  shared = 15,      // node
  variant = 16,     // count, (label, node) each
  tuple = 17,       // count, nodes
  fixed = 18,       // count, node
  frame = 19,       //
  array = 20,       // number kind
  numbers = 21,     // number kind
  list = 22,        // node
  map = 23,         // node, node
  structure = 24,   // count, (name, node) each; numbered in order of appearance
  again = 25,       // number of a structure or form further up
  enumeration = 26, // number kind, count, (name, value) each
  unit = 27,        // text, node
  unsupported = 28,
  pointee = 29, // node of the pointer's own class, or `none`: the object of a pointer to a base class
  foreign = 30, // a type whose codec is in the registry; the value names its form
  record = 31,  // a record, always of the same alternatives
  form = 32,    // node; a type without fields that contains itself, numbered like structures
};

/// The word for a form in contracts and in errors. If the form has parts or numbers, they follow the word.
[[nodiscard]] constexpr std::string_view word_of(schema_code code) {
  switch (code) {
  case schema_code::boolean:
    return "bool";
  case schema_code::text:
    return "text";
  case schema_code::none:
    return "nothing";
  case schema_code::optional:
    return "optional";
  case schema_code::shared:
    return "shared";
  case schema_code::variant:
    return "variant";
  case schema_code::tuple:
    return "tuple";
  case schema_code::fixed:
    return "fixed";
  case schema_code::frame:
    return "frame";
  case schema_code::array:
    return "array";
  case schema_code::numbers:
    return "numbers";
  case schema_code::list:
    return "list";
  case schema_code::map:
    return "map";
  case schema_code::structure:
    return "struct";
  case schema_code::again:
    return "again";
  case schema_code::enumeration:
    return "enum";
  case schema_code::unit:
    return "unit";
  case schema_code::pointee:
    return "pointee";
  case schema_code::foreign:
    return "codec of the registry";
  case schema_code::record:
    return "record";
  case schema_code::form:
    return "form";
  case schema_code::unsupported:
    break;
  }
  return "unsupported";
}

[[nodiscard]] TROUPE_EXPORT std::uint32_t fingerprint_of(std::span<const std::byte> schema);
/// "fingerprint there deca3853, here deca16eb", for an error about two versions of a type.
[[nodiscard]] TROUPE_EXPORT std::string fingerprints_text(std::uint32_t there, std::uint32_t here);

} // namespace troupe::detail
