#include <troupe/framework/internal/log.hpp>

#include <array>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include <troupe/framework/internal/text.hpp>

namespace troupe::internal {

namespace {

constexpr std::array<std::string_view, 5> names = {"quiet", "error", "warning", "info", "debug"};

log_level read_threshold() {
  const char* text = std::getenv("TROUPE_LOG");
  for (std::size_t i = 0; text != nullptr && i < names.size(); ++i)
    if (names[i] == text)
      return static_cast<log_level>(i);
  return log_level::warning;
}

} // namespace

log_level log_threshold() {
  static const log_level threshold = read_threshold();
  return threshold;
}

void log(log_level level, std::string_view text) {
  if (level == log_level::quiet || level > log_threshold())
    return;
  auto line = "troupe " + std::string{names[static_cast<std::size_t>(level)]} + ": " + one_line(text) + '\n';
  // One write, so that lines of several threads and processes do not mix. A closed stream is nobody's loss.
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace troupe::internal
