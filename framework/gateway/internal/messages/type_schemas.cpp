#include <troupe/framework/gateway/internal/messages/type_schemas.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <troupe/framework/gateway/internal/words/refusal.hpp>
#include <troupe/serializers/contract.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe::web {

namespace {

constexpr std::string_view anything = "{}";
constexpr std::string_view null_schema = R"({"type":"null"})";
constexpr std::string_view natural_schema = R"({"type":"integer","minimum":0})";
constexpr std::string_view base64_schema = R"({"type":"string","contentEncoding":"base64","pattern":)"
                                           R"("^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"})";
constexpr std::string_view record_schema =
    R"({"description":"a value whose type exists only at run time","anyOf":[{"type":["null","boolean","number",)"
    R"("string"]},{"type":"array","items":{"$ref":"#/components/schemas/troupe.record"}},{"type":"object",)"
    R"("additionalProperties":{"$ref":"#/components/schemas/troupe.record"}}]})";

std::string integer_schema(std::string_view from, std::string_view to) {
  return R"({"type":"integer","minimum":)" + std::string(from) + R"(,"maximum":)" + std::string(to) + "}";
}

std::string schema_of_number(number_kind kind) {
  switch (kind) {
  case number_kind::i8:
    return integer_schema("-128", "127");
  case number_kind::i16:
    return integer_schema("-32768", "32767");
  case number_kind::i32:
    return integer_schema("-2147483648", "2147483647");
  case number_kind::i64:
    return integer_schema("-9223372036854775808", "9223372036854775807");
  case number_kind::u8:
    return integer_schema("0", "255");
  case number_kind::u16:
    return integer_schema("0", "65535");
  case number_kind::u32:
    return integer_schema("0", "4294967295");
  case number_kind::u64:
    return integer_schema("0", "18446744073709551615");
  case number_kind::f32:
  case number_kind::f64:
    break;
  }
  return R"({"anyOf":[{"type":"number"},{"enum":["NaN","Infinity","-Infinity"]}]})";
}

std::string list_schema(std::string_view items) {
  return R"({"type":"array","items":)" + std::string(items) + "}";
}

std::string counted_list_schema(std::string_view count, std::string_view items) {
  return R"({"type":"array","minItems":)" + std::string(count) + R"(,"maxItems":)" + std::string(count) + R"(,"items":)"
         + std::string(items) + "}";
}

std::string tuple_schema(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& each : parts)
    all += (all.empty() ? "" : ",") + each;
  const auto count = std::to_string(parts.size());
  return R"({"type":"array","minItems":)" + count + R"(,"maxItems":)" + count
         + (parts.empty() ? std::string() : R"(,"prefixItems":[)" + all + "]") + R"(,"items":false})";
}

std::string any_of(std::initializer_list<std::string_view> all) {
  std::string made;
  for (const auto each : all)
    made += (made.empty() ? "" : ",") + std::string(each);
  return R"({"anyOf":[)" + made + "]}";
}

/// An object of exactly these members.
std::string exact_schema(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string properties;
  std::string names;
  for (const auto& [name, schema] : members) {
    properties += (properties.empty() ? "" : ",") + json_text(name) + ":" + schema;
    names += (names.empty() ? "" : ",") + json_text(name);
  }
  return R"({"type":"object","properties":{)" + properties + R"(},"required":[)" + names + R"(],"maxProperties":)"
         + std::to_string(members.size()) + "}";
}

std::string bytes_schema() {
  return exact_schema({{"$bytes", std::string(base64_schema)}});
}

/// A text, or one that is not UTF-8.
std::string text_schema() {
  return any_of({R"({"type":"string"})", exact_schema({{"$text", std::string(base64_schema)}})});
}

/// The schema, but not for objects that begin with this key of the format.
std::string without_key(std::string_view schema, std::string_view key) {
  return R"({"allOf":[)" + std::string(schema) + R"(,{"not":{"required":[)" + json_text(key) + "]}}]}";
}

