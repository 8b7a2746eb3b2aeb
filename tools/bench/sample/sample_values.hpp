// The values of a file of samples, as a contract describes them.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/record.hpp>

namespace troupe::tools {

struct sample_values {
  std::string type;           ///< The alias.
  std::vector<record> values; ///< At least one.
  std::vector<frame> typed;   ///< Each value's bytes in the family "typed". Empty if the contract does not tell them.
};

/// Reads the JSON of a value, in the form of the family "json", or of a list of values. A list is one value if the type
/// itself is a list. `type` is an alias of the contract; if it is empty, the contract must have one type that is not
/// built in. Fails with a text that names the file's or the contract's problem.
[[nodiscard]] std::expected<sample_values, std::string> read_samples(std::string_view json, std::string_view contract,
                                                                     const std::string& type);

} // namespace troupe::tools
