// Help texts and errors for options in CAF's configuration.
#pragma once

#include <span>
#include <string>

#include <caf/config_option_set.hpp>
#include <caf/error.hpp>

namespace troupe::internal {

/// One option in the output of --long-help.
struct help_row {
  std::string key; // Under its group, "tls.key".
  std::string meaning;
};

/// Lists the options of a group, such as `troupe.node`.
void add_to_help(caf::config_option_set& options, const std::string& group, std::span<const help_row> rows);

/// The text of a configuration file, changed so that CAF counts its lines and columns correctly.
[[nodiscard]] std::string for_caf(const std::string& text);

/// Converts a CAF error with the line and column of a text from for_caf() into one whose text names the file. Returns
/// other errors unchanged.
[[nodiscard]] caf::error with_place(caf::error from, const std::string& file);

} // namespace troupe::internal
