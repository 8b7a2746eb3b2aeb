// Dials one address, and dials it again whenever the link is lost. Without blocking: on the I/O thread.
//
//  waiting --pause is over--> looking up --endpoints--> dialing --bytes--> greeting --opened--> open
//     ^------------------------ failed, or the link is lost ------------------------------------'
//  From any state to over: it gives up, is stopped, or the node ends.
#pragma once

#include <atomic>
#include <chrono>
#include <expected>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include <asio/steady_timer.hpp>

#include <caf/actor_control_block.hpp>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/dial.hpp>
#include <troupe/framework/internal/net/link_security.hpp>
#include <troupe/framework/internal/node/back_off.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/framework/reconnect.hpp>

namespace troupe::internal {

class link_core;
class node_core;

/// Threads: `make`, `begin`, `stop` and the readers from any thread; the rest on the node's I/O thread.
/// Lifetime: held by the node until it is over, and by the `kept_link`.
class link_keeper : public std::enable_shared_from_this<link_keeper> {
public:
  /// Fails with `bad_address` or `bad_option` for what could never lead to a link.
  [[nodiscard]] static std::expected<std::shared_ptr<link_keeper>, node_error>
  make(std::shared_ptr<node_core> node, std::string_view address, const link_options& options,
       const reconnect_policy& policy, link_events events);

  void begin();

  /// Waits for a callback that is under way on another thread; no other comes any more.
  void stop();
  /// Before stop(): a link that opens meanwhile is closed.
  void close_with() noexcept { closes_ = true; }

  /// I/O thread, after stop(). Ends what is under way; a link that is not open yet is closed.
  void clean_up();

  /// The link that is open; null for none.
  [[nodiscard]] std::shared_ptr<link_core> current() const;
  [[nodiscard]] bool is_over() const noexcept { return over_.load(); }

private:
  using seconds_clock = std::chrono::steady_clock;

  link_keeper(std::shared_ptr<node_core> node, address at, const link_options& options, const reconnect_policy& policy,
              const link_events& events);

  void attempt();
  void look_for_endpoints();
  void dial_to(std::vector<stream_endpoint> endpoints);
  void greet(std::expected<std::shared_ptr<transport>, node_error> bytes);
  void on_opened(const std::expected<void, node_error>& opened);
  void on_ended(const node_error& reason);
  void fail(const node_error& reason);
  void go_on_after(std::optional<std::chrono::milliseconds> pause, link_event event);
  void wait(std::chrono::milliseconds pause, void (link_keeper::*then)());
  void end_attempt();
  void tell(const link_event& event);
  [[nodiscard]] link_event event_of(link_event::kind what, const node_error& reason) const;

  const std::shared_ptr<node_core> node_;
  const address at_;
  const link_options options_;

  std::atomic<bool> over_{false};
  std::atomic<bool> closes_{false};

  std::mutex telling_; // Held while events are told.
  std::atomic<std::thread::id> teller_{};
  std::function<void(const link_event&)> callback_; // Guarded by telling_.
  const caf::weak_actor_ptr listener_;

  mutable std::mutex mutex_;
  std::shared_ptr<link_core> link_; // Guarded by mutex_. Being made, or open.

  // I/O thread.
  back_off pauses_;
  std::size_t attempts_ = 0; // Dials since the last link was lost.
  std::shared_ptr<const link_security> security_;
  std::future<std::expected<std::vector<stream_endpoint>, node_error>> lookup_;
  deadline until_;
  std::shared_ptr<dialing> dialing_;
  seconds_clock::time_point opened_at_;
  bool is_open_ = false;
  bool has_worked_ = false;    // A link has been open.
  bool has_cautioned_ = false; // link_security::caution is said once.
  asio::steady_timer timer_;
};

} // namespace troupe::internal
