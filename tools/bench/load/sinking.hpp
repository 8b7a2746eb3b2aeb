// The actors of a sink: they take what sources send. `Carrier` is described in bench/ends_of.hpp.
#pragma once

#include "bench/load/stall.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include <caf/all.hpp>

namespace troupe::tools {

/// The totals of a sink, and its stalls. Threads: any.
class sink_account {
public:
  explicit sink_account(stall how) : stall_(how) {}

  /// Called by the handler of each message. Blocks until no stall is under way.
  void take(std::size_t bytes, bool is_request) {
    if (const auto wait = stall_.wait_at(age()); wait > std::chrono::nanoseconds{0})
      std::this_thread::sleep_for(wait);
    (is_request ? requests_ : messages_).fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

  /// The time since the sink's start.
  [[nodiscard]] std::chrono::nanoseconds age() const { return std::chrono::steady_clock::now() - began_; }

  [[nodiscard]] std::uint64_t requests() const { return requests_; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  /// How many actors take messages now. Each of them counts itself.
  std::atomic<std::size_t> actors = 0;

private:
  const stall stall_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> messages_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
};

/// Sent to a consumer, which answers how many messages it has taken, and when the first and the last one, in
/// nanoseconds of its sink's clock.
using taken_atom = caf::atom_constant<caf::atom("taken")>;

/// What an actor of a sink has taken.
class taken_messages {
public:
  taken_messages() = default;
  taken_messages(const taken_messages&) = delete;
  taken_messages& operator=(const taken_messages&) = delete;
  ~taken_messages() {
    if (account_)
      --account_->actors;
  }

  void begin(std::shared_ptr<sink_account> account) {
    account_ = std::move(account);
    ++account_->actors;
  }

  void add(std::size_t bytes, bool is_request) {
    account_->take(bytes, is_request);
    if (is_request)
      return;
    last_ = account_->age();
    if (count_++ == 0)
      first_ = last_;
  }

  [[nodiscard]] caf::message answer() const {
    return caf::make_message(count_, static_cast<std::uint64_t>(first_.count()),
                             static_cast<std::uint64_t>(last_.count()));
  }

private:
  std::shared_ptr<sink_account> account_;
  std::uint64_t count_ = 0;
  std::chrono::nanoseconds first_{0};
  std::chrono::nanoseconds last_{0};
};

template <class Carrier>
caf::behavior load_echoer(caf::stateful_actor<taken_messages>* self, std::shared_ptr<sink_account> account) {
  self->state.begin(std::move(account));
  return {[self](typename Carrier::value& message) {
    self->state.add(Carrier::bytes(message).size(), true);
    return std::move(message);
  }};
}

template <class Carrier>
caf::behavior load_consumer(caf::stateful_actor<taken_messages>* self, std::shared_ptr<sink_account> account) {
  self->state.begin(std::move(account));
  return {[self](const typename Carrier::value& message) { self->state.add(Carrier::bytes(message).size(), false); },
          [self](taken_atom) { return self->state.answer(); }};
}

} // namespace troupe::tools
