// Limits the TLS handshakes that a node begins per second, and decides their order.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/trust/waiting_room.hpp>

namespace troupe::internal {

/// Allows `per_second` events a second, and `at_once` of them in a burst. Pure.
class rate_limit {
public:
  using clock = std::chrono::steady_clock;

  rate_limit(double per_second, double at_once) : per_second_(per_second), at_once_(at_once), left_(at_once) {}

  [[nodiscard]] bool allows(clock::time_point now) const { return left_at(now) >= 1; }
  void take(clock::time_point now) {
    left_ = left_at(now) - 1;
    since_ = now;
  }
  /// Whether the limit is unused.
  [[nodiscard]] bool is_full(clock::time_point now) const { return left_at(now) >= at_once_; }

private:
  [[nodiscard]] double left_at(clock::time_point now) const {
    return std::min(at_once_, left_ + per_second_ * std::chrono::duration<double>(now - since_).count());
  }

  const double per_second_;
  const double at_once_;
  double left_;
  clock::time_point since_ = {}; // The time for which left_ was computed.
};

/// Decides which TLS handshake begins next. A handshake costs the node a signature, which takes most of a millisecond
/// of the thread that serves all links, and anybody may ask for one. So the number of handshakes is limited, and
/// further ones wait for their turn. The wide networks take turns, so that a flood delays only its own network. Pure:
/// the clock is passed in.
template <class Candidate>
class turn_order {
public:
  using clock = rate_limit::clock;
  static constexpr double per_second = 100;
  static constexpr double at_once = 20;
  static constexpr double per_second_of_source = 25; // A source is an IPv4 address, or an IPv6 network of 64 bits.
  static constexpr double at_once_of_source = 10;

  void enter(Candidate candidate, const peer_source& source) {
    waiting_[source.networks.front()].push_back({std::move(candidate), source.networks.back()});
  }

  /// Returns the candidate whose turn it is; nullopt if none waits, or if it is too early. `is_there` tells whether a
  /// candidate still waits. Candidates that do not are dropped.
  template <class Predicate>
  [[nodiscard]] std::optional<Candidate> next(clock::time_point now, Predicate is_there) {
    forget(now, is_there);
    if (waiting_.empty() || !all_.allows(now))
      return std::nullopt;
    auto network = waiting_.upper_bound(last_network_);
    for (std::size_t count = waiting_.size(); count > 0; --count, ++network) {
      if (network == waiting_.end())
        network = waiting_.begin();
      auto& line = network->second;
      const auto first = std::ranges::find_if(line, [&](const entry& one) { return source_of(one).allows(now); });
      if (first == line.end())
        continue;
      all_.take(now);
      source_of(*first).take(now);
      last_network_ = network->first;
      auto result = std::move(first->candidate);
      line.erase(first);
      return result;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_empty() const {
    return std::ranges::all_of(waiting_, [](const auto& each) { return each.second.empty(); });
  }

private:
  struct entry {
    Candidate candidate;
    std::string source;
  };

  rate_limit& source_of(const entry& one) {
    return sources_.try_emplace(one.source, per_second_of_source, at_once_of_source).first->second;
  }

  template <class Predicate>
  void forget(clock::time_point now, Predicate is_there) {
    for (auto& [network, line] : waiting_)
      std::erase_if(line, [&](const entry& one) { return !is_there(one.candidate); });
    std::erase_if(waiting_, [](const auto& each) { return each.second.empty(); });
    std::erase_if(sources_, [&](const auto& each) { return each.second.is_full(now); });
  }

  rate_limit all_{per_second, at_once};
  std::map<std::string, rate_limit> sources_;        // By narrow network; only those that have used some.
  std::map<std::string, std::deque<entry>> waiting_; // By wide network.
  std::string last_network_;
};

/// A connection that waits for its turn. It may end before that.
class handshake_candidate {
public:
  virtual ~handshake_candidate() = default;
  virtual void begin_handshake() = 0;
};

/// The turns of all listeners of a node.
///
/// Threads: the I/O thread.
class handshake_turns : public std::enable_shared_from_this<handshake_turns> {
public:
  explicit handshake_turns(asio::io_context& io) : timer_(io) {}

  /// Calls begin_handshake() when it is the candidate's turn, possibly at once. Never calls it if the candidate has
  /// ended.
  void enter(std::weak_ptr<handshake_candidate> candidate, const peer_source& source);

private:
  void go_on();

  io_timer timer_;
  bool is_waiting_ = false; // The timer is running.
  turn_order<std::weak_ptr<handshake_candidate>> order_;
};

} // namespace troupe::internal