/// A duration or time point: its count, unit and clock. `unit` is a period, as in 1/1000, and before it perhaps a
/// clock.
std::string unit_schema(std::string_view unit, bool is_real) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> named{{{"1/1000000000", "ns"},
                                                                                {"1/1000000", "us"},
                                                                                {"1/1000", "ms"},
                                                                                {"1/1", "s"},
                                                                                {"60/1", "min"},
                                                                                {"3600/1", "h"},
                                                                                {"86400/1", "d"}}};
  const auto blank = unit.rfind(' ');
  const auto period = blank == std::string_view::npos ? unit : unit.substr(blank + 1);
  const auto* const known = std::ranges::find(named, period, [](const auto& each) { return each.first; });
  auto suffix = known != named.end() ? std::string(known->second) : "[" + std::string(period) + "]s";
  if (blank != std::string_view::npos)
    suffix += " " + std::string(unit.substr(0, blank));
  std::string pattern = is_real ? "^-?([0-9.]+(e[+-]?[0-9]+)?|inf|nan)" : "^-?[0-9]+";
  for (const auto each : suffix) {
    if (std::string_view("[]().*+?^$|{}\\").find(each) != std::string_view::npos)
      pattern += '\\';
    pattern += each;
  }
  return R"({"type":"string","pattern":)" + json_text(pattern + "$") + "}";
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word))
    return false;
  text.remove_prefix(word.size());
  return true;
}

/// The label of an alternative: <"label">, where quotes and backslashes within are escaped.
std::string label_of(std::string_view part) {
  if (part.size() < 4)
    return std::string(part);
  std::string label;
  const auto inner = part.substr(2, part.size() - 4);
  for (std::size_t i = 0; i < inner.size(); ++i)
    label += inner[i] == '\\' && i + 1 < inner.size() ? inner[++i] : inner[i];
  return label;
}

/// A part's name within the place of its structure.
std::string place_of_part(std::string_view part) {
  if (part.starts_with('.'))
    return std::string(part);
  if (part.starts_with('<'))
    return "." + label_of(part);
  if (part.starts_with('[') && part != "[]")
    return "." + std::string(part.substr(1, part.size() - 2));
  return part == "{key}" ? ".key" : "";
}

std::string fields_of_structure(const contract_node& node) {
  std::string names;
  for (const auto& [name, part] : node.parts)
    names += name + ":";
  return names;
}

using place_in_tree = std::pair<const contract_tree*, std::size_t>;

/// Whether both describe the same values. Places that are being compared count as the same.
bool is_same(place_in_tree one, place_in_tree other, std::set<std::pair<std::size_t, std::size_t>>& compared) {
  if (!compared.emplace(one.second, other.second).second)
    return true;
  const auto& a = one.first->nodes[one.second];
  const auto& b = other.first->nodes[other.second];
  return a.form == b.form && std::ranges::equal(a.parts, b.parts, [&](const auto& left, const auto& right) {
           return left.first == right.first && is_same({one.first, left.second}, {other.first, right.second}, compared);
         });
}

} // namespace

/// Translates one type. Structures that occur in several places get places of their own in the document.
class type_schemas::translation {
public:
  translation(type_schemas& to, const known_type& of) : to_(to), tree_(of.tree), uses_(tree_.nodes.size()) {
    for (const auto& node : tree_.nodes)
      for (const auto& [name, part] : node.parts)
        ++uses_[part];
    places_.emplace(of.root, of.place);
  }

  /// The schema of the node itself.
  std::string body(std::size_t index, const std::string& path) {
    const auto& node = tree_.nodes[index];
    std::string_view form = node.form;
    if (form == "struct")
      return structure(node, path);
    if (form == "tuple")
      return tuple(node, path);
    if (form == "variant")
      return variant(node, path);
    if (form == "map")
      return map(node, path);
    if (form == "optional")
      return optional(node, path);
    if (form == "shared")
      return shared(part(node, path));
    if (form == "pointee")
      return pointee(node, path);
    if (form == "list")
      return list_schema(part(node, path));
    if (form == "form")
      return part(node, path);
    if (take_word(form, "fixed "))
      return fixed(form, node, path);
    if (take_word(form, "enum "))
      return enumeration(form, node);
    if (take_word(form, "unit "))
      return unit_schema(form.substr(1, form.size() - 2), !node.parts.empty() && is_real(node.parts.front().second));
    return leaf(form);
  }

private:
  /// The schema of a part, or a reference to it.
  std::string schema(std::size_t index, const std::string& path) {
    if (const auto known = places_.find(index); known != places_.end())
      return reference(known->second);
    const bool is_structure = tree_.nodes[index].form == "struct";
    if (const auto* const same = is_structure ? to_.same_type(tree_, index) : nullptr)
      return to_.reference_to(*same);
    if (uses_[index] < 2)
      return body(index, path);
    const auto place = to_.free_place(path);
    places_.emplace(index, place);
    to_.places_[place]; // In use from now on.
    to_.places_[place] = body(index, place);
    return reference(place);
  }

