// The SVG elements of plots. All texts are escaped here, and nowhere else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A number of pixels, with at most one digit after the point. All coordinates have this form.
[[nodiscard]] std::string coordinate(double value);

/// Escapes text for XML contents and attributes. Invalid UTF-8 and characters that XML does not allow become '?'.
[[nodiscard]] std::string xml_escaped(std::string_view text);

/// At most `characters_max` characters. If text is cut off, the last three are "...".
[[nodiscard]] std::string shortened(const std::string& text, std::size_t characters_max);

/// Lines of at most `characters_max` characters, broken between words if possible.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, std::size_t characters_max);

/// An estimate, because fonts differ.
[[nodiscard]] double text_width(std::string_view text, double size);

struct text_look {
  double size = 12;
  std::string_view colour = "#111111";
  std::string_view anchor = "start";
  bool is_bold = false;
  bool has_halo = false; // White around the letters, because lines may lie below them.
};

/// Each ends with a line feed.
[[nodiscard]] std::string document_begin(double width, double height, const std::string& title);
[[nodiscard]] std::string document_end();
[[nodiscard]] std::string text(double x, double y, std::string_view what, const text_look& look);
/// Written upward, its middle at (x, y).
[[nodiscard]] std::string upright_text(double x, double y, std::string_view what);
[[nodiscard]] std::string line(double x1, double y1, double x2, double y2, std::string_view colour, double width);
/// `path` is in SVG's notation: "M1 2L3 4".
[[nodiscard]] std::string polyline(std::string_view path, std::string_view colour, std::string_view dashes);

} // namespace bench
