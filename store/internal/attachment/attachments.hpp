// The process's attachments by store: opening one twice gives the same one.
#pragma once

#include <troupe/store/fwd.hpp>
#include <troupe/store/options.hpp>
#include <troupe/store/store_error.hpp>

#include <expected>

namespace troupe::store::internal {

/// Gives this process's attachment to that store, making it where there is none. The one piece of state that the
/// library keeps for the whole process: a second descriptor of a store's lock file would, when closed, drop the first
/// one's locks.
[[nodiscard]] std::expected<attachment_ptr, store_error> attach(const options& options);

} // namespace troupe::store::internal
