// What CAF's configuration shows and says about options.
#pragma once

#include <string>

#include <caf/config_option_set.hpp>
#include <caf/error.hpp>

namespace troupe::internal {

/// Lists the options of `troupe.node` and `troupe.links.default` in what --long-help prints.
void add_to_help(caf::config_option_set& options);

/// The text of a configuration file in the form of which CAF counts lines and columns rightly.
[[nodiscard]] std::string for_caf(const std::string& text);

/// An error of CAF's that tells line and column of what for_caf() gave it, as one whose text names the file; any other
/// stays as it is.
[[nodiscard]] caf::error with_place(caf::error from, const std::string& file);

} // namespace troupe::internal
