// The process's attachments by store: opening one twice gives the same one.
#pragma once

#include <troupe/store/fwd.hpp>
#include <troupe/store/options.hpp>
#include <troupe/store/store_error.hpp>

#include <expected>

namespace troupe::store::internal {

/// Returns this process's only attachment to the store, creating it if needed. A second attachment would open the lock
/// file again, and on a kernel without locks of open file descriptions, closing that descriptor would drop the first
/// one's locks.
[[nodiscard]] std::expected<attachment_ptr, store_error> attach(const options& options);

} // namespace troupe::store::internal
