#include <troupe/framework/gateway/internal/messages/schema.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <troupe/framework/gateway/internal/words/refusal.hpp>
#include <troupe/serializers/contract.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe::web {

namespace {

constexpr std::string_view any = "{}";
constexpr std::string_view bytes_schema = R"({"type":"object","properties":{"$bytes":{"type":"string",)"
                                          R"("contentEncoding":"base64"}},"required":["$bytes"]})";

std::string number_schema(number_kind kind) {
  switch (kind) {
  case number_kind::i8:
    return R"({"type":"integer","minimum":-128,"maximum":127})";
  case number_kind::i16:
    return R"({"type":"integer","minimum":-32768,"maximum":32767})";
  case number_kind::i32:
    return R"({"type":"integer","minimum":-2147483648,"maximum":2147483647})";
  case number_kind::i64:
    return R"({"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807})";
  case number_kind::u8:
    return R"({"type":"integer","minimum":0,"maximum":255})";
  case number_kind::u16:
    return R"({"type":"integer","minimum":0,"maximum":65535})";
  case number_kind::u32:
    return R"({"type":"integer","minimum":0,"maximum":4294967295})";
  case number_kind::u64:
    return R"({"type":"integer","minimum":0,"maximum":18446744073709551615})";
  case number_kind::f32:
  case number_kind::f64:
    break;
  }
  return R"({"anyOf":[{"type":"number"},{"enum":["NaN","Infinity","-Infinity"]}]})";
}

/// Translates the lines of one type's contract, from the form behind "type ...: " on.
class contract_translator {
public:
  explicit contract_translator(std::string_view lines) : left_(lines) {}

  /// The schema of a chain of words whose parts stand `indent` steps further in.
  std::string schema(std::string_view chain, std::size_t indent) {
    if (take(chain, "optional "))
      return R"({"anyOf":[)" + schema(chain, indent) + R"(,{"type":"null"}]})";
    if (take(chain, "list "))
      return R"({"type":"array","items":)" + schema(chain, indent) + "}";
    if (take(chain, "form "))
      return schema(chain, indent);
    if (take(chain, "fixed "))
      return fixed(chain, indent);
    if (take(chain, "numbers "))
      return numbers(chain);
    if (take(chain, "array "))
      return array_of_numbers(chain);
    if (take(chain, "enum "))
      return enumeration(chain, indent);
    if (chain == "struct")
      return structure(indent);
    if (chain == "tuple")
      return tuple(indent);
    if (chain == "map")
      return map(indent);
    if (chain == "variant")
      return variant(indent);
    if (chain == "bool")
      return R"({"type":"boolean"})";
    if (chain == "text" || chain.starts_with("unit ")) // Units are written as text: "250ms".
      return R"({"type":"string"})";
    if (chain == "nothing")
      return R"({"type":"null"})";
    if (chain == "frame")
      return std::string(bytes_schema);
    if (const auto kind = number_kind_named(chain))
      return number_schema(*kind);
    skip_parts(indent); // Pointers, recursion, records and what has no form of its own.
    return std::string(any);
  }

private:
  struct part {
    std::string_view name;
    std::string_view chain;
  };

  static bool take(std::string_view& chain, std::string_view word) {
    if (!chain.starts_with(word))
      return false;
    chain.remove_prefix(word.size());
    return true;
  }

