#include "json_schema_check.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

namespace troupe::tests {

namespace {

using nlohmann::json;

bool is_of_type(const json& value, const std::string& type) {
  return type == "null"      ? value.is_null()
         : type == "boolean" ? value.is_boolean()
         : type == "string"  ? value.is_string()
         : type == "array"   ? value.is_array()
         : type == "object"  ? value.is_object()
         : type == "number"  ? value.is_number()
         : type == "integer" ? value.is_number_integer()
                                   || (value.is_number() && value.get<double>() == std::trunc(value.get<double>()))
                             : false;
}

class schema_check {
public:
  explicit schema_check(const json& document) : document_(document) {}

  std::string misfit(const json& value, const json& schema) {
    if (schema.is_boolean())
      return schema.get<bool>() ? "" : "nothing may be here: " + shown(value);
    if (++depth_ > 400)
      return "the schema does not end";
    std::string why;
    for (const auto& [keyword, of] : schema.items())
      if (why = by_keyword(value, keyword, of, schema); !why.empty())
        break;
    --depth_;
    return why;
  }

private:
  static std::string shown(const json& value) {
    return value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 100);
  }
  static std::string unless(bool is_good, const std::string& what, const json& value) {
    return is_good ? "" : shown(value) + " is not " + what;
  }

  std::string by_keyword(const json& value, const std::string& keyword, const json& of, const json& schema) {
    static const std::set<std::string> notes{"description", "contentEncoding", "$schema", "components"};
    if (notes.contains(keyword))
      return "";
    if (keyword == "$ref")
      return refers(value, of.get<std::string>());
    if (keyword == "type")
      return unless(of.is_string() ? is_of_type(value, of)
                                   : std::ranges::any_of(of, [&](const json& each) { return is_of_type(value, each); }),
                    of.dump(), value);
    if (keyword == "const")
      return unless(value == of, of.dump(), value);
    if (keyword == "enum")
      return unless(std::ranges::find(of, value) != of.end(), "one of " + of.dump(), value);
    if (keyword == "pattern")
      return unless(!value.is_string()
                        || std::regex_search(value.get<std::string>(), std::regex(of.get<std::string>())),
                    of.dump(), value);
    if (keyword == "minimum")
      return unless(!value.is_number() || value >= of, "at least " + of.dump(), value);
    if (keyword == "maximum")
      return unless(!value.is_number() || value <= of, "at most " + of.dump(), value);
    if (keyword == "anyOf" || keyword == "oneOf" || keyword == "allOf" || keyword == "not")
      return combined(value, keyword, of);
    if (keyword == "minItems" || keyword == "maxItems" || keyword == "items" || keyword == "prefixItems")
      return value.is_array() ? of_list(value, keyword, of, schema) : "";
    return value.is_object() || !is_of_objects(keyword) ? of_object(value, keyword, of, schema) : "";
  }

  std::string refers(const json& value, const std::string& to) {
    if (!to.starts_with("#"))
      return "a reference out of the document: " + to;
    const json::json_pointer place(to.substr(1));
    return document_.contains(place) ? misfit(value, document_.at(place)) : "nothing is at " + to;
  }

  std::string combined(const json& value, const std::string& keyword, const json& of) {
    if (keyword == "not")
      return unless(!misfit(value, of).empty(), "what it must not be", value);
    std::string whys;
    std::size_t fits = 0;
    for (const auto& each : of)
      if (const auto why = misfit(value, each); why.empty())
        ++fits;
      else
        whys += (whys.empty() ? "" : "; ") + why;
    const bool is_good = keyword == "anyOf" ? fits > 0 : keyword == "oneOf" ? fits == 1 : fits == of.size();
    return is_good ? "" : keyword + " of " + std::to_string(fits) + " (" + whys + ")";
  }

  std::string of_list(const json& value, const std::string& keyword, const json& of, const json& schema) {
    if (keyword == "minItems")
      return unless(value.size() >= of, "long enough", value);
    if (keyword == "maxItems")
      return unless(value.size() <= of, "short enough", value);
    const auto first = schema.contains("prefixItems") ? schema.at("prefixItems").size() : 0;
    for (std::size_t i = keyword == "items" ? first : 0;
         i < (keyword == "items" ? value.size() : std::min(first, value.size())); ++i)
      if (const auto why = misfit(value[i], keyword == "items" ? of : of[i]); !why.empty())
        return "[" + std::to_string(i) + "] " + why;
    return "";
  }

  static bool is_of_objects(const std::string& keyword) {
    static const std::set<std::string> all{"properties",    "required",      "additionalProperties",
                                           "propertyNames", "minProperties", "maxProperties"};
    return all.contains(keyword);
  }

  std::string of_object(const json& value, const std::string& keyword, const json& of, const json& schema) {
    if (keyword == "minProperties")
      return unless(value.size() >= of, "of enough members", value);
    if (keyword == "maxProperties")
      return unless(value.size() <= of, "of few members", value);
    if (keyword == "required") {
      for (const auto& each : of)
        if (!value.contains(each.get<std::string>()))
          return shown(value) + " lacks " + each.dump();
      return "";
    }
    if (!is_of_objects(keyword))
      return "an unknown keyword: " + keyword;
    for (const auto& [name, each] : value.items()) {
      const bool is_property = schema.contains("properties") && schema.at("properties").contains(name);
      std::string why;
      if (keyword == "propertyNames")
        why = misfit(name, of);
      else if (keyword == "properties" ? is_property : !is_property)
        why = misfit(each, keyword == "properties" ? of.at(name) : of);
      if (!why.empty())
        return "." + name + " " + why;
    }
    return "";
  }

  const json& document_;
  std::size_t depth_ = 0;
};

} // namespace

std::string misfit_of(const json& value, const json& schema, const json& document) {
  return schema_check(document).misfit(value, schema);
}

} // namespace troupe::tests
