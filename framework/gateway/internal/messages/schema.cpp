#include <troupe/framework/gateway/internal/messages/schema.hpp>

#include <string_view>
#include <vector>

#include <troupe/framework/gateway/internal/messages/type_schemas.hpp>
#include <troupe/framework/gateway/internal/words/refusal.hpp>

namespace troupe::web {

namespace {

/// `content`: the schema of the value.
std::string typed_value(std::string_view alias, const std::string& content) {
  return R"({"type":"object","properties":{"type":{"const":)" + json_text(alias) + R"(},"value":)" + content
         + R"(},"required":["type","value"],"additionalProperties":false})";
}

/// An atom has two forms. `content`: the schema of its text.
std::string atom_schema(const std::string& content) {
  return R"({"anyOf":[{"type":"object","properties":{"atom":)" + content
         + R"(},"required":["atom"],"additionalProperties":false},)" + typed_value("caf.atom", content) + "]}";
}

std::string value_schema(std::string_view alias, type_schemas& types) {
  if (alias.starts_with('\'') && alias.size() >= 2)
    return atom_schema(R"({"const":)" + json_text(alias.substr(1, alias.size() - 2)) + "}");
  if (alias == "caf.atom")
    return atom_schema(R"({"type":"string"})");
  return typed_value(alias, types.reference_to(alias));
}

std::string message_schema(const std::vector<std::string>& aliases, type_schemas& types) {
  if (aliases.empty())
    return R"({"type":"array","maxItems":0})";
  if (aliases.size() == 1)
    return value_schema(aliases.front(), types);
  std::string parts;
  for (const auto& alias : aliases)
    parts += (parts.empty() ? "" : ",") + value_schema(alias, types);
  const auto size = std::to_string(aliases.size());
  return R"({"type":"array","minItems":)" + size + R"(,"maxItems":)" + size + R"(,"prefixItems":[)" + parts + "]}";
}

std::string messages_schema(const exposed_actor& actor, std::vector<std::string> exposed_message::*side,
                            type_schemas& types) {
  std::string options;
  for (const auto& each : actor.how.messages)
    options += (options.empty() ? "" : ",") + message_schema(each.*side, types);
  return options.empty() ? R"({"$ref":"#/components/schemas/troupe.any_message"})" : R"({"anyOf":[)" + options + "]}";
}

std::string path_of(const std::string& name, const exposed_actor& actor, type_schemas& types) {
  constexpr std::string_view failed = R"({"description":"refused","content":{"application/json":{"schema":)"
                                      R"({"$ref":"#/components/schemas/troupe.error"}}}})";
  std::string path = json_text("/actors/" + name) + R"(:{"post":{"operationId":)" + json_text(name)
                     + R"(,"description":)" + json_text(actor.how.description)
                     + R"(,"parameters":[{"name":"Troupe-Timeout-Ms","in":"header","description":"the time for the )"
                       R"(answer, in milliseconds","schema":{"type":"integer","minimum":0}}])"
                     + R"(,"requestBody":{"required":true,"content":{"application/json":{"schema":)"
                     + messages_schema(actor, &exposed_message::takes, types)
                     + R"(}}},"responses":{"200":{"description":"the answer","content":{"application/json":{"schema":)"
                     + messages_schema(actor, &exposed_message::gives, types) + "}}}";
  for (const auto* const status : {"4XX", "502", "503", "504"})
    path += "," + json_text(status) + ":" + std::string(failed);
  return path + "}}}";
}

constexpr std::string_view own_schemas =
    R"("troupe.error":{"type":"object","properties":{"error":{"type":"object","properties":{"code":{"type":"string"},)"
    R"("text":{"type":"string"}},"required":["code","text"]}},"required":["error"]},)"
    R"("troupe.any_value":{"type":"object","properties":{"type":{"type":"string"},"value":{}},)"
    R"("required":["type","value"],"additionalProperties":false},)"
    R"("troupe.any_atom":{"type":"object","properties":{"atom":{"type":"string"}},"required":["atom"],)"
    R"("additionalProperties":false},)"
    R"("troupe.any_part":{"anyOf":[{"$ref":"#/components/schemas/troupe.any_value"},)"
    R"({"$ref":"#/components/schemas/troupe.any_atom"}]},)"
    R"("troupe.any_message":{"anyOf":[{"$ref":"#/components/schemas/troupe.any_part"},)"
    R"({"type":"array","maxItems":64,"items":{"$ref":"#/components/schemas/troupe.any_part"}}]})";

} // namespace

std::string json_schema_of(const type_registry& types, std::string_view alias) {
  type_schemas made{types};
  const auto reference = made.reference_to(alias);
  return R"({"$schema":"https://json-schema.org/draft/2020-12/schema","allOf":[)" + reference
         + R"(],"components":{"schemas":{)" + made.members() + "}}}";
}

std::string schema_of(const type_registry& types, const actor_shelf::all_actors& actors, const token_rights& by,
                      const std::string& url) {
  type_schemas used{types};
  std::string paths;
  bool takes_anything = false;
  for (const auto& [name, actor] : actors)
    if (by.calls.covers(name)) {
      paths += (paths.empty() ? "" : ",") + path_of(name, *actor, used);
      takes_anything = takes_anything || actor->how.messages.empty();
    }
  if (takes_anything) // Then any type that the program has registered may be of use.
    for (const auto* const type : types.entries())
      if (!type->alias().starts_with("caf.") && !type->alias().starts_with("troupe."))
        static_cast<void>(used.reference_to(type->alias()));
  auto schemas = used.members();
  schemas += (schemas.empty() ? "" : ",") + std::string(own_schemas);
  return R"({"openapi":"3.1.0","info":{"title":"Troupe gateway","version":"1"},"servers":[{"url":)" + json_text(url)
         + R"(}],"security":[{"token":[]}],"paths":{)" + paths
         + R"(},"components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer"}},"schemas":{)" + schemas
         + "}}}";
}

} // namespace troupe::web