  /// The next line, if it is a part at that depth: "name: chain".
  std::optional<part> next(std::size_t indent) {
    const auto blanks = 2 * indent;
    if (left_.size() <= blanks || left_.substr(0, blanks).find_first_not_of(' ') != std::string_view::npos
        || left_[blanks] == ' ')
      return std::nullopt;
    const auto end = std::min(left_.find('\n'), left_.size());
    const auto line = left_.substr(blanks, end - blanks);
    left_.remove_prefix(std::min(end + 1, left_.size()));
    bool in_quotes = false;
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      if (line[i] == '\\')
        ++i;
      else if (line[i] == '"')
        in_quotes = !in_quotes;
      else if (!in_quotes && line[i] == ':' && line[i + 1] == ' ')
        return part{line.substr(0, i), line.substr(i + 2)};
    }
    return part{line, {}};
  }
  void skip_parts(std::size_t indent) {
    while (const auto found = next(indent))
      skip_parts(indent + 1);
  }

  std::string fixed(std::string_view chain, std::size_t indent) {
    const auto count = std::string(chain.substr(0, chain.find(' ')));
    chain.remove_prefix(std::min(count.size() + 1, chain.size()));
    return R"({"type":"array","minItems":)" + count + R"(,"maxItems":)" + count + R"(,"items":)" + schema(chain, indent)
           + "}";
  }

  static std::string numbers(std::string_view name) {
    const auto kind = number_kind_named(name).value_or(number_kind::f64);
    if (kind == number_kind::u8)
      return std::string(bytes_schema);
    return R"({"type":"array","items":)" + number_schema(kind) + "}";
  }

  static std::string array_of_numbers(std::string_view name) {
    return R"({"type":"object","properties":{"shape":{"type":"array","items":{"type":"integer","minimum":0}},)"
           R"("type":{"const":)"
           + json_text(name) + R"(},"data":{}},"required":["data"]})";
  }

  std::string enumeration(std::string_view kind, std::size_t indent) {
    std::string names;
    while (const auto found = next(indent))
      names += (names.empty() ? "" : ",") + json_text(found->name.substr(1)); // Without the dot.
    if (names.empty())
      return number_schema(number_kind_named(kind).value_or(number_kind::i64));
    return R"({"enum":[)" + names + "]}";
  }

  std::string structure(std::size_t indent) {
    std::string fields;
    while (const auto found = next(indent))
      fields += (fields.empty() ? "" : ",") + json_text(found->name.substr(1)) + ":" + schema(found->chain, indent + 1);
    return R"({"type":"object","properties":{)" + fields + "}}";
  }

  std::string tuple(std::size_t indent) {
    std::string parts;
    std::size_t count = 0;
    for (; const auto found = next(indent); ++count)
      parts += (parts.empty() ? "" : ",") + schema(found->chain, indent + 1);
    const auto size = std::to_string(count);
    return R"({"type":"array","minItems":)" + size + R"(,"maxItems":)" + size + R"(,"prefixItems":[)" + parts + "]}";
  }

  std::string map(std::size_t indent) {
    const auto key = next(indent);
    const bool has_text_keys = key && (key->chain == "text" || key->chain.starts_with("enum "));
    const auto key_schema = key ? schema(key->chain, indent + 1) : std::string(any);
    const auto value = next(indent);
    const auto value_schema = value ? schema(value->chain, indent + 1) : std::string(any);
    if (has_text_keys)
      return R"({"type":"object","additionalProperties":)" + value_schema + "}";
    return R"({"type":"array","items":{"type":"array","minItems":2,"maxItems":2,"prefixItems":[)" + key_schema + ","
           + value_schema + "]}}";
  }

  /// An object of one member, which names the alternative.
  std::string variant(std::size_t indent) {
    std::string options;
    while (const auto found = next(indent)) {
      auto label = found->name; // <"label">
      if (label.size() >= 4)
        label = label.substr(2, label.size() - 4);
      options += (options.empty() ? "" : ",") + (R"({"type":"object","properties":{)" + json_text(label) + ":")
                 + schema(found->chain, indent + 1) + R"(},"required":[)" + json_text(label) + "]}";
    }
    return R"({"oneOf":[)" + options + "]}";
  }

  std::string_view left_;
};

std::string value_schema(std::string_view alias, std::set<std::string, std::less<>>& used) {
  if (alias.starts_with('\'') && alias.size() >= 2)
    return R"({"type":"object","properties":{"type":{"const":"caf.atom"},"value":{"const":)"
           + json_text(alias.substr(1, alias.size() - 2)) + R"(}},"required":["type","value"]})";
  if (alias == "caf.atom")
    return R"({"type":"object","properties":{"type":{"const":"caf.atom"},"value":{"type":"string"}},)"
           R"("required":["type","value"]})";
  used.emplace(alias);
  return R"({"type":"object","properties":{"type":{"const":)" + json_text(alias) + R"(},"value":{"$ref":)"
         + json_text("#/components/schemas/" + std::string(alias)) + R"(}},"required":["type","value"]})";
}

