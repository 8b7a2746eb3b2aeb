// Where a link is in its life.
#pragma once

#include <atomic>
#include <cassert>
#include <expected>
#include <functional>
#include <utility>

#include <troupe/framework/internal/link/link_state.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// What became of a link, told on the I/O thread: once when it is open or has failed to, once when it has ended.
struct life_events {
  std::function<void(const std::expected<void, node_error>&)> opened;
  std::function<void(const node_error&)> ended;
};

/// Takes a link from its greeting to its end.
///
/// Threads: now() from any, enter() under the link's lock from any; the rest on the I/O thread.
class life_cycle {
public:
  /// Before anything happens.
  void tell(life_events whom) { whom_ = std::move(whom); }

  /// Whoever sees `open` sees what was set before.
  [[nodiscard]] link_state now() const noexcept { return state_.load(std::memory_order_acquire); }

  /// Requires: may_follow(now(), next).
  void enter(const link_held&, link_state next) {
    assert(may_follow(state_.load(std::memory_order_relaxed), next));
    state_.store(next, std::memory_order_release);
  }

  /// The first time counts.
  void finish_opening(const std::expected<void, node_error>& result) {
    if (auto tell = std::exchange(whom_.opened, nullptr))
      tell(result);
  }

  void tell_end(const node_error& reason) {
    if (auto tell = std::exchange(whom_.ended, nullptr))
      tell(reason);
  }

private:
  std::atomic<link_state> state_{link_state::greeting};
  life_events whom_; // I/O thread only.
};

} // namespace troupe::internal
