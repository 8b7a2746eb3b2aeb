// Work that the connections' own threads should not do.
#pragma once

#include <functional>

#include <troupe/framework/gateway/internal/server/boost_net.hpp>

namespace troupe::web {

/// Runs `work` on one of these threads. Returns on the caller's executor.
[[nodiscard]] net::awaitable<void> run_on(net::thread_pool& threads, std::function<void()> work);

} // namespace troupe::web
