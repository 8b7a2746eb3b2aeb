// A relay between the two ends of a link: it passes encrypted bytes on, slowly, or not at all.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>

#include "raw_peer.hpp"

namespace troupe::tests {

/// Passes bytes on between a dialing node and a listening one, both over TCP or TLS, as fast as it is told.
class relay {
public:
  explicit relay(const std::string& to) : to_(to), thread_([this] { run(); }) {}
  ~relay() { stop(); }

  [[nodiscard]] std::string address() const { return listener_.address(); }

  /// From now on nothing that the dialer writes is read.
  void stall() {
    stalled_ = true;
    while (!resting_)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  /// From now on nothing is passed on, and both connections stay.
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

  /// What there is at the moment. False at the stream's end.
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

} // namespace troupe::tests
