#include <troupe/framework/internal/limited_log.hpp>

#include <string>

#include <troupe/framework/base/sizes.hpp>

namespace troupe::internal {

void limited_log::warn(std::string_view text, line_limit::clock::time_point now) {
  if (log_threshold() < log_level::warning)
    return;
  std::string line{text};
  {
    std::lock_guard guard{mutex_};
    auto left_out = limit_.left_out() > 0 && now >= limit_.ends() ? limit_.settle() : 0;
    if (!limit_.admit(now))
      return;
    if (left_out > 0)
      line += " (" + grouped(left_out) + " more warnings of this link were left out)";
  }
  log(log_level::warning, line);
}

} // namespace troupe::internal
