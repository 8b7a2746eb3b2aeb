// The output of `troupe store` for people.
#pragma once

#include "text.hpp"

#include <troupe/store/summary.hpp>
#include <troupe/store/survey.hpp>

#include <string>
#include <vector>

namespace troupe::tools {

/// Each text ends with a line feed.
[[nodiscard]] std::string text_of(const std::vector<store::found_store>& stores);
[[nodiscard]] std::string text_of(const std::vector<store::cleaned_store>& cleaned);
[[nodiscard]] std::string text_of_totals(const store::store_summary& summary);
[[nodiscard]] std::string text_of_objects(const store::store_summary& summary);
[[nodiscard]] std::string text_of(const store::object_row& object, const std::vector<pid_t>& living);

} // namespace troupe::tools
