// The process's attachments by store. Opening a store twice gives the same attachment.
#pragma once

#include <troupe/store/fwd.hpp>
#include <troupe/store/options.hpp>
#include <troupe/store/store_error.hpp>

#include <expected>

namespace troupe::store::internal {

/// Returns this process's only attachment to the store, and creates it if needed. There is only one because a second
/// attachment would open the lock file again. On a kernel without locks of open file descriptions, closing that second
/// descriptor would drop the locks of the first attachment.
[[nodiscard]] std::expected<attachment_ptr, store_error> attach(const options& options);

} // namespace troupe::store::internal
