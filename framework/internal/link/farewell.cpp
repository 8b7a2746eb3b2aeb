#include <algorithm>
#include <utility>

#include <troupe/framework/internal/link/farewell.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

farewell::farewell(asio::io_context& io, std::function<bool()> waits,
                   std::function<void(const std::string& reason, std::chrono::milliseconds left)> say)
    : io_(io), waits_(std::move(waits)), say_(std::move(say)) {}

void farewell::await_encoding(clock::time_point until, std::function<void()> give_up) {
  if (!is_under_way_)
    wait(until, std::move(give_up));
}

void farewell::begin(std::string reason, std::chrono::milliseconds patience) {
  reason_ = std::move(reason);
  until_ = clock::now() + patience;
  is_under_way_ = true;
  if (!waits_())
    return end();
  wait(until_, [this] { end(); });
}

void farewell::look() {
  if (is_under_way_ && !waits_())
    end();
}

void farewell::cancel() {
  is_under_way_ = false;
  timer_.reset();
}

void farewell::wait(clock::time_point until, std::function<void()> then) {
  timer_ = std::make_shared<io_timer>(io_, until);
  timer_->async_wait([mine = std::weak_ptr{timer_}, then = std::move(then)](std::error_code cancelled) {
    if (!cancelled && !mine.expired())
      then();
  });
}

void farewell::end() {
  cancel();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - clock::now());
  say_(std::exchange(reason_, {}), std::max(left, std::chrono::milliseconds{0}));
}

} // namespace troupe::internal
