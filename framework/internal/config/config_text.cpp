#include <troupe/framework/internal/config/config_text.hpp>

#include <algorithm>
#include <utility>

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

/// Reads a text from front to end.
class scanner {
public:
  scanner(std::string_view text, std::string file, bool in_file)
      : text_(text), rest_(text), file_(std::move(file)), in_file_(in_file) {}

  std::expected<config_text, node_error> read_file() {
    std::vector<std::string> section;
    for (skip_blanks(); !at_end(); skip_blanks()) {
      auto begin = at_;
      auto is_header = peek() == '[';
      auto read = is_header ? read_header(section) : read_entry(section, 0);
      if (!read)
        return std::unexpected{std::move(read).error()};
      if (!section.empty() && section.front() == root)
        blank(begin, at_);
      else if (!is_header && section.empty() && top_key_ == root)
        blank(begin, at_);
    }
    return config_text{std::move(items_), std::move(rest_)};
  }

  std::expected<config_item, node_error> read_argument() {
    auto path = read_path();
    if (!path)
      return std::unexpected{std::move(path).error()};
    config_value value{.text = "true", .elements = {}};
    const auto has_no_value = at_end();
    if (!has_no_value) {
      if (peek() != '=')
        return fail("expected = and a value after the option, found " + found());
      ++at_;
      // As for CAF's own options, unquoted text is taken unchanged.
      if (!at_end() && (peek() == '"' || peek() == '[')) {
        auto read = read_value({}, 0);
        if (!read)
          return std::unexpected{std::move(read).error()};
        value = *std::move(read);
        if (!at_end())
          return fail("unexpected text after the value: " + found());
      } else {
        value.text = text_.substr(at_);
      }
    }
    value.is_switch = has_no_value;
    value.is_argument = true;
    path->erase(path->begin());
    return config_item{*std::move(path), std::move(value), place()};
  }

private:
  using result = std::expected<void, node_error>;

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return text_[at_]; }
  [[nodiscard]] config_place place() const { return {file_, in_file_ ? line_ : 0}; }

  [[nodiscard]] std::string found() const {
    if (at_end())
      return "the end";
    if (peek() == '\n' || peek() == '\r')
      return "the end of the line";
    return '"' + one_line(text_.substr(at_, 1)) + '"';
  }

  [[nodiscard]] std::unexpected<node_error> fail(const std::string& why) const {
    return std::unexpected{node_error{node_errc::bad_option, place().text() + ": " + why}};
  }

  void blank(std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end; ++i)
      if (rest_[i] != '\n')
        rest_[i] = ' ';
  }

  /// Skips blanks, commas between entries, line ends and comments.
  void skip_blanks() {
    for (; !at_end(); ++at_) {
      if (peek() == ';' || peek() == '#') {
        auto end = std::min(text_.find('\n', at_), text_.size());
        blank(at_, end);
        at_ = end;
        if (at_end())
          return;
      }
      if (peek() == '\n')
        ++line_;
      else if (peek() == '\r')
        rest_[at_] = ' ';
      else if (peek() != ' ' && peek() != '\t')
        return;
    }
  }

  void skip_spaces() {
    while (!at_end() && (peek() == ' ' || peek() == '\t'))
      ++at_;
  }

  std::expected<std::vector<std::string>, node_error> read_path() {
    std::vector<std::string> path;
    for (;;) {
      std::string part;
      if (!at_end() && peek() == '"') {
        auto quoted = read_quoted('"');
        if (!quoted)
          return std::unexpected{std::move(quoted).error()};
        part = *std::move(quoted);
      } else {
        while (!at_end() && is_key_letter(peek()))
          part += text_[at_++];
      }
      if (part.empty())
        return fail("expected a key of letters, digits, - and _, or an address in double quotes, found " + found());
      path.push_back(std::move(part));
      if (at_end() || peek() != '.')
        return path;
      ++at_;
    }
  }

  std::expected<std::string, node_error> read_quoted(char quote) {
    auto begin = at_++;
    for (; !at_end() && peek() != quote && peek() != '\n'; ++at_)
      if (peek() == '\\')
        ++at_;
    if (at_end() || peek() != quote)
      return fail("a text that begins with " + std::string{quote} + " does not end in its line");
    ++at_;
    auto source = text_.substr(begin, at_ - begin);
    if (quote == '\'')
      return std::string{source.substr(1, source.size() - 2)};
    auto text = read_text_literal(source);
    if (!text)
      return fail(R"(a text in quotes cannot be read; valid after \ are \, ", n, r and t)"); // Not quoted here: it may
                                                                                             // be a secret.
    return *std::move(text);
  }

  /// Reads [a.b]: the items after it, up to the next header, are in that group.
  result read_header(std::vector<std::string>& section) {
    auto where = place();
    ++at_;
    skip_spaces();
    auto path = read_path();
    if (!path)
      return std::unexpected{std::move(path).error()};
    skip_spaces();
    if (at_end() || peek() != ']')
      return fail("expected the ] of a section's name, found " + found());
    ++at_;
    section = *std::move(path);
    add({}, section, {.form = config_value::shape::group, .text = {}, .elements = {}}, where);
    return {};
  }

  result read_entry(const std::vector<std::string>& group, std::size_t depth) {
    auto where = place();
    auto path = read_path();
    if (!path)
      return std::unexpected{std::move(path).error()};
    if (depth == 0)
      top_key_ = path->front();
    if (depth == 0 && !group.empty() && group.front() != root && path->front() == root)
      return fail("troupe is in section [" + group.front()
                  + "], where it has no effect; move it to the front of "
                    "the file, or write its keys in a section [troupe]");
    skip_spaces();
    if (!at_end() && peek() == '=') {
      ++at_;
      skip_spaces();
    } else if (at_end() || peek() != '{') {
      return fail("expected = or { after the key \"" + path->back() + "\", found " + found());
    }
    auto whole = group;
    whole.insert(whole.end(), path->begin(), path->end());
    auto value = read_value(whole, depth);
    if (!value)
      return std::unexpected{std::move(value).error()};
    add(group, *path, *std::move(value), where);
    return {};
  }

  void add(const std::vector<std::string>& group, const std::vector<std::string>& path, config_value value,
           const config_place& where) {
    auto whole = group;
    whole.insert(whole.end(), path.begin(), path.end());
    if (whole.front() != root)
      return;
    whole.erase(whole.begin());
    if (!whole.empty() || value.form != config_value::shape::group)
      items_.push_back({std::move(whole), std::move(value), where});
  }

  /// The content of braces becomes items below `path`.
  std::expected<config_value, node_error> read_value(const std::vector<std::string>& path, std::size_t depth) {
    if (depth >= depth_max)
      return fail("braces and brackets are nested more than 64 deep");
    if (at_end())
      return fail("expected a value, found the end");
    switch (peek()) {
    case '"':
    case '\'': {
      auto text = read_quoted(peek());
      if (!text)
        return std::unexpected{std::move(text).error()};
      return config_value{.form = config_value::shape::text, .text = *std::move(text), .elements = {}};
    }
    case '[':
      return read_list(path, depth);
    case '{':
      return read_group(path, depth);
    case '<': { // A URI.
      auto end = text_.find_first_of(">\n", at_);
      if (end == std::string_view::npos || text_[end] != '>')
        return fail("a value that begins with < does not end in its line");
      auto begin = std::exchange(at_, end + 1);
      return config_value{.text = std::string{text_.substr(begin, at_ - begin)}, .elements = {}};
    }
    default:
      break;
    }
    auto end = std::min(text_.find_first_of(" \t\r\n,;#[]{}\"'=", at_), text_.size());
    if (end == at_)
      return fail("expected a value, found " + found());
    auto begin = std::exchange(at_, end);
    return config_value{.text = std::string{text_.substr(begin, at_ - begin)}, .elements = {}};
  }

  std::expected<config_value, node_error> read_list(const std::vector<std::string>& path, std::size_t depth) {
    auto opened = place();
    config_value list{.form = config_value::shape::list, .text = {}, .elements = {}};
    ++at_;
    for (skip_blanks(); !at_end() && peek() != ']';) {
      auto element = read_value(path, depth + 1);
      if (!element)
        return element;
      list.elements.push_back(*std::move(element));
      skip_blanks();
      if (!at_end() && peek() == ',') {
        ++at_;
        skip_blanks();
      } else if (!at_end() && peek() != ']') {
        return fail("expected , or ] in a list, found " + found());
      }
    }
    if (at_end())
      return std::unexpected{node_error{node_errc::bad_option, opened.text() + ": a list has a [ without its ]"}};
    ++at_;
    return list;
  }

  std::expected<config_value, node_error> read_group(const std::vector<std::string>& path, std::size_t depth) {
    auto opened = place();
    ++at_;
    for (skip_blanks(); !at_end() && peek() != '}';) {
      if (auto read = read_entry(path, depth + 1); !read)
        return std::unexpected{std::move(read).error()};
      skip_blanks();
      if (!at_end() && peek() == ',') {
        ++at_;
        skip_blanks();
      }
    }
    if (at_end())
      return std::unexpected{node_error{node_errc::bad_option, opened.text() + ": a group has a { without its }"}};
    ++at_;
    return config_value{.form = config_value::shape::group, .text = {}, .elements = {}};
  }

  const std::string_view text_;
  std::string rest_;
  const std::string file_;
  const bool in_file_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::string top_key_; // The top-level key of the latest entry.
  std::vector<config_item> items_;
};

} // namespace

std::string config_place::text() const {
  return line == 0 ? file : file + ':' + std::to_string(line);
}

std::expected<config_text, node_error> read_config_text(std::string_view text, const std::string& file) {
  return scanner{text, file, true}.read_file();
}

std::expected<config_item, node_error> read_config_argument(std::string_view argument) {
  // Leaves out the value, which may be a secret.
  return scanner{argument, "command line: --" + one_line(cut(argument.substr(0, argument.find('=')))), false}
      .read_argument();
}

std::string dotted(const std::vector<std::string>& path) {
  std::string text{root};
  for (const auto& part : path)
    text += std::ranges::all_of(part, is_key_letter) ? '.' + part : ".\"" + one_line(cut(part)) + '"';
  return text;
}

} // namespace troupe::internal
