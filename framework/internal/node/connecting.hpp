// Gets from an address to an open link. Never blocks. Runs on the main loop's I/O thread until the link performs its
// handshake.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/link/bounded_waits.hpp>
#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/dialing.hpp>
#include <troupe/framework/internal/net/host_lookup.hpp>
#include <troupe/framework/internal/net/link_security.hpp>
#include <troupe/framework/internal/net/transport.hpp>
#include <troupe/framework/internal/node/dials.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/threads/loop_seat.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe::internal {

class node_link;
class node_core;

/// An address with the terms on which it is dialed.
///
/// Threads: one at a time.
class destination {
public:
  /// Fails with `bad_address` or `bad_option` if no link could ever result.
  [[nodiscard]] static std::expected<destination, node_error>
  make(std::string_view address, const link_options& options, const family_set& known);
  /// The terms of a link over a unix socket that is already connected. `peer` is its text in errors.
  [[nodiscard]] static std::expected<destination, node_error> connected(std::string peer, const link_options& options,
                                                                        const family_set& known);

  [[nodiscard]] const address& at() const noexcept { return at_; }
  [[nodiscard]] const link_options& options() const noexcept { return options_; }

  /// The security that a link to this address requires of the peer. Over plain TCP it depends on the endpoints. If the
  /// options are unsafe there, the first call logs a warning to `lines`. Fails with `bad_option`.
  [[nodiscard]] std::expected<std::shared_ptr<const link_security>, node_error>
  security_at(std::span<const stream_endpoint> endpoints, limited_log& lines);

private:
  destination(address at, const link_options& options) : at_(std::move(at)), options_(with_bounded_waits(options)) {}

  address at_;
  link_options options_;
  std::shared_ptr<secret_book> secrets_;          // Those of the options, as their files have them.
  std::shared_ptr<const link_security> security_; // Null for plain TCP.
  bool has_cautioned_ = false;
};

/// One attempt to reach an address.
///
///  looking up --endpoints--> dialing --bytes--> greeting --opened--> over
///                               ^                 | ^-- begins here over a socket that is already connected
///                               '--the peer does not know the first secret, and the options have a second one
///  From any state to over: the attempt fails, or is cancelled.
///
/// Threads: the main loop's I/O thread only.
/// Lifetime: the caller of `start` holds the attempt until it is over, and calls `cancel` before dropping it earlier.
class connecting : public std::enable_shared_from_this<connecting> {
public:
  using result = std::expected<std::shared_ptr<node_link>, node_error>;

  struct events {
    std::function<void(result)> done;             // Called once, never before start() has returned.
    std::function<void(const node_error&)> ended; // Called once the link has ended, if it was open. May be null.
  };

  /// Fails if the link is not open at `until`.
  [[nodiscard]] static std::shared_ptr<connecting>
  start(std::shared_ptr<node_core> node, std::shared_ptr<destination> to, dial_deadline until, events whom);
  /// Begins at the greeting, over a connected socket of the main loop's I/O context.
  [[nodiscard]] static std::shared_ptr<connecting> start_over(stream_socket socket, link_side side,
                                                              std::shared_ptr<node_core> node,
                                                              std::shared_ptr<destination> to, dial_deadline until,
                                                              events whom);

  /// Stops all events. Closes a link that is not open yet. Returns a link that has just opened; the caller then owns
  /// it.
  [[nodiscard]] std::shared_ptr<node_link> cancel();

private:
  connecting(std::shared_ptr<node_core> node, std::shared_ptr<destination> to, dial_deadline until, events whom);

  void begin();
  void dial_to(std::vector<stream_endpoint> endpoints);
  [[nodiscard]] bool choose_secret();
  void dial();
  void greet_over(stream_socket socket);
  void greet(std::expected<std::shared_ptr<transport>, node_error> bytes, loop_seat seat);
  void on_opened(const std::expected<void, node_error>& opened);
  void finish(result what);

  const std::shared_ptr<node_core> node_;
  const std::shared_ptr<destination> to_;
  const dial_deadline until_;
  link_side side_ = link_side::dialer;
  events whom_; // `done` is empty once the attempt is over.
  io_timer limit_;
  std::optional<host_lookup> lookup_;
  std::shared_ptr<const link_security> security_;
  std::vector<stream_endpoint> endpoints_;
  std::vector<std::string> tried_; // The secrets that were proven so far, over one connection each.
  std::shared_ptr<dialing> dialing_;
  std::shared_ptr<node_link> link_; // Set while it greets.
};

/// An attempt that a thread waits for.
///
/// Threads: any; `wait` once, not by the I/O thread.
class awaited_link final : public dial, public std::enable_shared_from_this<awaited_link> {
public:
  /// The connect timeout of the options starts now.
  awaited_link(std::shared_ptr<node_core> node, destination to);

  void begin() override;
  void stop() override {}
  void clean_up() override;

  /// Blocks until the link is open or cannot be. Fails with `link_down` if the node ends meanwhile.
  [[nodiscard]] connecting::result wait() { return settled_.get_future().get(); }

private:
  void settle(connecting::result what);

  const std::shared_ptr<node_core> node_;
  const std::shared_ptr<destination> to_;
  const dial_deadline until_;
  std::promise<connecting::result> settled_;
  std::shared_ptr<connecting> attempt_; // I/O thread. Set while the attempt goes on.
};

} // namespace troupe::internal
