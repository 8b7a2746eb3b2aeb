// Checks that a plot is well-formed XML. Knows only the parts of XML that plots use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench::tests {

/// Returns the first error in the text, or an empty text if there is none.
inline std::string wrong_with(std::string_view xml) {
  std::vector<std::string> open;
  auto has_root = false;
  for (std::size_t i = 0; i < xml.size();) {
    if (xml[i] != '<') {
      const auto end = std::min(xml.find('<', i), xml.size());
      const auto text = xml.substr(i, end - i);
      if (open.empty() && text.find_first_not_of(" \n") != std::string_view::npos)
        return "text outside of the root: " + std::string{text};
      for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1))
        if (const auto name = text.substr(at, text.find(';', at) - at);
            name != "&amp" && name != "&lt" && name != "&gt" && name != "&quot")
          return "no such entity: " + std::string{name};
      i = end;
      continue;
    }
    const auto end = xml.find('>', i);
    if (end == std::string_view::npos)
      return "a tag without an end";
    const auto tag = xml.substr(i + 1, end - i - 1);
    i = end + 1;
    if (tag.starts_with('?'))
      continue;
    if (tag.find('<') != std::string_view::npos || tag.empty())
      return "a tag that is none: " + std::string{tag};
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1))
        return "ends without beginning: " + std::string{tag};
      open.pop_back();
      continue;
    }
    if (open.empty() && has_root)
      return "a second root: " + std::string{tag};
    has_root = true;
    auto quotes = 0;
    for (const auto each : tag)
      quotes += each == '"' ? 1 : 0;
    if (quotes % 2 != 0)
      return "an attribute without an end: " + std::string{tag};
    if (!tag.ends_with('/'))
      open.emplace_back(tag.substr(0, tag.find_first_of(" \n")));
  }
  return open.empty() && has_root ? "" : "not all tags end, or there are none";
}

} // namespace bench::tests
