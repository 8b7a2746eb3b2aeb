// The output of `troupe store --json`: one document, which ends with a line feed.
#pragma once

#include "store/tables.hpp"

namespace troupe::tools {

[[nodiscard]] std::string json_of(const std::vector<store::found_store>& stores);
[[nodiscard]] std::string json_of_totals(const store::store_summary& summary);
[[nodiscard]] std::string json_of_objects(const store::store_summary& summary);
[[nodiscard]] std::string json_of(const store::object_row& object, const std::vector<pid_t>& living);
[[nodiscard]] std::string json_of(const std::vector<store::cleaned_store>& cleaned);

} // namespace troupe::tools
