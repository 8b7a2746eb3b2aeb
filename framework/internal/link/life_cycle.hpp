// The state of a link, from its greeting to its end.
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

/// Callbacks on the I/O thread. `opened` is called once, when the link is open or has failed to open. `ended` is called
/// once, at its end.
struct life_events {
  std::function<void(const std::expected<void, node_error>&)> opened;
  std::function<void(const node_error&)> ended;
};

/// Holds the state of a link, from its greeting to its end.
///
/// Threads: now() on any; enter() on any, with the link's lock held; the rest on the I/O thread.
class life_cycle {
public:
  /// To be called before anything happens.
  void tell(life_events whom) { whom_ = std::move(whom); }

  /// A thread that reads `open` also sees everything that was set before.
  [[nodiscard]] link_state now() const noexcept { return state_.load(std::memory_order_acquire); }

  /// Requires: may_follow(now(), next).
  void enter(const link_held&, link_state next) {
    assert(may_follow(state_.load(std::memory_order_relaxed), next));
    state_.store(next, std::memory_order_release);
  }

  /// Only the first call counts.
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
