#include <troupe/framework/internal/net/ticker.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

#include <asio/io_context.hpp>

#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/write_pause.hpp>

namespace troupe::internal {

namespace {

/// The longest pause between ticks, in units of `write_pause::long_enough`.
constexpr int waits_max = 16;

/// The pause until the next tick in these units. Each further connection adds two, because the woken peer needs a core
/// too.
int waits_for(int useful) {
  return std::clamp(2 * useful - 1, 1, waits_max);
}

} // namespace

ticker& ticker::of(asio::io_context& io) {
  return asio::use_service<ticker>(static_cast<asio::execution_context&>(io));
}

ticker::ticker(asio::execution_context& io)
    : asio::execution_context::service(io), timer_(std::make_unique<io_timer>(static_cast<asio::io_context&>(io))) {}

ticker::~ticker() = default;

void ticker::shutdown() noexcept {
  timer_.reset();
  ticking_.clear();
}

void ticker::add(std::shared_ptr<connection> what) {
  ticking_.push_back(std::move(what));
  if (ticking_.size() == 1)
    wait();
}

void ticker::wait() {
  timer_->expires_after(write_pause::long_enough * waits_for(useful_));
  timer_->async_wait([this](std::error_code cancelled) {
    if (!cancelled)
      tick();
  });
}

void ticker::tick() {
  useful_ = 0;
  std::erase_if(ticking_, [this](const auto& each) {
    const auto result = each->tick();
    useful_ += result == tick_result::useful ? 1 : 0;
    return result == tick_result::over;
  });
  if (!ticking_.empty())
    wait();
}

} // namespace troupe::internal
