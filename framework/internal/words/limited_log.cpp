#include <troupe/framework/internal/words/limited_log.hpp>

#include <troupe/base/sizes.hpp>

namespace troupe::internal {

namespace {

std::size_t index_of(log_level level) {
  return static_cast<std::size_t>(level) - static_cast<std::size_t>(log_level::error);
}

} // namespace

limited_log::limited_log(std::string whose, std::size_t lines_per_second, limited_log* above)
    : whose_(std::move(whose)),
      above_(above),
      limits_{line_limit{lines_per_second}, line_limit{lines_per_second}, line_limit{lines_per_second},
              line_limit{lines_per_second}} {}

std::optional<std::string> limited_log::admit(log_level level, clock::time_point now) {
  std::uint64_t left_out = 0;
  {
    std::lock_guard guard{mutex_};
    auto& limit = limits_[index_of(level)];
    auto& unsaid = unsaid_[index_of(level)];
    if (limit.left_out() > 0 && now >= limit.ends())
      unsaid += limit.settle();
    if (!limit.admit(now))
      return std::nullopt;
    left_out = std::exchange(unsaid, 0);
  }
  auto text = left_out > 0 ? " (" + text_of_left_out(level, left_out) + ')' : std::string{};
  if (above_ == nullptr)
    return text;
  if (auto further = above_->admit(level, now))
    return text + *further;
  std::lock_guard guard{mutex_};
  unsaid_[index_of(level)] += left_out;
  return std::nullopt;
}

void limited_log::settle(clock::time_point now) {
  for (auto level : {log_level::error, log_level::warning, log_level::info, log_level::debug}) {
    std::unique_lock guard{mutex_};
    const auto left_out = limits_[index_of(level)].settle() + std::exchange(unsaid_[index_of(level)], 0);
    guard.unlock();
    if (left_out == 0 || !logs(level))
      continue;
    auto further = above_ != nullptr ? above_->admit(level, now) : std::optional{std::string{}};
    if (further)
      write_log(level, text_of_left_out(level, left_out) + *further);
    else
      above_->leave_out(level, left_out - 1); // The refused line counts as one.
  }
}

void limited_log::leave_out(log_level level, std::uint64_t count) {
  std::lock_guard guard{mutex_};
  unsaid_[index_of(level)] += count;
}

std::string limited_log::text_of_left_out(log_level level, std::uint64_t count) const {
  const auto what = level == log_level::warning ? "warnings" : level == log_level::error ? "errors" : "lines";
  return grouped(count) + " more " + what + " of " + whose_ + " were left out";
}

} // namespace troupe::internal
