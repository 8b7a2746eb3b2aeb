// The output of `troupe memory` as text and JSON.
#pragma once

#include "text.hpp"

#include <troupe/framework/memory_summary.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tools {

enum class memory_group { none, reason, process, store, state, creator, call_site, link };

/// The names of the nodes in each process.
using process_names = std::map<std::uint32_t, std::string>;
[[nodiscard]] process_names names_in(const memory_summary& summary);

/// "1234 "gallery"", or the number alone if no name is known.
[[nodiscard]] std::string text_of_process(std::uint32_t process, const process_names& names);

/// "2 handles in 1234 "gallery"", "exported by 1234 "gallery" over link 3 to kitchen", "captured in 5f0c...-12-1".
[[nodiscard]] std::string text_of(const memory_holder& holder, const process_names& names);

/// An object with several holders counts in the group of each.
[[nodiscard]] std::vector<object_group> grouped_by(const memory_summary& summary, memory_group key);

[[nodiscard]] std::string text_of(const memory_summary& summary, const std::vector<memory_hint>& hints);
/// One line for each process that was not asked or did not answer, with the reason.
[[nodiscard]] std::string text_of_unasked(const memory_summary& summary);
[[nodiscard]] std::string json_of(const memory_summary& summary, const std::vector<memory_hint>& hints);

} // namespace troupe::tools
