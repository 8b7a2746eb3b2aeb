// The effects of a change of a layout: the rules by which `typed`, `msgpack` and `json` read other versions of a type.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include <fmt/core.h>

#include <troupe/serializers/contract.hpp>
#include <troupe/serializers/internal/diagnose/contract_text.hpp>

namespace troupe {

namespace {

using enum contract_effect;

bool is_number(std::string_view form) {
  constexpr std::array<std::string_view, 10> numbers{"i8",  "i16", "i32", "i64", "u8",
                                                     "u16", "u32", "u64", "f32", "f64"};
  return std::ranges::find(numbers, form) != numbers.end();
}

/// The first word of a form. Its arguments are compared separately.
std::string_view word_of(std::string_view form) {
  return form.substr(0, form.find(' '));
}

// Deeper levels are not compared, because layouts that contain themselves could go on for long.
constexpr std::size_t depth_max = 200;

class comparison {
public:
  /// to_newer: the older end sends, the newer one receives; what the older end would refuse is left out.
  enum class direction : std::uint8_t { both, to_newer };

  comparison(const contract_tree& older, const contract_tree& newer, direction read = direction::both)
      : older_(older), newer_(newer), read_(read) {}

  std::vector<contract_change> take() && {
    for (const auto& [alias, node] : older_.types) {
      const auto found = newer_.types.find(alias);
      const auto place = unquoted(alias);
      seen_.clear();
      if (found == newer_.types.end())
        add(breaking, place,
            is_one_way() ? "the receiver does not know this type"
                         : "is removed: values of it from older peers are refused");
      else
        compare(place, node, found->second);
    }
    if (!is_one_way())
      for (const auto& [alias, node] : newer_.types)
        if (!older_.types.contains(alias))
          add(harmless, unquoted(alias), "is new: older peers refuse it");
    for (const auto& [name, shape] : older_.functions) {
      const auto found = newer_.functions.find(name);
      if (found == newer_.functions.end())
        add(breaking, "function " + unquoted(name),
            is_one_way() ? "the receiver does not have this function"
                         : "is removed: tasks from older peers are refused");
      else if (found->second != shape)
        add(breaking, "function " + unquoted(name), fmt::format("{} became {}", shape, found->second));
    }
    if (!is_one_way())
      for (const auto& [name, shape] : newer_.functions)
        if (!older_.functions.contains(name))
          add(harmless, "function " + unquoted(name), "is new: older peers do not have it");
    return std::move(changes_);
  }

private:
  static std::string unquoted(std::string_view name) {
    return std::string(name.size() >= 2 ? name.substr(1, name.size() - 2) : name);
  }

  [[nodiscard]] bool is_one_way() const { return read_ == direction::to_newer; }

  void add(contract_effect effect, std::string place, std::string what) {
    changes_.push_back({effect, std::move(place), std::move(what)});
  }
  void became(contract_effect effect, const std::string& place, const contract_node& from, const contract_node& to,
              std::string_view consequence) {
    add(effect, place,
        is_one_way() ? fmt::format("{} at the sender, {} at the receiver: {}", from.form, to.form, consequence)
                     : fmt::format("{} became {}: {}", from.form, to.form, consequence));
  }

  /// Whether the node only wraps another one: its value may be null, or is an object to which others refer.
  static bool is_holder(const contract_node& node) { return node.form == "optional" || node.form == "shared"; }
  static std::size_t held(const contract_node& node) { return node.parts[0].second; }

  void compare(const std::string& place, std::size_t from_index, std::size_t to_index) {
    if (depth_ >= depth_max || !seen_.emplace(from_index, to_index).second)
      return; // A type that contains itself.
    struct descent {
      std::size_t& depth;
      explicit descent(std::size_t& of) : depth(of) { ++depth; }
      ~descent() { --depth; }
    } deeper(depth_);
    const auto& from = older_.nodes[from_index];
    const auto& to = newer_.nodes[to_index];
    if (from.form == "form")
      return compare(place, held(from), to_index);
    if (to.form == "form")
      return compare(place, from_index, held(to));
    if (is_holder(from) || is_holder(to))
      return compare_holders(place, from_index, to_index);
    if (is_list(from) && is_list(to))
      return compare_lists(place, from, to);
    if (word_of(from.form) != word_of(to.form))
      return compare_sorts(place, from, to);
    if (from.form.starts_with("enum "))
      return compare_names(place, from, to, "value");
    if (from.form == "variant")
      return compare_names(place, from, to, "alternative");
    if (from.form == "struct")
      return compare_fields(place, from, to);
    if (word_of(from.form) == "array") {
      if (from.form != to.form)
        became(depends_on_values, place, from, to, "elements that do not fit are refused");
      return;
    }
    if (from.form != to.form) // Units and codecs may differ behind the first word.
      return became(breaking, place, from, to, "neither end reads values of the other");
    compare_parts(place, from, to);
  }

