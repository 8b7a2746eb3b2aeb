// What clients can send, as a document of OpenAPI 3.1.
#pragma once

#include <string>

#include <troupe/framework/gateway/internal/access/token_rights.hpp>
#include <troupe/framework/gateway/internal/messages/actor_shelf.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::web {

/// The document for the holder of a token: the actors that it may use, and the types of their messages. Types that are
/// not described in the contract are any JSON.
[[nodiscard]] std::string schema_of(const type_registry& types, const actor_shelf::all_actors& actors,
                                    const token_rights& by, const std::string& url);

/// The JSON Schema of a type, from its contract (contract_of). It accepts what the family `json` writes for the type.
[[nodiscard]] std::string json_schema_of(const type_entry& type);

} // namespace troupe::web
