// Machines in JSON documents.
#pragma once

#include "bench/machine.hpp"

#include <nlohmann/json.hpp>

namespace troupe::tools {

[[nodiscard]] nlohmann::ordered_json document_of(const machine& where);

/// What is missing stays empty. Throws nlohmann::json::exception if the document is another one.
[[nodiscard]] machine machine_of(const nlohmann::ordered_json& document);

} // namespace troupe::tools
