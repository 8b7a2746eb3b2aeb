#include <troupe/serializers/internal/diagnose/contract_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>

#include <fmt/core.h>

#include <troupe/base/varint.hpp>
#include <troupe/serializers/internal/typed/schema_code.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe::detail {

std::string quoted(std::string_view text) {
  return fmt::format("{:?}", text);
}

namespace {

/// Walks over a layout and writes it as text.
class layout_writer {
public:
  layout_writer(std::string& text, std::span<const std::byte> layout) : text_(text), left_(layout) {}

  /// Appends the next node to the current line. The node's parts get lines of their own, one step further in than
  /// `indent`.
  void node(std::size_t indent) {
    const auto code = byte();
    if (is_number_kind(code))
      return end(name_of(static_cast<number_kind>(code)));
    const auto form = static_cast<schema_code>(code);
    const auto word = word_of(form);
    switch (form) {
    case schema_code::optional:
    case schema_code::shared:
    case schema_code::pointee:
    case schema_code::list:
    case schema_code::form:
      return chain(word, indent);
    case schema_code::fixed:
      return chain(fmt::format("{} {}", word, count()), indent);
    case schema_code::unit:
      return chain(fmt::format("{} {}", word, quoted(string())), indent);
    case schema_code::array:
    case schema_code::numbers:
      return end(fmt::format("{} {}", word, name_of(static_cast<number_kind>(byte()))));
    case schema_code::variant:
      end(word);
      return parts(indent, [&] { return fmt::format("<{}>", quoted(string())); });
    case schema_code::structure:
      end(word);
      return parts(indent, [&] { return fmt::format(".{}", string()); });
    case schema_code::tuple:
      end(word);
      return parts(indent, [i = 0]() mutable { return fmt::format("[{}]", i++); });
    case schema_code::map:
      end(word);
      part(indent, "{key}");
      return part(indent, "{}");
    case schema_code::enumeration:
      return enumeration(indent);
    case schema_code::again:
      return end(fmt::format("{} {}", word, count()));
    case schema_code::boolean:
    case schema_code::text:
    case schema_code::none:
    case schema_code::frame:
    case schema_code::foreign:
    case schema_code::record:
    case schema_code::unsupported:
      break;
    }
    end(word);
  }

private:
  std::uint8_t byte() {
    const auto first = std::to_integer<std::uint8_t>(left_.front());
    left_ = left_.subspan(1);
    return first;
  }
  std::uint64_t count() {
    std::uint64_t value = 0;
    static_cast<void>(read_varint<varint_spelling::any>(
        value, [this](std::byte& next) { return !left_.empty() && (next = std::byte{byte()}, true); }));
    return value;
  }
  std::string_view string() {
    const auto size = static_cast<std::size_t>(count());
    const std::string_view found(reinterpret_cast<const char*>(left_.data()), size);
    left_ = left_.subspan(size);
    return found;
  }

  void end(std::string_view word) { text_ += fmt::format("{}\n", word); }
  void chain(std::string_view word, std::size_t indent) {
    text_ += fmt::format("{} ", word);
    node(indent);
  }
  void part(std::size_t indent, std::string_view name) {
    text_ += fmt::format("{:{}}{}: ", "", 2 * indent + 2, name);
    node(indent + 1);
  }
  void parts(std::size_t indent, auto&& name) {
    for (auto left = count(); left > 0; --left)
      part(indent, name());
  }
  void enumeration(std::size_t indent) {
    end(fmt::format("{} {}", word_of(schema_code::enumeration), name_of(static_cast<number_kind>(byte()))));
    for (auto left = count(); left > 0; --left) {
      const auto name = string();
      text_ += fmt::format("{:{}}.{}: {}\n", "", 2 * indent + 2, name, static_cast<std::int64_t>(count()));
    }
  }

  std::string& text_;
  std::span<const std::byte> left_;
};

/// Parses the output of layout_writer and contract_of, without trusting it.
class contract_parser {
public:
  explicit contract_parser(std::string_view text) : left_(text) {}

  std::expected<contract_tree, serialize_error> parse() {
    std::string_view line;
    if (!next(line) || line != contract_title)
      return bad_line("expected '" + std::string(contract_title) + "'");
    while (next(line))
      if (!top(line))
        return bad_line(reason_);
    return std::move(tree_);
  }

private:
  static constexpr std::size_t indent_max = 200;

  std::unexpected<serialize_error> bad_line(std::string_view why) const {
    return failure(serialize_errc::malformed, fmt::format("line {}: {}", line_number_, why));
  }
  bool fail(std::string_view why) { return reason_ = why, false; }

  bool next(std::string_view& line) {
    if (left_.empty())
      return false;
    const auto end = left_.find('\n');
    line = left_.substr(0, end);
    left_ = end == std::string_view::npos ? std::string_view() : left_.substr(end + 1);
    ++line_number_;
    return true;
  }
  /// The next line if it is indented by that many steps, else nullopt.
  std::optional<std::string_view> next_at(std::size_t indent) {
    if (!left_.starts_with(std::string(2 * indent, ' ')) || left_.size() <= 2 * indent || left_[2 * indent] == ' ')
      return std::nullopt;
    std::string_view line;
    next(line);
    return line.substr(2 * indent);
  }

