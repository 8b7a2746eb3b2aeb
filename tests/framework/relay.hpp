// A relay between the two ends of a link that passes bytes on unread, and can slow down or stop.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>

#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {

/// Passes bytes between a dialing and a listening node, over TCP or TLS, at an adjustable speed.
class relay {
public:
  explicit relay(const std::string& to) : to_(to), thread_([this] { run(); }) {}
  ~relay() { stop(); }

  /// The address to dial instead of `to`.
  [[nodiscard]] std::string address() const { return to_.substr(0, 3) + listener_.address().substr(3); }

  /// Stops reading from the dialer.
  void stall() {
    stalled_ = true;
    while (!resting_)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  /// Stops passing bytes in either direction; both connections stay open.
  void fall_silent() {
    silent_ = true;
    while (!resting_)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  void pause_between_reads(std::chrono::milliseconds pause) { pause_ = pause.count(); }
  void stop() {
    over_ = true;
    if (thread_.joinable())
      thread_.join();
  }

private:
  void run() {
    dialer_ = listener_.accept();
    int small = 64 * 1024;
    ::setsockopt(dialer_, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    acceptor_ = connect_to(to_);
    std::array<char, 20'000> some;
    while (!over_) {
      if (silent_) {
        resting_ = true;
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        continue;
      }
      if (!pass(acceptor_, dialer_, some))
        break;
      if (stalled_) {
        resting_ = true;
        continue;
      }
      if (!pass(dialer_, acceptor_, some))
        break;
      if (auto pause = pause_.load(); pause > 0)
        std::this_thread::sleep_for(std::chrono::milliseconds{pause});
    }
    resting_ = true;
    ::close(dialer_);
    ::close(acceptor_);
  }

  /// Passes on the bytes that are readable within 1 ms. Returns false at the end of the stream.
  static bool pass(int from, int to, std::span<char> some) {
    pollfd readable{.fd = from, .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, 1) <= 0)
      return true;
    auto count = ::recv(from, some.data(), some.size(), 0);
    return count > 0 && ::send(to, some.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) == count;
  }

  const std::string to_;
  raw_listener listener_;
  int dialer_ = -1;
  int acceptor_ = -1;
  std::atomic<bool> stalled_{false};
  std::atomic<bool> silent_{false};
  std::atomic<bool> resting_{false};
  std::atomic<bool> over_{false};
  std::atomic<std::chrono::milliseconds::rep> pause_{0};
  std::jthread thread_;
};

/// Two nodes whose link may pass through a relay.
class relayed_nodes : public two_nodes {
protected:
  /// Links the nodes through a relay. Returns a handle to an actor at the far end that counts the texts it receives.
  caf::actor connect_through_relay(const link_options& options) {
    publish("sink", far().system.spawn([got = got_]() -> caf::behavior {
      return {[got](const std::string&) { got->fetch_add(1); }};
    }));
    between_.emplace(address_);
    address_ = between_->address();
    connect(options);
    return find("sink");
  }

  /// Sends an amount that takes several times the heartbeat timeout (600 ms) to read, and expects the link to stay
  /// open.
  void expect_to_stay_though_reading_is_slow(const caf::actor& sink) {
    between_->pause_between_reads(std::chrono::milliseconds{25}); // About 800 kB per second.
    constexpr std::uint64_t messages = 2'000;
    const std::string text(1'000, 'x');
    for (std::uint64_t i = 0; i < messages; ++i)
      caf::anon_send(sink, text);
    EXPECT_TRUE(eventually([&] { return *got_ == messages || !link_->is_open(); }));
    EXPECT_TRUE(link_->is_open());
  }

  std::optional<relay> between_;
  std::shared_ptr<std::atomic<std::uint64_t>> got_ = std::make_shared<std::atomic<std::uint64_t>>(0); // Texts.
};

} // namespace troupe::tests
