// The bytes of a value in the family "typed", made from its contract instead of its C++ type.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <troupe/serializers/contract_tree.hpp>
#include <troupe/serializers/record.hpp>

namespace troupe::tools {

/// The value's bytes as serializers/typed/format.md describes them, behind form and fingerprint, with large arrays in
/// place. Nullopt if a contract does not tell the bytes: types with codecs of their own, pointers to bases, records.
/// Requires: shaped() has made the value for that node.
[[nodiscard]] std::optional<std::vector<std::byte>> typed_value(const record& value, const contract_tree& contract,
                                                                std::size_t node);

} // namespace troupe::tools
