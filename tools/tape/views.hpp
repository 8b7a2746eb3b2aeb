// The events of a tape as lines: text or JSON.
#pragma once

#include <string>

#include <troupe/framework/tape.hpp>

namespace troupe::tools {

/// Where a tape and its recording come from. Ends with a line feed.
[[nodiscard]] std::string text_of(const std::string& file, const tape_info& info);
/// Each event on one line, which ends with a line feed. Empty for an end that has nothing to tell.
[[nodiscard]] std::string text_of(const tape_event& event);

/// Each event as one JSON object on a line. `with_values`: the elements have their values, as far as they can be read
/// without the C++ type.
[[nodiscard]] std::string json_of(const std::string& file, const tape_info& info);
[[nodiscard]] std::string json_of(const tape_event& event, bool with_values);

} // namespace troupe::tools
