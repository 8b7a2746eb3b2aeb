// A value that was read from JSON, in the form that a contract gives to it.
#pragma once

#include <cstddef>
#include <expected>
#include <string>

#include <troupe/serializers/contract_tree.hpp>
#include <troupe/serializers/record.hpp>

namespace troupe::tools {

/// The value as the type at that node would hold it: whole numbers as reals where the type has reals, missing fields
/// with zero, empty or null values. Fails with a text that names the place, such as ".lines[2].count: expected i32,
/// found text", for values that the type cannot have, and for fields that it does not have.
[[nodiscard]] std::expected<record, std::string> shaped(const record& value, const contract_tree& contract,
                                                        std::size_t node);

} // namespace troupe::tools