  std::string part(const contract_node& node, const std::string& path) {
    return node.parts.empty() ? std::string(anything) : schema(node.parts.front().second, path);
  }

  std::string leaf(std::string_view form) {
    if (form == "bool")
      return R"({"type":"boolean"})";
    if (form == "text")
      return text();
    if (form == "nothing")
      return std::string(null_schema);
    if (form == "frame")
      return bytes_schema();
    if (form == "record")
      return to_.common("troupe.record", std::string(record_schema));
    if (take_word(form, "numbers ")) {
      const auto kind = number_kind_named(form).value_or(number_kind::f64);
      return kind == number_kind::u8 ? bytes_schema() : list_schema(schema_of_number(kind));
    }
    if (take_word(form, "array "))
      return array_of(form);
    const auto kind = number_kind_named(form);
    return kind ? schema_of_number(*kind) : std::string(anything);
  }

  std::string text() { return to_.common("troupe.text", text_schema()); }

  std::string structure(const contract_node& node, const std::string& path) {
    std::string fields;
    for (const auto& [name, index] : node.parts)
      fields +=
          (fields.empty() ? "" : ",") + json_text(name.substr(1)) + ":" + schema(index, path + place_of_part(name));
    return R"({"type":"object","properties":{)" + fields + "}}";
  }

  std::string tuple(const contract_node& node, const std::string& path) {
    std::vector<std::string> parts;
    for (const auto& [name, index] : node.parts)
      parts.push_back(schema(index, path + place_of_part(name)));
    return tuple_schema(parts);
  }

  std::string variant(const contract_node& node, const std::string& path) {
    std::string options;
    for (const auto& [name, index] : node.parts)
      options +=
          (options.empty() ? "" : ",") + exact_schema({{label_of(name), schema(index, path + place_of_part(name))}});
    return R"({"oneOf":[)" + options + "]}";
  }

  /// A contract does not tell a map from a multimap, which is a list of pairs.
  std::string map(const contract_node& node, const std::string& path) {
    if (node.parts.size() != 2)
      return std::string(anything);
    const auto key_index = node.parts[0].second;
    const auto key = schema(key_index, path + ".key");
    const auto value = schema(node.parts[1].second, path);
    const auto pairs = list_schema(tuple_schema({key, value}));
    const auto& form = tree_.nodes[without_forms(key_index)].form;
    if (form == "text")
      return any_of({R"({"type":"object","additionalProperties":)" + value + "}", pairs});
    if (form.starts_with("enum "))
      return any_of(
          {R"({"type":"object","propertyNames":)" + key + R"(,"additionalProperties":)" + value + "}", pairs});
    return pairs;
  }

  std::string optional(const contract_node& node, const std::string& path) {
    const auto inner = part(node, path);
    if (node.parts.empty() || !may_be_null(node.parts.front().second))
      return any_of({inner, null_schema});
    return any_of({exact_schema({{"$some", inner}}), without_key(inner, "$some"), null_schema});
  }

  /// A bare value is a new object. Keys of users that begin with '$' are written with one more.
  static std::string shared(const std::string& inner) {
    const auto bare = without_key(without_key(inner, "$id"), "$ref");
    const auto natural = std::string(natural_schema);
    return any_of(
        {exact_schema({{"$id", natural}, {"$value", inner}}), exact_schema({{"$ref", natural}}), bare, null_schema});
  }

  /// An object of one member, which has the alias of the class; the pointer's own class has none.
  std::string pointee(const contract_node& node, const std::string& path) {
    const auto own = part(node, path);
    return R"({"type":"object","minProperties":1,"maxProperties":1,"properties":{"":)"
           + (own == null_schema ? "false" : own) + "}}";
  }

  /// Bytes are not written as a list; a contract does not tell them from small enumerators.
  std::string fixed(std::string_view count, const contract_node& node, const std::string& path) {
    const auto list = counted_list_schema(count, part(node, path));
    const bool may_be_bytes = !node.parts.empty() && tree_.nodes[node.parts.front().second].form == "u8";
    return may_be_bytes ? any_of({bytes_schema(), list}) : list;
  }

  static std::string enumeration(std::string_view kind, const contract_node& node) {
    std::string names;
    for (const auto& [name, value] : node.parts)
      names += (names.empty() ? "" : ",") + json_text(name.substr(1));
    if (names.empty())
      return schema_of_number(number_kind_named(kind).value_or(number_kind::i64));
    return R"({"enum":[)" + names + "]}";
  }