std::string message_schema(const std::vector<std::string>& aliases, std::set<std::string, std::less<>>& used) {
  if (aliases.size() == 1)
    return value_schema(aliases.front(), used);
  std::string parts;
  for (const auto& alias : aliases)
    parts += (parts.empty() ? "" : ",") + value_schema(alias, used);
  const auto size = std::to_string(aliases.size());
  return R"({"type":"array","minItems":)" + size + R"(,"maxItems":)" + size + R"(,"prefixItems":[)" + parts + "]}";
}

std::string messages_schema(const exposed_actor& actor, std::vector<std::string> exposed_message::*side,
                            std::set<std::string, std::less<>>& used) {
  std::string options;
  for (const auto& each : actor.how.messages)
    options += (options.empty() ? "" : ",") + message_schema(each.*side, used);
  return options.empty() ? R"({"$ref":"#/components/schemas/troupe.any_message"})" : R"({"anyOf":[)" + options + "]}";
}

std::string path_of(const std::string& name, const exposed_actor& actor, std::set<std::string, std::less<>>& used) {
  constexpr std::string_view failed = R"({"description":"refused","content":{"application/json":{"schema":)"
                                      R"({"$ref":"#/components/schemas/troupe.error"}}}})";
  std::string path = json_text("/actors/" + name) + R"(:{"post":{"operationId":)" + json_text(name)
                     + R"(,"description":)" + json_text(actor.how.description)
                     + R"(,"requestBody":{"required":true,"content":{"application/json":{"schema":)"
                     + messages_schema(actor, &exposed_message::takes, used)
                     + R"(}}},"responses":{"200":{"description":"the answer","content":{"application/json":{"schema":)"
                     + messages_schema(actor, &exposed_message::gives, used) + "}}}";
  for (const auto* const status : {"4XX", "502", "503", "504"})
    path += "," + json_text(status) + ":" + std::string(failed);
  return path + "}}}";
}

constexpr std::string_view own_schemas =
    R"("troupe.error":{"type":"object","properties":{"error":{"type":"object","properties":{"code":{"type":"string"},)"
    R"("text":{"type":"string"}},"required":["code","text"]}},"required":["error"]},)"
    R"("troupe.any_value":{"type":"object","properties":{"type":{"type":"string"},"value":{}},)"
    R"("required":["type","value"]},)"
    R"("troupe.any_message":{"anyOf":[{"$ref":"#/components/schemas/troupe.any_value"},)"
    R"({"type":"array","items":{"$ref":"#/components/schemas/troupe.any_value"}}]})";

} // namespace

std::string json_schema_of(const type_entry& type) {
  const auto contract = contract_of(type);
  std::string_view lines = contract;
  lines.remove_prefix(std::min(lines.find('\n') + 1, lines.size())); // The title.
  const auto behind_alias = std::string_view("\": ");
  const auto at = lines.find(behind_alias);
  const auto end = std::min(lines.find('\n'), lines.size());
  if (at == std::string_view::npos || at > end)
    return std::string(any);
  const auto chain = lines.substr(at + behind_alias.size(), end - at - behind_alias.size());
  lines.remove_prefix(std::min(end + 1, lines.size()));
  return contract_translator(lines).schema(chain, 1);
}

std::string schema_of(const type_registry& types, const actor_shelf::all_actors& actors, const token_rights& by,
                      const std::string& url) {
  std::set<std::string, std::less<>> used;
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
        used.insert(type->alias());
  std::string schemas(own_schemas);
  for (const auto& alias : used)
    if (const auto* const type = types.find(std::string_view{alias}))
      schemas += "," + json_text(alias) + ":" + json_schema_of(*type);
    else
      schemas += "," + json_text(alias) + ":" + std::string(any);
  return R"({"openapi":"3.1.0","info":{"title":"Troupe gateway","version":"1"},"servers":[{"url":)" + json_text(url)
         + R"(}],"security":[{"token":[]}],"paths":{)" + paths
         + R"(},"components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer"}},"schemas":{)" + schemas
         + "}}}";
}

} // namespace troupe::web
