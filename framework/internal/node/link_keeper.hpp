// Keeps an address connected: dials it, and dials again whenever the link is lost. Never blocks. Runs on the I/O
// thread.
//
//  waiting --pause is over--> connecting --opened--> open
//     ^------------ failed, or the link is lost -------'
//  From any state to over: the keeper gives up or is stopped, or the node ends.
#pragma once

#include <atomic>
#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/node/back_off.hpp>
#include <troupe/framework/internal/node/connecting.hpp>
#include <troupe/framework/internal/node/dials.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/framework/reconnect.hpp>

namespace troupe::internal {

class node_link;
class node_core;

/// Keeps one address connected.
///
/// Threads: `make`, `begin`, `stop` and the readers on any thread; the others on the node's I/O thread.
/// Lifetime: the node holds it until it is over, and so does the `reconnecting_link`.
class link_keeper final : public dial, public std::enable_shared_from_this<link_keeper> {
public:
  /// Fails with `bad_address` or `bad_option` if no link could ever result.
  [[nodiscard]] static std::expected<std::shared_ptr<link_keeper>, node_error>
  make(std::shared_ptr<node_core> node, std::string_view address, const link_options& options,
       const reconnect_policy& policy, link_events events);

  void begin() override;

  /// Stops all events. Waits for a callback that runs on another thread.
  void stop() override;
  /// Call it before stop(). Closes a link that opens meanwhile.
  void close_with() noexcept { closes_ = true; }

  /// I/O thread, after stop(). Ends all work in progress. Closes a link that is not open yet.
  void clean_up() override;

  /// The open link; null if there is none.
  [[nodiscard]] std::shared_ptr<node_link> current() const;
  [[nodiscard]] bool is_over() const noexcept { return over_.load(); }

private:
  using seconds_clock = std::chrono::steady_clock;

  link_keeper(std::shared_ptr<node_core> node, destination to, const reconnect_policy& policy,
              const link_events& events);

  void attempt();
  void on_connected(connecting::result connected);
  void on_ended(const node_error& reason);
  void fail(const node_error& reason);
  void go_on_after(std::optional<std::chrono::milliseconds> pause, link_event event);
  void wait(std::chrono::milliseconds pause);
  void hold(std::shared_ptr<node_link> link);
  void tell(const link_event& event);
  [[nodiscard]] link_event event_of(link_event::kind what, const node_error& reason) const;

  const std::shared_ptr<node_core> node_;
  const std::shared_ptr<destination> to_;

  std::atomic<bool> over_{false};
  std::atomic<bool> closes_{false};

  std::mutex telling_; // Held while a callback runs.
  std::atomic<std::thread::id> teller_{};
  std::function<void(const link_event&)> callback_; // Guarded by telling_.
  const caf::weak_actor_ptr listener_;

  mutable std::mutex mutex_;
  std::shared_ptr<node_link> link_; // Guarded by mutex_. Set while the link is open.

  // I/O thread.
  back_off pauses_;
  std::size_t attempts_ = 0; // Dials since the last link was lost.
  std::shared_ptr<connecting> attempt_;
  seconds_clock::time_point opened_at_;
  bool has_worked_ = false; // A link has been open before.
  io_timer timer_;
};

} // namespace troupe::internal