  /// Splits the line at the first ": " outside of quotes.
  static bool split(std::string_view line, std::string_view& name, std::string_view& rest) {
    bool within = false;
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      if (line[i] == '"')
        within = !within;
      else if (line[i] == '\\')
        ++i;
      else if (!within && line[i] == ':' && line[i + 1] == ' ')
        return name = line.substr(0, i), rest = line.substr(i + 2), true;
    }
    return false;
  }

  bool top(std::string_view line) {
    std::string_view name;
    std::string_view rest;
    if (!split(line, name, rest))
      return fail("expected 'type \"alias\": ...' or 'function \"name\": ...'");
    if (name.starts_with("function \""))
      return tree_.functions.emplace(name.substr(9), rest).second || fail("a function twice");
    if (!name.starts_with("type \""))
      return fail("neither a type nor a function");
    numbered_.clear();
    std::size_t whole = 0;
    return node(rest, 1, whole) && (tree_.types.emplace(name.substr(5), whole).second || fail("an alias twice"));
  }

  /// Whether the chain begins with that word. If so, removes the word.
  static bool take(std::string_view& chain, std::string_view word) {
    if (!chain.starts_with(word))
      return false;
    chain.remove_prefix(word.size());
    return true;
  }
  static std::string_view word_with_argument(std::string_view& chain) {
    bool within = false;
    std::size_t blanks = 0;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      if (chain[i] == '"')
        within = !within;
      else if (chain[i] == '\\')
        ++i;
      if (!within && chain[i] == ' ' && ++blanks == 2) {
        const auto word = chain.substr(0, i);
        chain.remove_prefix(i + 1);
        return word;
      }
    }
    return {};
  }

  /// Whether a chain may end with that word.
  static bool is_end(std::string_view word) {
    constexpr std::array<std::string_view, 11> words{"bool",
                                                     "text",
                                                     "nothing",
                                                     "frame",
                                                     "record",
                                                     "struct",
                                                     "variant",
                                                     "tuple",
                                                     "map",
                                                     "unsupported",
                                                     "codec of the registry"};
    if (std::ranges::find(words, word) != words.end() || word.starts_with("codec of its own for \""))
      return true;
    if (!take(word, "numbers ") && !take(word, "array "))
      static_cast<void>(take(word, "enum "));
    for (std::uint8_t code = 0; code < 32; ++code)
      if (is_number_kind(code) && name_of(static_cast<number_kind>(code)) == word)
        return true;
    return false;
  }

  bool node(std::string_view chain, std::size_t indent, std::size_t& made) {
    if (indent > indent_max)
      return fail("nested too deep");
    if (std::string_view rest = chain; take(rest, "again ")) {
      std::size_t number = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
      if (error != std::errc() || end != rest.data() + rest.size() || number >= numbered_.size())
        return fail("'again' refers to a part that is not further up");
      return made = numbered_[number], true;
    }
    made = tree_.nodes.size();
    tree_.nodes.emplace_back();
    for (const std::string_view word : {"optional", "shared", "pointee", "list", "form"})
      if (std::string_view rest = chain; take(rest, word) && take(rest, " "))
        return within(made, word, rest, indent);
    if (chain.starts_with("fixed ") || chain.starts_with("unit "))
      if (const auto word = word_with_argument(chain); !word.empty())
        return within(made, word, chain, indent);
    if (!is_end(chain))
      return fail(fmt::format("'{}' is not a form, or its parts are missing", chain.substr(0, 100)));
    if (chain == "struct")
      numbered_.push_back(made);
    tree_.nodes[made].form = chain;
    return parts(made, indent);
  }

  /// Adds a link of the chain: a node with one part of the same indent.
  bool within(std::size_t node_index, std::string_view word, std::string_view chain, std::size_t indent) {
    tree_.nodes[node_index].form = word;
    if (word == "form")
      numbered_.push_back(node_index);
    if (++links_ > indent_max)
      return fail("nested too deep");
    std::size_t part = 0;
    if (!node(chain, indent, part))
      return false;
    --links_;
    tree_.nodes[node_index].parts.emplace_back(word == "list" || word.starts_with("fixed") ? "[]" : "", part);
    return true;
  }

  bool parts(std::size_t node_index, std::size_t indent) {
    const auto is_enum = tree_.nodes[node_index].form.starts_with("enum ");
    std::set<std::string_view> names; // Not a hash table, because a hostile text could choose names that collide.
    while (const auto line = next_at(indent)) {
      std::string_view name;
      std::string_view rest;
      if (!split(*line, name, rest))
        return fail("expected a name, ': ' and a type");
      if (!names.insert(name).second)
        return fail(fmt::format("{} twice", name));
      std::size_t part = 0;
      if (is_enum) {
        part = tree_.nodes.size();
        tree_.nodes.push_back({.form = std::string(rest), .parts = {}});
      } else if (!node(rest, indent + 1, part)) {
        return false;
      }
      tree_.nodes[node_index].parts.emplace_back(name, part);
    }
    return true;
  }

  std::string_view left_;
  std::size_t line_number_ = 0;
  std::size_t links_ = 0;
  std::string reason_;
  contract_tree tree_;
  std::vector<std::size_t> numbered_;
};

} // namespace

void append_layout(std::string& text, std::span<const std::byte> layout) {
  layout_writer(text, layout).node(0);
}

} // namespace troupe::detail

namespace troupe {

std::expected<contract_tree, serialize_error> parse_contract(std::string_view text) {
  return detail::contract_parser(text).parse();
}

} // namespace troupe
