#include <troupe/serializers/internal/words/type_text.hpp>

#include <cstdlib>
#include <memory>
#include <string_view>

#include <cxxabi.h>

namespace troupe::detail {

namespace {

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Removes each text that starts with `from`, which opens a template's arguments, up to the closing bracket.
void remove_argument(std::string& text, std::string_view from) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    auto end = at + from.size();
    for (auto open = 1; open > 0 && end < text.size(); ++end)
      open += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
    text.erase(at, end - at);
  }
}

} // namespace

std::string type_text(const std::type_info& type) {
  return demangled(type.name());
}

std::string type_text(std::type_index type) {
  return demangled(type.name());
}

std::string portable_type_text(std::type_index type) {
  auto text = demangled(type.name());
  for (const std::string_view inlined : {"__cxx11::", "__1::", "_V2::"})
    replace_all(text, "std::" + std::string(inlined), "std::");
  replace_all(text, "chrono::_V2::", "chrono::");
  replace_all(text, " >", ">");
  for (const std::string_view argument : {", std::char_traits<", ", std::allocator<", ", std::default_delete<",
                                          ", std::less<", ", std::hash<", ", std::equal_to<"})
    remove_argument(text, argument);
  replace_all(text, "std::basic_string<char>", "std::string");
  replace_all(text, "std::basic_string_view<char>", "std::string_view");
  return text;
}

std::string brief_type_text(std::type_index type) {
  constexpr std::size_t longest = 200;
  auto text = portable_type_text(type);
  if (text.size() > longest)
    text = text.substr(0, longest) + "...";
  return text;
}

} // namespace troupe::detail
