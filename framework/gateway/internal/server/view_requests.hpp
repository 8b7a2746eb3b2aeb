// Requests of the view: its page, what the page shows, and its orders.
#pragma once

#include <memory>
#include <string>

#include <troupe/framework/gateway/internal/access/token_rights.hpp>
#include <troupe/framework/gateway/internal/server/gateway_core.hpp>
#include <troupe/framework/gateway/internal/server/http_exchange.hpp>
#include <troupe/framework/gateway/internal/words/routes.hpp>

namespace troupe::web {

/// Serves GET and HEAD /view and /view/FILE.
[[nodiscard]] net::awaitable<void> show_page(gateway_core& core, http_exchange& exchange, std::string file);
/// Serves GET /view/state, /view/links/NODE/NUMBER, /view/memory and /view/activity.
[[nodiscard]] net::awaitable<void> show_view(gateway_core& core, http_exchange& exchange, route wanted,
                                             std::shared_ptr<const token_rights> by);
/// Serves POST /view/act.
[[nodiscard]] net::awaitable<void> act_on_view(gateway_core& core, http_exchange& exchange,
                                               std::shared_ptr<const token_rights> by);

} // namespace troupe::web
