// What `troupe store --json` says to programs: one document, which ends with a line feed.
#pragma once

#include "store/tables.hpp"

namespace troupe::tools {

[[nodiscard]] std::string json_of(const std::vector<store::found_store>& stores);
[[nodiscard]] std::string json_of_totals(const store::store_summary& summary);
[[nodiscard]] std::string json_of_objects(const std::vector<store::object_row>& objects);
[[nodiscard]] std::string json_of(const store::object_row& object);

} // namespace troupe::tools
