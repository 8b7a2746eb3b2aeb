#include <troupe/framework/internal/config/config_types.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
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

/// Texts are quoted in files; on the command line the shell may have removed the quotes.
std::optional<std::string_view> as_text(const config_value& from) {
  if (from.form == shape::text || (from.is_argument && from.form == shape::word))
    return from.text;
  return std::nullopt;
}

template <class Choice>
using choice = std::pair<std::string_view, Choice>;

/// The names of an enumeration's values.
template <class Choice>
constexpr auto choices = nullptr;
template <>
constexpr std::array choices<compression>{
    choice<compression>{"none", compression::none}, choice<compression>{"lz4", compression::lz4},
    choice<compression>{"zstd", compression::zstd}, choice<compression>{"automatic", compression::automatic}};
template <>
constexpr std::array choices<wait_mode>{choice<wait_mode>{"sleep", wait_mode::sleep},
                                        choice<wait_mode>{"adaptive", wait_mode::adaptive},
                                        choice<wait_mode>{"poll", wait_mode::poll}};
template <>
constexpr std::array choices<when_full>{choice<when_full>{"fail", when_full::fail},
                                        choice<when_full>{"drop-oldest", when_full::drop_oldest}};
template <>
constexpr std::array choices<reconnect>{choice<reconnect>{"none", reconnect::none},
                                        choice<reconnect>{"back-off", reconnect::back_off}};

template <class T>
concept enumeration = std::is_enum_v<T>;

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

/// Reads a number followed by a unit; returns it in the smallest unit, or nullopt if it does not fit.
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

template <class Number>
assigned read_count(const config_value& from, const option_range& range, Number& to, const std::string& what) {
  constexpr auto most = std::numeric_limits<Number>::max();
  const auto number = from.form == shape::word ? read_literal<std::int64_t>(from.text) : std::nullopt;
  if (!number)
    return expected_instead(what, from);
  if (*number < 0 || std::cmp_greater(*number, most))
    return std::unexpected{"is from 0 to " + grouped(most) + ", got " + one_line(cut(from.text))};
  to = static_cast<Number>(*number);
  return in_range(static_cast<double>(*number), range, whole, from);
}

// One read() and one show() for each type of an option.

assigned read(const config_value& from, const option_range&, std::string& to) {
  if (from.is_switch)
    return std::unexpected{std::string{"needs a value: write = and the text after it"}};
  const auto text = as_text(from);
  if (!text) // An unquoted word is not shown: it may be a secret.
    return from.form == shape::word ? std::unexpected{std::string{"expects a text in double quotes, got none"}}
                                    : expected_instead("a text in double quotes", from);
  to = *text;
  return {};
}

std::string show(const std::string& value) {
  return '"' + value + '"';
}

assigned read(const config_value& from, const option_range& range, std::filesystem::path& to) {
  std::string text;
  auto fits = read(from, range, text);
  to = text;
  return fits;
}

std::string show(const std::filesystem::path& value) {
  return show(value.string());
}

assigned read(const config_value& from, const option_range&, std::vector<std::string>& to) {
  const std::string what = R"(a list of texts such as ["typed", "msgpack"])";
  if (from.form != shape::list)
    return expected_instead(what, from);
  to.clear();
  for (const auto& element : from.elements) {
    if (element.form != shape::text)
      return expected_instead(what, element);
    to.push_back(element.text);
  }
  return {};
}

std::string show(const std::vector<std::string>& value) {
  std::string text;
  for (const auto& one : value)
    text += (text.empty() ? "" : ", ") + show(one);
  return '[' + text + ']';
}

assigned read(const config_value& from, const option_range&, bool& to) {
  if (from.form != shape::word || (from.text != "true" && from.text != "false"))
    return expected_instead("true or false", from);
  to = from.text == "true";
  return {};
}

std::string show(bool value) {
  return value ? "true" : "false";
}

assigned read(const config_value& from, const option_range& range, std::optional<bool>& to) {
  if (as_text(from) == "automatic") {
    to = std::nullopt;
    return {};
  }
  if (!read(from, range, to.emplace()))
    return expected_instead("true, false or \"automatic\"", from);
  return {};
}

std::string show(const std::optional<bool>& value) {
  return value ? show(*value) : "\"automatic\"";
}

assigned read(const config_value& from, const option_range& range, double& to) {
  auto number = from.form == shape::word ? read_literal<double>(from.text) : std::nullopt;
  if (const auto count = from.form == shape::word ? read_literal<std::int64_t>(from.text) : std::nullopt)
    number = static_cast<double>(*count);
  if (!number)
    return expected_instead("a number", from);
  to = *number;
  return in_range(*number, range, plain, from);
}

