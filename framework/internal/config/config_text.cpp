#include <troupe/framework/internal/config/config_text.hpp>

#include <algorithm>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/config_literals.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

constexpr std::string_view root = "troupe";
constexpr std::size_t depth_max = 64; // Of nested braces and brackets, which are read recursively.

bool is_key_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9')
         || letter == '-' || letter == '_';
}

/// Why a text is no configuration, with its place. Does not leave this file.
struct refusal {
  std::string why;
};

config_value group_value() {
  return {.form = config_value::shape::group, .text = {}, .elements = {}};
}

/// Reads a text from front to end. Throws a `refusal`.
class scanner {
public:
  scanner(std::string_view text, std::string file, bool in_file)
      : text_(text), rest_(text), file_(std::move(file)), in_file_(in_file) {}

  config_text read_file() {
    key_path section;
    for (skip_blanks(); !at_end(); skip_blanks()) {
      const auto begin = at_;
      auto is_own = false;
      if (peek() == '[') {
        read_header(section);
      } else {
        const auto top_key = read_entry(section, 0);
        is_own = section.empty() && top_key == root;
      }
      if (is_own || (!section.empty() && section.front() == root))
        blank(begin, at_);
    }
    return {std::move(items_), std::move(rest_)};
  }

  config_item read_argument() {
    auto path = read_path();
    path.erase(path.begin());
    config_value value{.text = "true", .elements = {}};
    value.is_switch = at_end();
    if (!value.is_switch) {
      if (!take('='))
        fail("expected = and a value after the option, found " + found());
      // As for CAF's own options, unquoted text is taken unchanged.
      if (is_at("\"[")) {
        value = read_value({}, 0);
        if (!at_end())
          fail("unexpected text after the value: " + found());
      } else {
        value.text = text_.substr(at_);
      }
    }
    value.is_argument = true;
    return {std::move(path), std::move(value), place()};
  }

private:
  using key_path = std::vector<std::string>;

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return text_[at_]; }
  [[nodiscard]] bool is_at(std::string_view letters) const {
    return !at_end() && letters.find(peek()) != std::string_view::npos;
  }
  bool take(char letter) {
    const auto is_here = !at_end() && peek() == letter;
    at_ += is_here ? 1 : 0;
    return is_here;
  }
  [[nodiscard]] config_place place() const { return {file_, in_file_ ? line_ : 0}; }

  [[nodiscard]] std::string found() const {
    if (at_end())
      return "the end";
    return is_at("\r\n") ? "the end of the line" : '"' + one_line(text_.substr(at_, 1)) + '"';
  }

  [[noreturn]] void fail(const std::string& why) const { fail_at(place(), why); }
  [[noreturn]] static void fail_at(const config_place& where, const std::string& why) {
    throw refusal{where.text() + ": " + why};
  }

  void blank(std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end; ++i)
      if (rest_[i] != '\n')
        rest_[i] = ' ';
  }

  /// Skips blanks, line ends and comments.
  void skip_blanks() {
    for (; !at_end(); ++at_) {
      if (is_at(";#")) {
        const auto begin = std::exchange(at_, std::min(text_.find('\n', at_), text_.size()));
        blank(begin, at_);
        if (at_end())
          return;
      }
      if (peek() == '\n')
        ++line_;
      else if (peek() == '\r')
        rest_[at_] = ' ';
      else if (!is_at(" \t"))
        return;
    }
  }

  void skip_spaces() {
    while (is_at(" \t"))
      ++at_;
  }

  key_path read_path() {
    key_path parts;
    do {
      std::string part;
      if (is_at("\""))
        part = read_quoted('"');
      else
        while (!at_end() && is_key_letter(peek()))
          part += text_[at_++];
      if (part.empty())
        fail("expected a key of letters, digits, - and _, or an address in double quotes, found " + found());
      parts.push_back(std::move(part));
    } while (take('.'));
    return parts;
  }

  std::string read_quoted(char quote) {
    const auto begin = at_++;
    for (; !at_end() && peek() != quote && peek() != '\n'; ++at_)
      if (peek() == '\\')
        ++at_;
    if (!take(quote))
      fail("a text that begins with " + std::string{quote} + " does not end in its line");
    const auto source = text_.substr(begin, at_ - begin);
    if (quote == '\'')
      return std::string{source.substr(1, source.size() - 2)};
    auto text = read_literal<std::string>(source);
    if (!text) // The message does not quote the text, which may be a secret.
      fail(R"(a text in quotes cannot be read; valid after \ are \, ", n, r and t)");
    return *std::move(text);
  }

  /// Reads [a.b]: the items after it, up to the next header, are in that group.
  void read_header(key_path& section) {
    const auto where = place();
    ++at_;
    skip_spaces();
    section = read_path();
    skip_spaces();
    if (!take(']'))
      fail("expected the ] of a section's name, found " + found());
    add(section, group_value(), where);
  }

  /// Reads a key and its value. Returns the first part of the key.
  std::string read_entry(const key_path& group, std::size_t depth) {
    const auto where = place();
    const auto key = read_path();
    if (depth == 0 && !group.empty() && group.front() != root && key.front() == root)
      fail("troupe is in section [" + group.front()
           + "], where it has no effect; move it to the front of the file, or write its keys in a section [troupe]");
    skip_spaces();
    if (take('='))
      skip_spaces();
    else if (!is_at("{"))
      fail("expected = or { after the key \"" + key.back() + "\", found " + found());
    auto whole = group;
    whole.insert(whole.end(), key.begin(), key.end());
    auto value = read_value(whole, depth);
    add(std::move(whole), std::move(value), where);
    return key.front();
  }

  /// Keeps Troupe's items, except an empty group `troupe`.
  void add(key_path whole, config_value value, const config_place& where) {
    if (whole.front() != root || (whole.size() == 1 && value.form == config_value::shape::group))
      return;
    whole.erase(whole.begin());
    items_.push_back({std::move(whole), std::move(value), where});
  }

  /// The content of braces becomes items below `path`.
  config_value read_value(const key_path& path, std::size_t depth) {
    if (depth >= depth_max)
      fail("braces and brackets are nested more than 64 deep");
    if (is_at("\"'"))
      return {.form = config_value::shape::text, .text = read_quoted(peek()), .elements = {}};
    if (is_at("["))
      return read_list(path, depth);
    if (is_at("{"))
      return read_group(path, depth);
    auto end = std::min(text_.find_first_of(" \t\r\n,;#[]{}\"'=", at_), text_.size());
    if (is_at("<")) { // A URI.
      end = std::min(text_.find_first_of(">\n", at_), text_.size());
      if (end == text_.size() || text_[end++] != '>')
        fail("a value that begins with < does not end in its line");
    }
    if (end == at_)
      fail("expected a value, found " + found());
    const auto begin = std::exchange(at_, end);
    return {.text = std::string{text_.substr(begin, end - begin)}, .elements = {}};
  }

  config_value read_list(const key_path& path, std::size_t depth) {
    const auto opened = place();
    config_value list{.form = config_value::shape::list, .text = {}, .elements = {}};
    ++at_;
    for (skip_blanks(); !is_at("]"); skip_blanks()) {
      if (at_end())
        fail_at(opened, "a list has a [ without its ]");
      list.elements.push_back(read_value(path, depth + 1));
      skip_blanks();
      if (!at_end() && !take(',') && !is_at("]"))
        fail("expected , or ] in a list, found " + found());
    }
    ++at_;
    return list;
  }

  config_value read_group(const key_path& path, std::size_t depth) {
    const auto opened = place();
    ++at_;
    for (skip_blanks(); !is_at("}"); skip_blanks()) {
      if (at_end())
        fail_at(opened, "a group has a { without its }");
      read_entry(path, depth + 1);
      skip_blanks();
      take(',');
    }
    ++at_;
    return group_value();
  }

  const std::string_view text_;
  std::string rest_;
  const std::string file_;
  const bool in_file_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::vector<config_item> items_;
};

/// Turns a thrown refusal into an error.
template <class Read>
auto checked(Read read) -> std::expected<decltype(read()), node_error> try {
  return read();
} catch (refusal& refused) {
  return std::unexpected{node_error{node_errc::bad_option, std::move(refused.why)}};
}

} // namespace

std::string config_place::text() const {
  return line == 0 ? file : file + ':' + std::to_string(line);
}

std::expected<config_text, node_error> read_config_text(std::string_view text, const std::string& file) {
  return checked([&] {
    if (text.size() > config_text_bytes_max)
      throw refusal{file + " has more than " + grouped(config_text_bytes_max) + " bytes"};
    return scanner{text, file, true}.read_file();
  });
}

std::expected<config_item, node_error> read_config_argument(std::string_view argument) {
  // Leaves out the value, which may be a secret.
  const auto place = "command line: --" + one_line(cut(argument.substr(0, argument.find('='))));
  return checked([&] { return scanner{argument, place, false}.read_argument(); });
}

std::string dotted(const std::vector<std::string>& path) {
  std::string text{root};
  for (const auto& part : path)
    text += std::ranges::all_of(part, is_key_letter) ? '.' + part : ".\"" + one_line(cut(part)) + '"';
  return text;
}

} // namespace troupe::internal
