// What `troupe store` says to people.
#pragma once

#include <troupe/store/inspection.hpp>
#include <troupe/store/summary.hpp>

#include <string>
#include <vector>

namespace troupe::tools {

/// Objects that have something in common.
struct object_group {
  std::string of;
  std::size_t objects = 0;
  std::size_t bytes = 0;
};

/// Each ends with a line feed.
[[nodiscard]] std::string text_of(const std::vector<store::found_store>& stores);
[[nodiscard]] std::string text_of_totals(const store::store_summary& summary);
[[nodiscard]] std::string text_of_objects(const std::vector<store::object_row>& objects);
[[nodiscard]] std::string text_of(const std::vector<object_group>& groups);
[[nodiscard]] std::string text_of(const store::object_row& object);

} // namespace troupe::tools
