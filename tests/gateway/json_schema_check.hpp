// A small validator of JSON Schema 2020-12: the keywords that the gateway's schemas use, and no others.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace troupe::tests {

/// Empty if `value` fits `schema`, else why not. `document` has what `$ref` refers to. A keyword that the validator
/// does not know is a misfit, too.
[[nodiscard]] std::string misfit_of(const nlohmann::json& value, const nlohmann::json& schema,
                                    const nlohmann::json& document);

} // namespace troupe::tests
