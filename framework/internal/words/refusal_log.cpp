#include <troupe/framework/internal/words/refusal_log.hpp>

#include <utility>

#include <troupe/base/sizes.hpp>

namespace troupe::internal {

namespace {

constexpr std::size_t refused_lines_per_second = 10;

} // namespace

refusal_log::refusal_log(asio::io_context& io, std::string address)
    : address_(std::move(address)), limit_(refused_lines_per_second), second_(io) {}

refusal_log::~refusal_log() {
  summarize();
}

void refusal_log::note(log_level level, std::string_view text) {
  if (level > log_threshold())
    return; // Not counted as left out either.
  std::unique_lock guard{mutex_};
  if (limit_.admit(line_limit::clock::now())) {
    guard.unlock();
    log(level, text);
    return;
  }
  if (limit_.left_out() > 1)
    return;
  second_.expires_at(limit_.ends());
  second_.async_wait([weak = weak_from_this()](std::error_code cancelled) {
    auto self = weak.lock();
    if (self && !cancelled)
      self->summarize();
  });
}

void refusal_log::summarize() {
  std::unique_lock guard{mutex_};
  const auto left_out = limit_.settle();
  guard.unlock();
  if (left_out > 0)
    log(log_level::warning,
        grouped(left_out) + " further attempts at " + address_ + " were refused in the last second");
}

} // namespace troupe::internal