  void compare_holders(const std::string& place, std::size_t from_index, std::size_t to_index) {
    const auto& from = older_.nodes[from_index];
    const auto& to = newer_.nodes[to_index];
    if (from.form == to.form)
      return compare(place, held(from), held(to));
    if ((from.form == "nothing" && to.form == "optional") || (from.form == "optional" && to.form == "nothing"))
      return became(depends_on_values, place, from, to, "values that are present are refused");
    if (!is_holder(from) && to.form == "optional") {
      if (!is_one_way())
        became(depends_on_values, place, from, to, "older peers refuse it if it is absent");
      return compare(place, from_index, held(to));
    }
    if (from.form == "optional" && !is_holder(to)) {
      became(depends_on_values, place, from, to,
             is_one_way() ? "absent values are refused" : "values that are absent at older peers are refused");
      return compare(place, held(from), to_index);
    }
    if (is_one_way() && from.form != "shared")
      return;
    became(breaking, place, from, to,
           is_one_way()            ? "values are refused"
           : from.form == "shared" ? "values from older peers are refused"
                                   : "older peers refuse values from newer ones");
  }

  /// Lists, sets, vectors of numbers, arrays of fixed length and tuples all travel as lists.
  static bool is_list(const contract_node& node) {
    const auto word = word_of(node.form);
    return word == "list" || word == "numbers" || word == "fixed" || word == "tuple";
  }
  static std::string count_of(const contract_node& node) {
    if (node.form == "tuple")
      return std::to_string(node.parts.size());
    return word_of(node.form) == "fixed" ? node.form.substr(6) : "";
  }

  void compare_lists(const std::string& place, const contract_node& from, const contract_node& to) {
    if (const auto count = count_of(from), there = count_of(to); count != there) {
      if (!count.empty() && !there.empty())
        return became(breaking, place, from, to, "lists of other lengths are refused");
      became(depends_on_values, place, from, to, "lists of other lengths are refused");
    }
    const auto elements = [](const contract_node& node) {
      return word_of(node.form) == "numbers" ? 1 : node.parts.size();
    };
    for (std::size_t i = 0; i < std::max(elements(from), elements(to)); ++i)
      compare_elements(place, from, to, i);
  }
  void compare_elements(const std::string& place, const contract_node& from, const contract_node& to, std::size_t i) {
    const auto in_list = place + (from.form == "tuple" || to.form == "tuple" ? fmt::format("[{}]", i) : "[]");
    const auto element = [i](const contract_node& node) -> std::size_t {
      return node.parts[std::min(i, node.parts.size() - 1)].second;
    };
    const auto kind = [](const contract_node& node) { return contract_node{node.form.substr(8), {}}; };
    const auto from_numbers = word_of(from.form) == "numbers";
    const auto to_numbers = word_of(to.form) == "numbers";
    if (from.form == "tuple" && from.parts.empty())
      return;
    if (to.form == "tuple" && to.parts.empty())
      return;
    if (!from_numbers && !to_numbers)
      return compare(in_list, element(from), element(to));
    const auto left = from_numbers ? kind(from) : older_.nodes[element(from)];
    const auto right = to_numbers ? kind(to) : newer_.nodes[element(to)];
    if (left.form != right.form)
      compare_sorts(in_list, left, right);
  }

  /// Whether a wider number has all values of another of its sort, such as u64 those of u32.
  static bool fits(std::string_view from, std::string_view to) {
    const auto bits = [](std::string_view form) {
      int number = 0;
      std::from_chars(form.data() + 1, form.data() + form.size(), number);
      return number; // 0: not a letter and a number of bits.
    };
    const auto narrow = bits(from);
    return narrow > 0 && narrow < bits(to) && from[0] == to[0];
  }

