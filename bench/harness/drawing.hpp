// The elements of SVG that plots are made of. All texts are escaped here, and nowhere else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A number of pixels, in the one form that all have: at most one digit behind the point.
[[nodiscard]] std::string coordinate(double value);

/// What can stand in XML's text and in its attributes: escaped, and '?' for what XML does not allow and what is no
/// UTF-8.
[[nodiscard]] std::string xml_escaped(std::string_view text);

/// At most that many characters, the last three of them "..." where there were more.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t characters_max);

/// Lines of at most that many characters, broken between words where there are several.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, std::size_t characters_max);

/// About how wide a text is: fonts differ.
[[nodiscard]] double text_width(std::string_view text, double size);

struct text_look {
  double size = 12;
  std::string_view colour = "#111111";
  std::string_view anchor = "start";
  bool is_bold = false;
  bool has_halo = false; // White around the letters, where they may stand upon lines.
};

/// Each ends with a line feed.
[[nodiscard]] std::string document_begin(double width, double height, const std::string& title);
[[nodiscard]] std::string document_end();
[[nodiscard]] std::string text(double x, double y, std::string_view what, const text_look& look);
/// Written from below to above, its middle at (x, y).
[[nodiscard]] std::string upright_text(double x, double y, std::string_view what);
[[nodiscard]] std::string line(double x1, double y1, double x2, double y2, std::string_view colour, double width);
/// `path` as SVG writes it: "M1 2L3 4".
[[nodiscard]] std::string polyline(std::string_view path, std::string_view colour, std::string_view dashes);

} // namespace bench
