// What `troupe memory` says.
#pragma once

#include "text.hpp"

#include <troupe/framework/memory_summary.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe::tools {

enum class memory_group { none, reason, process, store, state, creator, call_site, link };

/// "2 handles in 1234", "exported to kitchen on link 3 of 1234", "captured in 5f0c...-12-1".
[[nodiscard]] std::string text_of(const memory_holder& holder);

/// An object that several keep counts for each of them.
[[nodiscard]] std::vector<object_group> grouped_by(const memory_summary& summary, memory_group key);

[[nodiscard]] std::string text_of(const memory_summary& summary, const std::vector<memory_hint>& hints);
[[nodiscard]] std::string json_of(const memory_summary& summary, const std::vector<memory_hint>& hints);

} // namespace troupe::tools