  /// Nested lists, or one flat list for any shape.
  std::string array_of(std::string_view kind_name) {
    const auto kind = number_kind_named(kind_name).value_or(number_kind::f64);
    const auto place = "troupe.data." + std::string(kind_name);
    const auto lengths = list_schema(natural_schema);
    const auto number = schema_of_number(kind);
    const auto rows = list_schema(reference(place));
    const auto data =
        to_.common(place, kind == number_kind::u8 ? any_of({number, rows, bytes_schema()}) : any_of({number, rows}));
    return R"({"type":"object","properties":{"$array":)" + std::string(natural_schema) + R"(,"shape":)" + lengths
           + R"(,"data_shape":)" + lengths + R"(,"order":{"enum":["C","F"]},"type":{"const":)" + json_text(kind_name)
           + R"(},"data":)" + any_of({data, null_schema})
           + R"(},"required":["data"],"anyOf":[{"required":["$array"]},{"properties":{"data":{"not":{"type":"null"}}}}]})";
  }

  [[nodiscard]] bool is_real(std::size_t index) const { return tree_.nodes[index].form.starts_with("f"); }

  [[nodiscard]] std::size_t without_forms(std::size_t index) const {
    for (std::size_t left = tree_.nodes.size(); left > 0 && tree_.nodes[index].form == "form"; --left)
      index = tree_.nodes[index].parts.front().second;
    return index;
  }

  /// Also if it is not known.
  [[nodiscard]] bool may_be_null(std::size_t index) const {
    const auto& form = tree_.nodes[without_forms(index)].form;
    return form == "optional" || form == "shared" || form == "nothing" || form == "record" || form == "unsupported"
           || form.starts_with("codec of ");
  }

  type_schemas& to_;
  const contract_tree& tree_;
  std::vector<std::size_t> uses_;             // By node: of how many places it is a part.
  std::map<std::size_t, std::string> places_; // Of nodes, in the document.
};

type_schemas::type_schemas(const type_registry& types) {
  auto entries = types.entries();
  std::ranges::sort(entries, {}, &type_entry::alias);
  for (const auto* const each : entries) {
    auto tree = parse_contract(contract_of(*each));
    if (!tree || tree->types.empty())
      continue;
    const auto root = tree->types.begin()->second;
    const auto place = free_place(each->alias());
    places_[place];
    const auto& known = types_.emplace(each->alias(), known_type{*std::move(tree), root, place}).first->second;
    const auto& node = known.tree.nodes[root];
    const bool is_own = each->alias().starts_with("caf.") || each->alias().starts_with("troupe.");
    if (node.form == "struct" && !node.parts.empty() && !is_own)
      by_fields_.emplace(fields_of_structure(node), &known);
  }
}

std::string type_schemas::reference_to(std::string_view alias) {
  const auto found = types_.find(alias);
  return found == types_.end() ? std::string(anything) : reference_to(found->second);
}

std::string type_schemas::reference_to(const known_type& of) {
  if (added_.insert(&of).second)
    places_[of.place] = translation(*this, of).body(of.root, of.place);
  return reference(of.place);
}

std::string type_schemas::members() const {
  std::string all;
  for (const auto& [place, schema] : places_)
    if (!schema.empty())
      all += (all.empty() ? "" : ",") + json_text(place) + ":" + schema;
  return all;
}

/// Places have the letters that OpenAPI allows for them.
std::string type_schemas::free_place(std::string_view wanted) const {
  std::string place(wanted);
  std::ranges::replace_if(
      place,
      [](char each) {
        return !((each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9')
                 || each == '-' || each == '_' || each == '.');
      },
      '_');
  while (places_.contains(place))
    place += '_';
  return place;
}

std::string type_schemas::reference(std::string_view place) {
  return R"({"$ref":)" + json_text(std::string(space) + std::string(place)) + "}";
}

std::string type_schemas::common(std::string_view place, const std::string& schema) {
  places_.insert_or_assign(std::string(place), schema);
  return reference(place);
}

const type_schemas::known_type* type_schemas::same_type(const contract_tree& tree, std::size_t node) const {
  const known_type* same = nullptr;
  const auto [begin, end] = by_fields_.equal_range(fields_of_structure(tree.nodes[node]));
  for (auto at = begin; at != end; ++at) {
    std::set<std::pair<std::size_t, std::size_t>> compared;
    const auto& other = *at->second;
    if (!is_same({&tree, node}, {&other.tree, other.root}, compared))
      continue;
    if (same != nullptr)
      return nullptr;
    same = &other;
  }
  return same;
}

} // namespace troupe::web
