// What CAF's configuration shows and says about options.
#pragma once

#include <span>
#include <string>

#include <caf/config_option_set.hpp>
#include <caf/error.hpp>

namespace troupe::internal {

/// An option in what --long-help prints.
struct help_row {
  std::string key; // Under its group, "tls.key".
  std::string meaning;
};

/// Lists the options of a group, such as `troupe.node`.
void add_to_help(caf::config_option_set& options, const std::string& group, std::span<const help_row> rows);

/// The text of a configuration file in the form of which CAF counts lines and columns rightly.
[[nodiscard]] std::string for_caf(const std::string& text);

/// An error of CAF's that tells line and column of what for_caf() gave it, as one whose text names the file; any other
/// stays as it is.
[[nodiscard]] caf::error with_place(caf::error from, const std::string& file);

} // namespace troupe::internal
