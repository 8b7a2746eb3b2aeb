// Converts the errors of nodes and links into the errors that actors see, and back.
#pragma once

#include <string>

#include <caf/atom.hpp>
#include <caf/error.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe {

/// The category of Troupe's errors inside a `caf::error`.
inline constexpr caf::atom_value error_category = caf::atom("troupe");

/// Converts an error for actors: category `error_category`, the code, and the text as context. If the system was made
/// from a `troupe::system_config`, `actor_system::render` shows all three.
[[nodiscard]] TROUPE_EXPORT caf::error to_caf_error(const node_error& error);

/// Converts an error back. CAF's timeout becomes `timed_out`. CAF's errors for an unreachable actor become `link_down`.
/// Any other error that is not Troupe's becomes `task_failed`. An empty error, which is the reason of an actor that
/// ended normally, becomes `task_failed` with the text "no error".
[[nodiscard]] TROUPE_EXPORT node_error to_node_error(const caf::error& error);

/// The text of a `caf::error`: the text that to_caf_error() stored, or else CAF's own rendering. "no error" for an
/// empty error.
[[nodiscard]] TROUPE_EXPORT std::string text_of(const caf::error& error);

} // namespace troupe