  void compare_sorts(const std::string& place, const contract_node& from, const contract_node& to) {
    if (is_number(from.form) && is_number(to.form)) {
      if (!is_one_way() || !fits(from.form, to.form))
        became(depends_on_values, place, from, to, "values that do not fit are refused");
      return;
    }
    const auto is = [&](std::string_view one, std::string_view other) {
      const auto left = word_of(from.form);
      const auto right = word_of(to.form);
      return (left == one && right == other) || (left == other && right == one);
    };
    if (is("enum", "text"))
      return became(depends_on_values, place, from, to, "texts that name no value there are refused");
    // An enum value travels as its name. A number can be read as an enum value, but a name cannot be read as a number.
    if (word_of(from.form) == "enum" && is_number(to.form))
      return became(breaking, place, from, to,
                    is_one_way() ? "values are refused" : "values from older peers are refused");
    if (is_number(from.form) && word_of(to.form) == "enum")
      return is_one_way() ? became(depends_on_values, place, from, to, "numbers that are no value there are refused")
                          : became(breaking, place, from, to, "older peers refuse values from newer ones");
    if (is("variant", "map"))
      return became(depends_on_values, place, from, to, "a map of one entry is taken for an alternative");
    if (from.form == "record" || to.form == "record")
      return became(depends_on_values, place, from, to, "records take all values, and give those of that shape");
    if (word_of(from.form) == "codec" || word_of(to.form) == "codec")
      return became(depends_on_values, place, from, to, "the codec's form decides");
    became(breaking, place, from, to, "neither end reads values of the other");
  }

  /// A node's parts by name. A sorted map and not a hash table, because a hostile text could choose names that collide.
  class parts_by_name {
  public:
    explicit parts_by_name(const contract_node& of) {
      for (const auto& [name, part] : of.parts)
        parts_.emplace(name, part);
    }
    /// The part of that name; null if there is none.
    [[nodiscard]] const std::size_t* find(std::string_view name) const {
      const auto found = parts_.find(name);
      return found == parts_.end() ? nullptr : &found->second;
    }

  private:
    std::map<std::string_view, std::size_t> parts_;
  };

  /// For enums and variants: each end refuses the names that it does not know.
  void compare_names(const std::string& place, const contract_node& from, const contract_node& to,
                     std::string_view what) {
    const parts_by_name known_from(from);
    const parts_by_name known_to(to);
    for (const auto& [name, part] : from.parts) {
      const auto* there = known_to.find(name);
      if (there == nullptr)
        add(depends_on_values, place + name,
            is_one_way() ? fmt::format("the receiver does not know this {}", what)
                         : fmt::format("the {} is removed: refused from older peers", what));
      else if (from.form == "variant")
        compare(place + name, part, *there);
    }
    if (is_one_way())
      return;
    for (const auto& [name, part] : to.parts)
      if (known_from.find(name) == nullptr)
        add(depends_on_values, place + name, fmt::format("the {} is new: older peers refuse it", what));
  }

  void compare_fields(const std::string& place, const contract_node& from, const contract_node& to) {
    const parts_by_name known_from(from);
    const parts_by_name known_to(to);
    for (const auto& [name, part] : from.parts)
      if (const auto* there = known_to.find(name))
        compare(place + name, part, *there);
      else if (!is_one_way())
        add(harmless, place + name, "is removed: older peers find its default, and theirs is skipped");
    for (const auto& [name, part] : to.parts)
      if (!is_one_way() && known_from.find(name) == nullptr)
        add(harmless, place + name, "is new: older peers skip it, and theirs has its default");
  }

  /// Compares the parts of equal forms: keys and values, the number under a unit, the target of a pointer.
  void compare_parts(const std::string& place, const contract_node& from, const contract_node& to) {
    const parts_by_name known_to(to);
    for (const auto& [name, part] : from.parts)
      if (const auto* there = known_to.find(name))
        compare(place + name, part, *there);
  }

  const contract_tree& older_;
  const contract_tree& newer_;
  const direction read_;
  std::size_t depth_ = 0;
  std::set<std::pair<std::size_t, std::size_t>> seen_;
  std::vector<contract_change> changes_;
};

} // namespace

std::expected<std::vector<contract_change>, serialize_error> compare_contracts(std::string_view older,
                                                                               std::string_view newer) {
  const auto before = parse_contract(older);
  if (!before)
    return std::unexpected(before.error());
  const auto after = parse_contract(newer);
  if (!after)
    return std::unexpected(after.error());
  return comparison(*before, *after).take();
}

std::expected<std::vector<contract_change>, serialize_error> refused_by_receiver(std::string_view sender,
                                                                                 std::string_view receiver) {
  const auto from = parse_contract(sender);
  if (!from)
    return std::unexpected(from.error());
  const auto to = parse_contract(receiver);
  if (!to)
    return std::unexpected(to.error());
  return comparison(*from, *to, comparison::direction::to_newer).take();
}

std::expected<std::optional<contract_change>, serialize_error> find_unreadable(std::string_view writer,
                                                                               std::string_view reader) {
  auto refused = refused_by_receiver(writer, reader);
  if (!refused)
    return std::unexpected(std::move(refused).error());
  for (auto& each : *refused)
    if (each.effect == breaking)
      return std::move(each);
  return std::nullopt;
}

} // namespace troupe