std::string show(double value) {
  return plain(value);
}

assigned read(const config_value& from, const option_range& range, std::unsigned_integral auto& to) {
  return read_count(from, range, to, "a whole number");
}

std::string show(std::unsigned_integral auto value) {
  return std::to_string(value);
}

assigned read(const config_value& from, const option_range& range, std::optional<std::size_t>& to) {
  if (as_text(from) == "unlimited") {
    to = std::nullopt;
    return {};
  }
  return read_count(from, range, to.emplace(), "a whole number or \"unlimited\"");
}

std::string show(const std::optional<std::size_t>& value) {
  return value ? std::to_string(*value) : "\"unlimited\"";
}

assigned read(const config_value& from, const option_range& range, byte_count& to) {
  std::optional<std::uint64_t> size;
  if (const auto number = from.form == shape::word ? read_literal<std::int64_t>(from.text) : std::nullopt;
      number && *number >= 0)
    size = static_cast<std::uint64_t>(*number); // Hexadecimal numbers too.
  else if (from.form == shape::word || from.form == shape::text)
    size = read_with_unit(from.text, size_units);
  if (!size) {
    auto shows = from.form == shape::text ? config_value{.text = '"' + from.text + '"', .elements = {}} : from;
    return expected_instead("a number of bytes such as 65536 or \"64 KiB\" (B, KiB, MiB, GiB, TiB), less than 2^63",
                            shows);
  }
  to.count = static_cast<std::size_t>(*size);
  return in_range(static_cast<double>(*size), range, whole, from);
}

std::string show(byte_count value) {
  const auto* best = &size_units.front();
  for (const auto& unit : size_units)
    if (value.count != 0 && unit.count > best->count && value.count % unit.count == 0)
      best = &unit;
  auto number = std::to_string(value.count / best->count);
  return best == &size_units.front() ? number : '"' + number + ' ' + std::string{best->name} + '"';
}

assigned read(const config_value& from, const option_range& range, std::chrono::milliseconds& to) {
  using std::chrono::nanoseconds;
  const auto has_unit = from.form == shape::word && from.text.find(' ') == std::string::npos;
  const auto count = has_unit ? read_with_unit(from.text, time_units) : std::nullopt;
  if (!count || *count % 1'000'000 != 0)
    return expected_instead("a duration of whole milliseconds such as 500ms, 10s or 5min, without quotes", from);
  to = std::chrono::duration_cast<std::chrono::milliseconds>(nanoseconds{*count});
  constexpr double longest = 10.0 * 365 * 24 * 3600 * 1000; // So that deadlines do not overflow.
  return in_range(static_cast<double>(to.count()), {range.least, std::min(range.most, longest)}, milliseconds_text,
                  from);
}

std::string show(std::chrono::milliseconds value) {
  const auto seconds = value.count() / 1000;
  return value.count() != 0 && value.count() % 1000 == 0 ? std::to_string(seconds) + 's'
                                                         : std::to_string(value.count()) + "ms";
}

template <enumeration Choice>
assigned read(const config_value& from, const option_range&, Choice& to) {
  std::vector<std::string_view> names;
  std::string list;
  for (const auto& [name, value] : choices<Choice>) {
    names.push_back(name);
    list += (list.empty() ? "" : ", ") + show(std::string{name});
  }
  const auto text = as_text(from);
  if (!text)
    return expected_instead("one of " + list, from);
  const auto found = std::ranges::find(choices<Choice>, *text, &choice<Choice>::first);
  if (found == choices<Choice>.end()) {
    const std::string near{nearest(*text, names)};
    return std::unexpected{"expects one of " + list + ", got \"" + one_line(cut(*text)) + '"'
                           + (near.empty() ? "" : "; did you mean \"" + near + "\"?")};
  }
  to = found->second;
  return {};
}

template <enumeration Choice>
std::string show(Choice value) {
  const auto found = std::ranges::find(choices<Choice>, value, &choice<Choice>::second);
  return show(std::string{found == choices<Choice>.end() ? "" : found->first});
}

} // namespace

assigned assign(const config_value& from, const option_range& range, option_value& to) {
  return std::visit([&](auto& value) { return read(from, range, value); }, to);
}

std::string shown(const option_value& value) {
  return std::visit([](const auto& each) { return show(each); }, value);
}

} // namespace troupe::internal
