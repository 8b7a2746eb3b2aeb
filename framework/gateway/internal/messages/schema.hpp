// What clients can send, as a document of OpenAPI 3.1.
#pragma once

#include <string>
#include <string_view>

#include <troupe/framework/gateway/internal/access/token_rights.hpp>
#include <troupe/framework/gateway/internal/messages/actor_shelf.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::web {

/// The document for the holder of a token: the actors that it may use, and the types of their messages.
/// type_schemas says what their schemas accept.
[[nodiscard]] std::string schema_of(const type_registry& types, const actor_shelf::all_actors& actors,
                                    const token_rights& by, const std::string& url);

/// The JSON Schema of one type (type_schemas), a document of its own.
[[nodiscard]] std::string json_schema_of(const type_registry& types, std::string_view alias);

} // namespace troupe::web
