#include "bench/sample/shaping.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <troupe/base/text.hpp>

namespace troupe::tools {

namespace {

using shape_result = std::expected<record, std::string>;

[[nodiscard]] std::string_view kind_text(const record& value) {
  switch (value.kind()) {
  case record_kind::null:
    return "null";
  case record_kind::boolean:
    return "a boolean";
  case record_kind::integer:
  case record_kind::natural:
  case record_kind::real:
    return "a number";
  case record_kind::text:
    return "a text";
  case record_kind::bytes:
    return "bytes";
  case record_kind::list:
    return "a list";
  case record_kind::map:
    return "an object";
  case record_kind::array:
    break;
  }
  return "an array";
}

/// The least and the greatest value of an integer type of a contract. Both are 0 for any other word.
struct integer_range {
  std::int64_t min = 0;
  std::uint64_t max = 0;
};

[[nodiscard]] integer_range integers_of(std::string_view form) {
  if (form.size() < 2 || (form[0] != 'i' && form[0] != 'u'))
    return {};
  unsigned bits = 0;
  std::from_chars(form.data() + 1, form.data() + form.size(), bits);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return {};
  const auto all = std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
  return form[0] == 'u' ? integer_range{0, all}
                        : integer_range{std::numeric_limits<std::int64_t>::min() >> (64 - bits), all >> 1};
}

class shaper {
public:
  explicit shaper(const contract_tree& contract) : contract_(contract) {}

  [[nodiscard]] shape_result shape(const record& value, std::size_t number, const std::string& place) const {
    const auto& node = contract_.nodes[number];
    const std::string_view form = node.form;
    if (const auto range = integers_of(form); range.max > 0)
      return integer(value, range, form, place);
    if (form == "f32" || form == "f64")
      return real(value, form, place);
    if (form == "bool")
      return value.boolean() ? shape_result(value) : expected(form, value, place);
    if (form == "text" || form.starts_with("unit "))
      return value.text() != nullptr ? shape_result(value) : expected(form, value, place);
    if (form == "struct")
      return structure(value, node, place);
    if (form == "optional" || form == "shared" || form == "pointee")
      return value.is_null() ? shape_result(value) : shape(value, node.parts.at(0).second, place);
    if (form == "form")
      return shape(value, node.parts.at(0).second, place);
    if (form == "list" || form.starts_with("fixed "))
      return list(value, node, place);
    if (form.starts_with("numbers "))
      return numbers(value, form.substr(8), place);
    if (form == "tuple")
      return tuple(value, node, place);
    if (form == "map")
      return map(value, node, place);
    if (form == "variant")
      return variant(value, node, place);
    if (form.starts_with("enum "))
      return enumeration(value, node, place);
    return value; // Frames, arrays, records and codecs: as they are.
  }

private:
  [[nodiscard]] static std::unexpected<std::string> expected(std::string_view form, const record& found,
                                                             const std::string& place) {
    return std::unexpected(
        fmt::format("{}: expected {}, found {}", place.empty() ? "the value" : place, form, kind_text(found)));
  }

  [[nodiscard]] static shape_result integer(const record& value, const integer_range& range, std::string_view form,
                                            const std::string& place) {
    const auto* natural = std::get_if<std::uint64_t>(&value.value());
    const auto integer = value.integer();
    if (natural == nullptr && !integer)
      return expected(form, value, place);
    const auto fits = natural != nullptr ? *natural <= range.max
                                         : *integer >= range.min
                                               && (*integer < 0 || static_cast<std::uint64_t>(*integer) <= range.max);
    if (!fits)
      return std::unexpected(fmt::format("{}: {} does not fit {}", place, to_text(value), form));
    return value;
  }

  [[nodiscard]] static shape_result real(const record& value, std::string_view form, const std::string& place) {
    for (const auto& [name, number] : {std::pair{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}})
      if (value.text() != nullptr && *value.text() == name)
        return record(static_cast<double>(number));
    const auto number = value.real();
    return number ? shape_result(record(*number)) : expected(form, value, place);
  }

  [[nodiscard]] shape_result structure(const record& value, const contract_node& node, const std::string& place) const {
    if (value.fields() == nullptr)
      return expected("an object", value, place);
    for (const auto& [name, field] : *value.fields())
      if (std::ranges::none_of(node.parts, [&](const auto& part) { return part.first == '.' + name; }))
        return std::unexpected(fmt::format("{}.{}: the type has no such field", place, one_line(name, 100)));
    record::map made;
    for (const auto& [name, part] : node.parts) {
      const auto* field = value.find(std::string_view(name).substr(1));
      auto shaped = field != nullptr ? shape(*field, part, place + name) : shape_result(empty(part));
      if (!shaped)
        return shaped;
      made.emplace_back(name.substr(1), *std::move(shaped));
    }
    return record(std::move(made));
  }

  [[nodiscard]] shape_result list(const record& value, const contract_node& node, const std::string& place) const {
    if (value.bytes() != nullptr)
      return value;
    if (value.elements() == nullptr)
      return expected("a list", value, place);
    record::list made;
    for (const auto& each : *value.elements()) {
      auto shaped = shape(each, node.parts.at(0).second, fmt::format("{}[{}]", place, made.size()));
      if (!shaped)
        return shaped;
      made.push_back(*std::move(shaped));
    }
    if (node.form.starts_with("fixed ") && node.form.substr(6) != std::to_string(made.size()))
      return std::unexpected(fmt::format("{}: {} elements, expected {}", place, made.size(), node.form.substr(6)));
    return record(std::move(made));
  }

