// Watches the events of a node only while somebody asks for them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/watch/recent_list.hpp>

namespace troupe::internal {

/// Begins a watch with the first question, and ends it `lease` after the last one. A Watcher has the type `row` of what
/// it keeps, and the recent_list list().
///
/// Threads: any. Lifetime: end() ends it for good.
template <class Watcher>
class asked_watch final : public std::enable_shared_from_this<asked_watch<Watcher>> {
public:
  using row = typename Watcher::row;
  using clock = std::chrono::steady_clock;

  static constexpr std::chrono::seconds default_lease{10};

  /// `watch` is called, under a lock, with the watcher that is to see the events from now on; null: none.
  asked_watch(std::shared_ptr<asio::io_context> io, std::function<void(std::shared_ptr<Watcher>)> watch,
              clock::duration lease = default_lease)
      : io_(std::move(io)), watch_(std::move(watch)), lease_(lease) {}

  /// What has come since the one with the number `after`.
  [[nodiscard]] recent_list<row>::part ask(std::uint64_t after) {
    const std::lock_guard guard{mutex_};
    if (has_ended_)
      return {};
    auto part = watcher_->list().ask(after, clock::now());
    if (!std::exchange(is_watching_, true)) {
      watch_(watcher_);
      post_to(*io_, [weak = this->weak_from_this()] {
        if (const auto self = weak.lock())
          self->look_later();
      });
    }
    return part;
  }

  /// Also cancels the timer, for which the I/O context would otherwise be kept running.
  void end() {
    const std::lock_guard guard{mutex_};
    if (std::exchange(has_ended_, true) || !is_watching_)
      return;
    watch_(nullptr);
    post_to(*io_, [self = this->shared_from_this()] { self->timer_.reset(); });
  }

  [[nodiscard]] bool is_watching() const {
    const std::lock_guard guard{mutex_};
    return is_watching_ && !has_ended_;
  }

private:
  // I/O thread.
  void look_later() {
    if (!timer_)
      timer_.emplace(*io_);
    timer_->expires_after(lease_ / 4 + std::chrono::milliseconds{1});
    timer_->async_wait([weak = this->weak_from_this()](std::error_code cancelled) {
      if (const auto self = weak.lock(); self && !cancelled && !self->has_finished())
        self->look_later();
    });
  }

  [[nodiscard]] bool has_finished() {
    const std::lock_guard guard{mutex_};
    if (has_ended_)
      return true;
    if (watcher_->list().drop_unless_asked_since(clock::now() - lease_))
      return false;
    is_watching_ = false;
    watch_(nullptr);
    return true;
  }

  const std::shared_ptr<asio::io_context> io_;
  const std::function<void(std::shared_ptr<Watcher>)> watch_;
  const clock::duration lease_;
  const std::shared_ptr<Watcher> watcher_ = std::make_shared<Watcher>();
  std::optional<io_timer> timer_; // I/O thread.
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  bool is_watching_ = false;
  bool has_ended_ = false;
};

} // namespace troupe::internal
