// The process's attachments by store: opening one twice gives the same one.
#pragma once

#include <troupe/store/fwd.hpp>
#include <troupe/store/options.hpp>
#include <troupe/store/store_error.hpp>

#include <expected>

namespace troupe::store::internal {

/// Returns this process's attachment to the store, creating the attachment if needed. The list of attachments is the
/// library's only process-wide state: closing a second descriptor of a store's lock file would drop the locks of the
/// first.
[[nodiscard]] std::expected<attachment_ptr, store_error> attach(const options& options);

} // namespace troupe::store::internal
