#include "bench/load/stall.hpp"

#include "bench/load/schedule.hpp"

#include <fmt/format.h>

namespace troupe::tools {

std::expected<stall, std::string> stall::read(const std::string& text) {
  const auto slash = text.find('/');
  const auto pause = read_time(text.substr(0, slash));
  const auto period = slash == std::string::npos ? read_time("") : read_time(text.substr(slash + 1));
  if (!pause || !period)
    return std::unexpected{
        fmt::format("\"{}\" is no stall; write it as 100ms/1s: a pause of 100 ms each second", text)};
  constexpr std::chrono::seconds pause_most{60};
  if (*pause >= *period || *pause > pause_most)
    return std::unexpected{
        fmt::format("\"{}\" cannot be: a pause is shorter than its period, and lasts at most 60 s", text)};
  return stall{*pause, *period};
}

} // namespace troupe::tools
