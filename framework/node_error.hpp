// How the failure of a call of a node or link looks to an actor.
#pragma once

#include <string>

#include <caf/atom.hpp>
#include <caf/error.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe {

/// The category of Troupe's errors inside a `caf::error`.
inline constexpr caf::atom_value error_category = caf::atom("troupe");

/// The same failure as actors see it: category `error_category`, the code, the text as context.
/// `actor_system::render` shows it whole where the system was made from a `troupe::system_config`.
[[nodiscard]] TROUPE_EXPORT caf::error to_caf_error(const node_error& error);

/// The way back: of an error that is not Troupe's the code is `task_failed`, and CAF's timeouts and unreachable actors
/// are `timed_out` and `link_down`. An empty error, which is the reason of an actor that ended in good order, is
/// `task_failed` with the text "no error".
[[nodiscard]] TROUPE_EXPORT node_error to_node_error(const caf::error& error);

/// The text of a `caf::error`: what `to_caf_error` put into it, else CAF's own rendering of it.
[[nodiscard]] TROUPE_EXPORT std::string text_of(const caf::error& error);

} // namespace troupe
