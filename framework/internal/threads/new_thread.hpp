// Threads, which the system may refuse: limits of the user and of the container apply.
#pragma once

#include <expected>
#include <functional>
#include <string_view>
#include <thread>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Starts a thread that runs `what`. If the system provides none, fails with `bad_option`. The text begins with
/// `whose`, such as "node n needs a thread for its links", and names the limits.
[[nodiscard]] std::expected<std::thread, node_error> new_thread(std::string_view whose, std::function<void()> what);

} // namespace troupe::internal