  [[nodiscard]] static shape_result numbers(const record& value, std::string_view kind, const std::string& place) {
    if (value.bytes() != nullptr)
      return value;
    if (value.elements() == nullptr)
      return expected("a list", value, place);
    record::list made;
    for (const auto& each : *value.elements()) {
      const auto where = fmt::format("{}[{}]", place, made.size());
      auto shaped = kind[0] == 'f' ? real(each, kind, where) : integer(each, integers_of(kind), kind, where);
      if (!shaped)
        return shaped;
      made.push_back(*std::move(shaped));
    }
    return record(std::move(made));
  }

  [[nodiscard]] shape_result tuple(const record& value, const contract_node& node, const std::string& place) const {
    if (value.elements() == nullptr || value.elements()->size() != node.parts.size())
      return expected(fmt::format("a list of {}", node.parts.size()), value, place);
    record::list made;
    for (const auto& [name, part] : node.parts) {
      auto shaped = shape((*value.elements())[made.size()], part, place + name);
      if (!shaped)
        return shaped;
      made.push_back(*std::move(shaped));
    }
    return record(std::move(made));
  }

  [[nodiscard]] shape_result map(const record& value, const contract_node& node, const std::string& place) const {
    if (value.fields() != nullptr) {
      record::map made;
      for (const auto& [key, each] : *value.fields()) {
        auto shaped = shape(each, node.parts.at(1).second, fmt::format("{}{{\"{}\"}}", place, one_line(key, 100)));
        if (!shaped)
          return shaped;
        made.emplace_back(key, *std::move(shaped));
      }
      return record(std::move(made));
    }
    if (value.elements() == nullptr)
      return expected("an object or a list of pairs", value, place);
    record::list made;
    for (const auto& each : *value.elements()) {
      const auto where = fmt::format("{}{{{}}}", place, made.size());
      if (each.elements() == nullptr || each.elements()->size() != 2)
        return expected("a pair", each, where);
      auto key = shape(each.elements()->front(), node.parts.at(0).second, where);
      auto mapped = shape(each.elements()->back(), node.parts.at(1).second, where);
      if (!key || !mapped)
        return key ? mapped : key;
      made.emplace_back(record::list{*std::move(key), *std::move(mapped)});
    }
    return record(std::move(made));
  }

  [[nodiscard]] shape_result variant(const record& value, const contract_node& node, const std::string& place) const {
    if (value.fields() == nullptr || value.fields()->size() != 1)
      return expected("an object with one alternative", value, place);
    const auto& [label, alternative] = value.fields()->front();
    for (const auto& [name, part] : node.parts)
      if (name == fmt::format("<{:?}>", label)) {
        auto shaped = shape(alternative, part, place + name);
        return shaped ? shape_result(record(record::map{{label, *std::move(shaped)}})) : shaped;
      }
    return std::unexpected(fmt::format("{}: no alternative '{}'", place, one_line(label, 100)));
  }

  [[nodiscard]] static shape_result enumeration(const record& value, const contract_node& node,
                                                const std::string& place) {
    if (value.text() == nullptr)
      return expected("the name of an enum's value", value, place);
    for (const auto& [name, part] : node.parts)
      if (name == '.' + *value.text())
        return value;
    return std::unexpected(fmt::format("{}: no value '{}'", place, one_line(*value.text(), 100)));
  }

  /// The value of a field that the JSON does not have.
  [[nodiscard]] record empty(std::size_t number) const {
    const auto& node = contract_.nodes[number];
    const std::string_view form = node.form;
    if (integers_of(form).max > 0)
      return record(0);
    if (form == "f32" || form == "f64")
      return record(0.0);
    if (form == "bool")
      return record(false);
    if (form == "text")
      return record("");
    if (form.starts_with("unit "))
      return record("0");
    if (form == "list" || form.starts_with("numbers "))
      return record(record::list());
    if (form == "map")
      return record(record::map());
    if (form == "form")
      return empty(node.parts.at(0).second);
    if (form.starts_with("enum ") && !node.parts.empty())
      return record(node.parts.front().first.substr(1));
    if (form == "struct") {
      record::map made;
      for (const auto& [name, part] : node.parts)
        made.emplace_back(name.substr(1), empty(part));
      return record(std::move(made));
    }
    if (form == "tuple" || form.starts_with("fixed ")) {
      record::list made;
      std::size_t count = node.parts.size();
      if (form != "tuple")
        std::from_chars(form.data() + 6, form.data() + form.size(), count);
      for (std::size_t i = 0; i < std::min<std::size_t>(count, 1'000'000); ++i)
        made.push_back(empty(node.parts.at(form == "tuple" ? i : 0).second));
      return record(std::move(made));
    }
    if (form == "variant" && !node.parts.empty()) {
      const auto& [name, part] = node.parts.front();
      return record(record::map{{name.substr(2, name.size() - 4), empty(part)}});
    }
    return {};
  }

  const contract_tree& contract_;
};

} // namespace

std::expected<record, std::string> shaped(const record& value, const contract_tree& contract, std::size_t node) {
  return shaper{contract}.shape(value, node, "");
}

} // namespace troupe::tools
