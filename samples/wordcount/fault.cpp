#include "fault.hpp"

#include <array>
#include <charconv>
#include <csignal>
#include <utility>

namespace wordcount {

namespace {

constexpr std::array<std::pair<std::string_view, fault::kind>, 3> kinds{
    {{"kill", fault::kind::kill}, {"stop", fault::kind::stop}, {"fail", fault::kind::fail}}};

} // namespace

bool fault::strikes(std::size_t nth_block) const {
  if (nth_block != block)
    return false;
  if (what == kind::kill)
    std::raise(SIGKILL);
  if (what == kind::stop)
    std::raise(SIGSTOP);
  return what == kind::fail;
}

std::optional<fault> read_fault(std::string_view text) {
  fault result;
  const auto colon = text.find(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  const auto* const end = text.data() + colon;
  if (const auto [rest, error] = std::from_chars(text.data(), end, result.block); error != std::errc{} || rest != end)
    return std::nullopt;
  for (const auto& [name, kind] : kinds) {
    if (text.substr(colon + 1) == name) {
      result.what = kind;
      return result;
    }
  }
  return std::nullopt;
}

std::string to_string(const fault& of) {
  std::string text = std::to_string(of.block) + ':';
  for (const auto& [name, kind] : kinds)
    if (kind == of.what)
      text += name;
  return text;
}

} // namespace wordcount
