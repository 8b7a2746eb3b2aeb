#include <troupe/framework/internal/config/config_types.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <troupe/framework/internal/caf_port/config_literals.hpp>
#include <troupe/framework/internal/config/near_name.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

using shape = config_value::shape;

/// Says what was expected and what was found. Never quotes a text, which may be a secret, or a value in the place of
/// one.
std::unexpected<std::string> expected_instead(const std::string& what, const config_value& from) {
  switch (from.form) {
  case shape::word:
    return std::unexpected{"expects " + what + ", got " + one_line(cut(from.text))};
  case shape::text:
    return std::unexpected{"expects " + what + ", got a text in quotes"};
  case shape::list:
    return std::unexpected{"expects " + what + ", got a list"};
  case shape::group:
    break;
  }
  return std::unexpected{"expects " + what + ", got a group in braces"};
}

assigned in_range(double value, const option_range& range, std::string (*show)(double), const config_value& from) {
  if (value >= range.least && value <= range.most)
    return {};
  auto text = std::isfinite(range.most) && range.most < 9e18
                  ? "is from " + show(range.least) + " to " + show(range.most)
                  : "is at least " + show(range.least);
  return std::unexpected{text + ", got " + one_line(cut(from.text))};
}

std::string plain(double value) {
  std::array<char, 32> digits{};
  auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

std::string whole(double value) {
  return grouped(static_cast<std::uint64_t>(value));
}

std::string milliseconds_text(double value) {
  return shown(std::chrono::milliseconds{static_cast<std::int64_t>(value)});
}

template <class Number>
assigned assign_count(const config_value& from, const option_range& range, Number& to, const std::string& what) {
  auto number = from.form == shape::word ? read_integer_literal(from.text) : std::nullopt;
  if (!number)
    return expected_instead(what, from);
  if (std::cmp_less(*number, 0) || std::cmp_greater(*number, std::numeric_limits<Number>::max()))
    return std::unexpected{"is from 0 to " + grouped(std::numeric_limits<Number>::max()) + ", got "
                           + one_line(cut(from.text))};
  if (auto fits = in_range(static_cast<double>(*number), range, whole, from); !fits)
    return fits;
  to = static_cast<Number>(*number);
  return {};
}

/// Texts are quoted in files; on the command line the shell may have removed the quotes.
std::optional<std::string_view> as_text(const config_value& from, bool word_too) {
  if (from.form == shape::text || (word_too && from.form == shape::word))
    return from.text;
  return std::nullopt;
}

template <class Choice, std::size_t Count>
assigned assign_choice(const config_value& from, const std::array<std::pair<std::string_view, Choice>, Count>& choices,
                       Choice& to) {
  std::array<std::string_view, Count> names;
  std::ranges::transform(choices, names.begin(), [](const auto& choice) { return choice.first; });
  std::string list;
  for (auto name : names)
    list += (list.empty() ? "\"" : ", \"") + std::string{name} + '"';
  auto text = as_text(from, from.is_argument);
  if (!text)
    return expected_instead("one of " + list, from);
  auto found = std::ranges::find(choices, *text, &std::pair<std::string_view, Choice>::first);
  if (found == choices.end())
    return std::unexpected{"expects one of " + list + ", got \"" + one_line(cut(*text)) + '"'
                           + (nearest(*text, names).empty()
                                  ? std::string{}
                                  : "; did you mean \"" + std::string{nearest(*text, names)} + "\"?")};
  to = found->second;
  return {};
}

template <class Choice, std::size_t Count>
std::string shown_choice(const std::array<std::pair<std::string_view, Choice>, Count>& choices, Choice value) {
  auto found = std::ranges::find(choices, value, &std::pair<std::string_view, Choice>::second);
  return found == choices.end() ? std::string{} : '"' + std::string{found->first} + '"';
}

constexpr std::array compressions{std::pair<std::string_view, compression>{"none", compression::none},
                                  std::pair<std::string_view, compression>{"lz4", compression::lz4},
                                  std::pair<std::string_view, compression>{"zstd", compression::zstd},
                                  std::pair<std::string_view, compression>{"automatic", compression::automatic}};
constexpr std::array wait_choices{std::pair<std::string_view, wait_mode>{"sleep", wait_mode::sleep},
                                  std::pair<std::string_view, wait_mode>{"adaptive", wait_mode::adaptive},
                                  std::pair<std::string_view, wait_mode>{"poll", wait_mode::poll}};
constexpr std::array when_full_choices{std::pair<std::string_view, when_full>{"fail", when_full::fail},
                                       std::pair<std::string_view, when_full>{"drop-oldest", when_full::drop_oldest}};
constexpr std::array reconnects{std::pair<std::string_view, reconnect>{"none", reconnect::none},
                                std::pair<std::string_view, reconnect>{"back-off", reconnect::back_off}};

struct unit {
  std::string_view name;
  std::uint64_t count;
};
constexpr std::array size_units{unit{"", 1},
                                unit{"B", 1},
                                unit{"KiB", std::uint64_t{1} << 10},
                                unit{"MiB", std::uint64_t{1} << 20},
                                unit{"GiB", std::uint64_t{1} << 30},
                                unit{"TiB", std::uint64_t{1} << 40}};
// In nanoseconds.
constexpr std::array time_units{unit{"ns", 1},
                                unit{"us", 1'000},
                                unit{"ms", 1'000'000},
                                unit{"s", 1'000'000'000},
                                unit{"min", 60'000'000'000},
                                unit{"h", 3'600'000'000'000}};

/// Reads a number followed by a unit; returns it in the smallest unit.
std::optional<std::uint64_t> read_with_unit(std::string_view text, std::span<const unit> units) {
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{})
    return std::nullopt;
  auto name = text.substr(static_cast<std::size_t>(end - text.data()));
  if (name.starts_with(' '))
    name.remove_prefix(1);
  auto found = std::ranges::find(units, name, &unit::name);
  if (found == units.end() || number > static_cast<std::uint64_t>(INT64_MAX) / found->count)
    return std::nullopt;
  return number * found->count;
}

} // namespace

std::optional<std::uint64_t> read_size(std::string_view text) {
  return read_with_unit(text, size_units);
}

std::optional<std::chrono::milliseconds> read_duration(std::string_view text) {
  auto nanoseconds = text.find(' ') == std::string_view::npos ? read_with_unit(text, time_units) : std::nullopt;
  if (!nanoseconds || *nanoseconds % 1'000'000 != 0)
    return std::nullopt;
  return std::chrono::milliseconds{*nanoseconds / 1'000'000};
}

assigned assign(const config_value& from, const option_range&, std::string& to) {
  if (from.is_switch)
    return std::unexpected{std::string{"needs a value: write = and the text after it"}};
  auto text = as_text(from, from.is_argument);
  if (!text)
    return from.form == shape::word ? std::unexpected{std::string{"expects a text in double quotes, got none"}}
                                    : expected_instead("a text in double quotes", from);
  to = *text;
  return {};
}

assigned assign(const config_value& from, const option_range& range, std::filesystem::path& to) {
  std::string text;
  if (auto read = assign(from, range, text); !read)
    return read;
  to = text;
  return {};
}

assigned assign(const config_value& from, const option_range&, std::vector<std::string>& to) {
  const std::string what = R"(a list of texts such as ["typed", "msgpack"])";
  if (from.form != shape::list)
    return expected_instead(what, from);
  std::vector<std::string> texts;
  for (const auto& element : from.elements) {
    if (element.form != shape::text)
      return expected_instead(what, element);
    texts.push_back(element.text);
  }
  to = std::move(texts);
  return {};
}

assigned assign(const config_value& from, const option_range&, bool& to) {
  if (from.form != shape::word || (from.text != "true" && from.text != "false"))
    return expected_instead("true or false", from);
  to = from.text == "true";
  return {};
}

assigned assign(const config_value& from, const option_range& range, std::optional<bool>& to) {
  if (auto text = as_text(from, from.is_argument); text && *text == "automatic") {
    to = std::nullopt;
    return {};
  }
  bool value = false;
  if (auto read = assign(from, range, value); !read)
    return expected_instead("true, false or \"automatic\"", from);
  to = value;
  return {};
}

assigned assign(const config_value& from, const option_range& range, double& to) {
  auto number = from.form == shape::word ? read_number_literal(from.text) : std::nullopt;
  if (!number)
    return expected_instead("a number", from);
  if (auto fits = in_range(*number, range, plain, from); !fits)
    return fits;
  to = *number;
  return {};
}

assigned assign(const config_value& from, const option_range& range, std::size_t& to) {
  return assign_count(from, range, to, "a whole number");
}

assigned assign(const config_value& from, const option_range& range, std::uint32_t& to) {
  return assign_count(from, range, to, "a whole number");
}

assigned assign(const config_value& from, const option_range& range, std::optional<std::size_t>& to) {
  if (auto text = as_text(from, from.is_argument); text && *text == "unlimited") {
    to = std::nullopt;
    return {};
  }
  std::size_t count = 0;
  auto read = assign_count(from, range, count, "a whole number or \"unlimited\"");
  if (read)
    to = count;
  return read;
}

assigned assign(const config_value& from, const option_range& range, in_bytes<std::size_t> to) {
  std::optional<std::uint64_t> size;
  if (from.form == shape::word || from.form == shape::text) {
    auto number = from.form == shape::word ? read_integer_literal(from.text) : std::nullopt; // Hexadecimal numbers too.
    if (number && *number >= 0)
      size = static_cast<std::uint64_t>(*number);
    else
      size = read_size(from.text);
  }
  if (!size) {
    auto shows = from.form == shape::text ? config_value{.text = '"' + from.text + '"', .elements = {}} : from;
    return expected_instead("a number of bytes such as 65536 or \"64 KiB\" (B, KiB, MiB, GiB, TiB), less than 2^63",
                            shows);
  }
  if (auto fits = in_range(static_cast<double>(*size), range, whole, from); !fits)
    return fits;
  to.count = static_cast<std::size_t>(*size);
  return {};
}

assigned assign(const config_value& from, const option_range& range, std::chrono::milliseconds& to) {
  auto duration = from.form == shape::word ? read_duration(from.text) : std::nullopt;
  if (!duration)
    return expected_instead("a duration of whole milliseconds such as 500ms, 10s or 5min, without quotes", from);
  constexpr double longest = 10.0 * 365 * 24 * 3600 * 1000; // So that deadlines do not overflow.
  if (auto fits = in_range(static_cast<double>(duration->count()), {range.least, std::min(range.most, longest)},
                           milliseconds_text, from);
      !fits)
    return fits;
  to = *duration;
  return {};
}

assigned assign(const config_value& from, const option_range&, compression& to) {
  return assign_choice(from, compressions, to);
}

assigned assign(const config_value& from, const option_range&, wait_mode& to) {
  return assign_choice(from, wait_choices, to);
}

assigned assign(const config_value& from, const option_range&, when_full& to) {
  return assign_choice(from, when_full_choices, to);
}

assigned assign(const config_value& from, const option_range&, reconnect& to) {
  return assign_choice(from, reconnects, to);
}

std::string shown(const std::string& value) {
  return '"' + value + '"';
}

std::string shown(const std::filesystem::path& value) {
  return shown(value.string());
}

std::string shown(const std::vector<std::string>& value) {
  std::string text = "[";
  for (const auto& one : value)
    text += (text.size() > 1 ? ", " : "") + shown(one);
  return text + ']';
}

std::string shown(bool value) {
  return value ? "true" : "false";
}

std::string shown(const std::optional<bool>& value) {
  return value ? shown(*value) : "\"automatic\"";
}

std::string shown(double value) {
  return plain(value);
}

std::string shown(std::size_t value) {
  return std::to_string(value);
}

std::string shown(std::uint32_t value) {
  return std::to_string(value);
}

std::string shown(const std::optional<std::size_t>& value) {
  return value ? std::to_string(*value) : "\"unlimited\"";
}

std::string shown(in_bytes<const std::size_t> value) {
  const auto* best = &size_units.front();
  for (const auto& unit : size_units)
    if (value.count != 0 && unit.count > best->count && value.count % unit.count == 0)
      best = &unit;
  auto number = std::to_string(value.count / best->count);
  return best == &size_units.front() ? number : '"' + number + ' ' + std::string{best->name} + '"';
}

std::string shown(std::chrono::milliseconds value) {
  const auto nanoseconds = static_cast<std::uint64_t>(value.count()) * 1'000'000;
  const auto& best = value.count() != 0 && value.count() % 1000 == 0 ? time_units[3] : time_units[2];
  return std::to_string(nanoseconds / best.count) + std::string{best.name};
}

std::string shown(compression value) {
  return shown_choice(compressions, value);
}

std::string shown(wait_mode value) {
  return shown_choice(wait_choices, value);
}

std::string shown(when_full value) {
  return shown_choice(when_full_choices, value);
}

std::string shown(reconnect value) {
  return shown_choice(reconnects, value);
}

} // namespace troupe::internal
