// Requests that read, make and delete objects.
#pragma once

#include <memory>
#include <string>

#include <troupe/framework/gateway/internal/access/token_rights.hpp>
#include <troupe/framework/gateway/internal/server/gateway_core.hpp>
#include <troupe/framework/gateway/internal/server/http_exchange.hpp>

namespace troupe::web {

/// Serves GET and HEAD /objects/ID.
[[nodiscard]] net::awaitable<void> read_object(gateway_core& core, http_exchange& exchange, std::string id,
                                               std::shared_ptr<const token_rights> by);
/// Serves PUT /objects.
[[nodiscard]] net::awaitable<void> make_object(gateway_core& core, http_exchange& exchange,
                                               std::shared_ptr<const token_rights> by);
/// Serves DELETE /objects/ID.
[[nodiscard]] net::awaitable<void> delete_object(gateway_core& core, http_exchange& exchange, std::string id,
                                                 std::shared_ptr<const token_rights> by);

} // namespace troupe::web
