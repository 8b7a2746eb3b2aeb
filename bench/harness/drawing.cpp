#include "harness/drawing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace bench {

namespace {

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// Length in bytes of the first character of `text`; 0 if it is invalid or XML does not allow it.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80)
    return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || length > text.size() || !std::ranges::all_of(text.substr(1, length - 1), is_continuation))
    return 0;
  std::uint32_t value = first & (0xffu >> (length + 1));
  for (const auto byte : text.substr(1, length - 1))
    value = value << 6 | (static_cast<unsigned char>(byte) & 0x3fu);
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto is_allowed = value >= least[length] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff)
                          && value != 0xfffe && value != 0xffff;
  return is_allowed ? length : 0;
}

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) { return !is_continuation(byte); }));
}

/// The position after the first `count` characters.
std::size_t end_of_characters(std::string_view text, std::size_t count) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (!is_continuation(text[i]) && count-- == 0)
      return i;
  return text.size();
}

} // namespace

std::string coordinate(double value) {
  auto made = fmt::format("{:.1f}", value);
  if (made.ends_with(".0"))
    made.resize(made.size() - 2);
  return made == "-0" ? "0" : made;
}

std::string xml_escaped(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size();) {
    const auto length = character_length(text.substr(i));
    if (length == 0)
      made += '?';
    else if (text[i] == '&')
      made += "&amp;";
    else if (text[i] == '<')
      made += "&lt;";
    else if (text[i] == '>')
      made += "&gt;";
    else if (text[i] == '"')
      made += "&quot;";
    else if (text[i] == '\n' || text[i] == '\t')
      made += ' ';
    else
      made += text.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return made;
}

std::string shortened(const std::string& text, std::size_t characters_max) {
  if (characters_of(text) <= characters_max)
    return text;
  return text.substr(0, end_of_characters(text, characters_max - 3)) + "...";
}

std::vector<std::string> wrapped(const std::string& text, std::size_t characters_max) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (characters_of(rest) > characters_max) {
    auto end = end_of_characters(rest, characters_max);
    if (const auto space = rest.rfind(' ', end); space != std::string_view::npos && space > 0)
      end = space;
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  }
  if (!rest.empty())
    lines.emplace_back(rest);
  return lines;
}

double text_width(std::string_view text, double size) {
  return static_cast<double>(characters_of(text)) * size * 0.56;
}

std::string document_begin(double width, double height, const std::string& title) {
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                     "role=\"img\" font-family=\"Helvetica, Arial, sans-serif\">\n"
                     "<title>{2}</title>\n"
                     "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
                     coordinate(width), coordinate(height), xml_escaped(title));
}

std::string document_end() {
  return "</svg>\n";
}

std::string text(double x, double y, std::string_view what, const text_look& look) {
  return fmt::format(
      "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{}\"{}{}>{}</text>\n", coordinate(x),
      coordinate(y), coordinate(look.size), look.colour, look.anchor, look.is_bold ? " font-weight=\"bold\"" : "",
      look.has_halo ? " stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"" : "", xml_escaped(what));
}

std::string upright_text(double x, double y, std::string_view what) {
  return fmt::format("<text transform=\"translate({} {}) rotate(-90)\" font-size=\"12\" fill=\"#111111\" "
                     "text-anchor=\"middle\">{}</text>\n",
                     coordinate(x), coordinate(y), xml_escaped(what));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view colour, double width) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
                     coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2), colour, coordinate(width));
}

std::string polyline(std::string_view path, std::string_view colour, std::string_view dashes) {
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", path, colour,
                     dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

} // namespace bench
