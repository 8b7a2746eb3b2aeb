// The actors for one payload type. `Carrier` describes that type:
//
//     struct carrier {
//       using value = ...;
//       static value of(std::vector<char> bytes);
//       static std::span<const char> bytes(const value& from);
//       static constexpr std::string_view alias = ...;
//       static void add_type(type_registry& types); // Registers it by that alias.
//     };
#pragma once

#include "bench/ends.hpp"
#include "bench/load/sending.hpp"
#include "bench/load/sinking.hpp"

#include <troupe/framework/link_ready.hpp>
#include <troupe/framework/message_types.hpp>

#include <fmt/format.h>

#include <caf/all.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace troupe::tools {

using begin_atom = caf::atom_constant<caf::atom("begin")>;
using end_atom = caf::atom_constant<caf::atom("end")>;
using go_on_atom = caf::atom_constant<caf::atom("go_on")>;

using bench_clock = std::chrono::steady_clock;

/// The time for which a driver has to measure.
class allotted {
public:
  void begin(double seconds) {
    began_ = bench_clock::now();
    seconds_ = seconds;
  }
  [[nodiscard]] double passed() const { return std::chrono::duration<double>(bench_clock::now() - began_).count(); }
  [[nodiscard]] bool is_over() const { return passed() >= seconds_; }

private:
  bench_clock::time_point began_;
  double seconds_ = 0;
};

[[nodiscard]] inline caf::error changed(std::size_t size_bytes) {
  return caf::make_error(caf::sec::unexpected_message,
                         fmt::format("a payload of {} bytes did not arrive as it was sent", size_bytes));
}

/// The messages from one driver.
struct stream {
  caf::strong_actor_ptr from;
  std::uint64_t acknowledged_every = 1;
  std::uint64_t received = 0;
  std::uint64_t wrong = 0;
};

template <class Carrier>
struct consumer_state {
  std::vector<stream> streams;

  /// Linear search, because there are few streams.
  stream* of_sender(const caf::strong_actor_ptr& from) {
    const auto found = std::ranges::find(streams, from, &stream::from);
    return found == streams.end() ? nullptr : &*found;
  }
};

template <class Carrier>
caf::behavior consumer(caf::stateful_actor<consumer_state<Carrier>>* self, const payload& expected) {
  return {
      // The driver names itself: the sender of a request is a temporary actor that waits for the response.
      [self](begin_atom, std::uint64_t acknowledged_every, const caf::actor& driver) {
        const auto from = caf::actor_cast<caf::strong_actor_ptr>(driver);
        if (self->state.of_sender(from) == nullptr)
          self->state.streams.push_back({.from = from});
        *self->state.of_sender(from) = {.from = from, .acknowledged_every = acknowledged_every};
        return true;
      },
      [self, expected](const typename Carrier::value& message) {
        auto* const sender = self->state.of_sender(self->current_sender());
        if (sender == nullptr)
          return;
        sender->wrong += expected.is(Carrier::bytes(message)) ? 0 : 1;
        if (++sender->received % sender->acknowledged_every == 0)
          self->send(caf::actor_cast<caf::actor>(sender->from), sender->received);
      },
      [self](end_atom, const caf::actor& driver) {
        const auto* const sender = self->state.of_sender(caf::actor_cast<caf::strong_actor_ptr>(driver));
        return sender == nullptr ? caf::make_message(std::uint64_t{0}, std::uint64_t{0})
                                 : caf::make_message(sender->received, sender->wrong);
      },
  };
}

template <class Carrier>
caf::behavior echoer(caf::event_based_actor*) {
  return {[](typename Carrier::value& message) { return std::move(message); }};
}

template <class Carrier>
caf::behavior passer(caf::stateful_actor<caf::actor>* self) {
  return {
      [self](next_atom, const caf::actor& next) { self->state = next; },
      [self](const typename Carrier::value& message) {
        if (self->state)
          self->send(self->state, message);
      },
  };
}

/// The messages to one consumer.
struct outgoing {
  caf::actor to;
  caf::strong_actor_ptr address;
  std::uint64_t sent = 0;
  std::uint64_t acknowledged = 0;
  bool is_asked = false;   // Whether the consumer has been asked how many messages arrived.
  std::size_t allowed = 0; // Messages still to send in this slice: readiness is checked once per slice.
};

template <class Carrier>
struct streamer_state {
  caf::event_based_actor* self = nullptr;
  measurement what;
  typename Carrier::value message;
  std::vector<outgoing> targets;
  std::shared_ptr<reached> result;
  allotted time;
  std::size_t next = 0;
  std::size_t unfinished = 0;
  bool is_ending = false;
  bool is_going_on = false; // Whether a go_on message is in the mailbox.
  std::vector<caf::actor> waited_for;
  caf::typed_response_promise<bool> finished;

  /// Messages per consumer and slice. The actor reads its mailbox between slices, because in one long loop it would
  /// never see an acknowledgement. A slice never exceeds what a link that reports ready accepts.
  [[nodiscard]] std::size_t slice() const { return std::clamp<std::size_t>(512_KiB / (what.size_bytes + 256), 1, 500); }

  [[nodiscard]] bool has_window(const outgoing& one) const { return one.sent - one.acknowledged < what.window(); }

  void begin(double seconds) {
    time.begin(seconds);
    finished = self->make_response_promise<bool>();
    is_ending = false;
    unfinished = targets.size();
    const auto every = static_cast<std::uint64_t>(std::max<std::size_t>(what.window() / 4, 1));
    for (auto& each : targets) {
      each.sent = 0;
      each.acknowledged = 0;
      each.is_asked = false;
      self->request(each.to, caf::infinite, begin_atom::value, every, caf::actor{self})
          .then(
              [this](bool) {
                if (--unfinished == 0)
                  go_on();
              },
              [this](caf::error& error) { fail(std::move(error)); });
    }
  }

  void fail(caf::error error) {
    is_ending = true;
    if (finished.pending())
      finished.deliver(std::move(error));
  }

  void go_on() {
    if (!is_going_on && !is_ending && finished.pending()) {
      is_going_on = true;
      self->send(self, go_on_atom::value);
    }
  }

  void send_slice() {
    is_going_on = false;
    if (is_ending || !finished.pending() || unfinished > 0)
      return;
    auto is_any_open = false;
    for (auto& each : targets) {
      const auto may_send = has_window(each) && troupe::is_ready(each.to);
      each.allowed = may_send ? slice() : 0;
      is_any_open = is_any_open || may_send;
      if (!may_send && has_window(each))
        wait_for(each.to);
    }
    const auto has_sent = std::ranges::all_of(targets, [](const auto& each) { return each.sent > 0; });
    if (has_sent && time.is_over())
      return end();
    send_in_turn();
    if (is_any_open)
      go_on();
  }

  /// Sends to the consumers in turn until none of them may get more in this slice.
  void send_in_turn() {
    for (std::size_t skipped = 0; skipped < targets.size();) {
      auto& one = targets[next];
      next = (next + 1) % targets.size();
      if (one.allowed == 0 || !has_window(one)) {
        ++skipped;
        continue;
      }
      --one.allowed;
      ++one.sent;
      skipped = 0;
      self->send(one.to, message);
    }
  }

  /// Asks, once per consumer, to be notified when the consumer's link has room again.
  void wait_for(const caf::actor& whom) {
    if (std::ranges::find(waited_for, whom) != waited_for.end())
      return;
    waited_for.push_back(whom);
    troupe::notify_when_ready(self, whom);
  }

  /// Asks each consumer how many messages arrived. The request queues behind the messages and needs room on the link.
  void end() {
    if (!is_ending) {
      is_ending = true;
      unfinished = targets.size();
      result->messages = 0;
    }
    for (auto& each : targets) {
      if (each.is_asked || !finished.pending())
        continue;
      if (!troupe::is_ready(each.to)) {
        wait_for(each.to);
        continue;
      }
      each.is_asked = true;
      result->messages += each.sent;
      self->request(each.to, caf::infinite, end_atom::value, caf::actor{self})
          .then([this, sent = each.sent](std::uint64_t received,
                                         std::uint64_t wrong) { take_end(sent, received, wrong); },
                [this](caf::error& error) { fail(std::move(error)); });
    }
  }

  void take_end(std::uint64_t sent, std::uint64_t received, std::uint64_t wrong) {
    if (received != sent)
      return fail(caf::make_error(caf::sec::unexpected_message,
                                  fmt::format("{} messages were sent, and {} arrived", sent, received)));
    if (wrong > 0)
      return fail(changed(what.size_bytes));
    if (--unfinished > 0 || !finished.pending())
      return;
    result->seconds = time.passed();
    finished.deliver(true);
  }
};

template <class Carrier>
caf::behavior streamer(caf::stateful_actor<streamer_state<Carrier>>* self, const measurement& what,
                       const std::vector<caf::actor>& consumers, const std::shared_ptr<reached>& result) {
  auto& state = self->state;
  state.self = self;
  state.what = what;
  state.message = Carrier::of(payload{what.size_bytes, what.data}.bytes());
  state.result = result;
  for (const auto& each : consumers)
    state.targets.push_back({.to = each, .address = caf::actor_cast<caf::strong_actor_ptr>(each)});
  return {
      [self](measure_atom, double seconds) {
        self->state.begin(seconds);
        return self->state.finished;
      },
      [self](go_on_atom) { self->state.send_slice(); },
      [self](std::uint64_t acknowledged) {
        auto& targets = self->state.targets;
        const auto from = std::ranges::find(targets, self->current_sender(), &outgoing::address);
        if (from != targets.end())
          from->acknowledged = std::max(from->acknowledged, std::min(acknowledged, from->sent));
        self->state.go_on();
      },
      [self](const troupe::link_ready& ready) {
        std::erase(self->state.waited_for, ready.receiver);
        if (self->state.is_ending)
          self->state.end();
        else
          self->state.go_on();
      },
  };
}

template <class Carrier>
struct asker_state {
  caf::event_based_actor* self = nullptr;
  measurement what;
  payload expected{0, ""};
  typename Carrier::value message;
  caf::actor echoer;
  std::shared_ptr<reached> result;
  allotted time;
  std::size_t under_way = 0;
  caf::typed_response_promise<bool> finished;

  [[nodiscard]] bool is_enough() const { return time.is_over() && !result->trips.empty(); }

  /// Keeps the window of requests full. Every measurement makes at least one round trip.
  void go_on() {
    while (under_way < what.window() && finished.pending() && !is_enough()) {
      if (!troupe::is_ready(echoer)) {
        if (under_way == 0) // Otherwise the next answer continues.
          troupe::notify_when_ready(self, echoer);
        return;
      }
      ask();
    }
    if (under_way > 0 || !finished.pending())
      return;
    result->seconds = time.passed();
    result->messages = result->trips.size();
    finished.deliver(true);
  }

  void ask() {
    ++under_way;
    self->request(echoer, caf::infinite, message)
        .then([this, asked_at = bench_clock::now()](const typename Carrier::value& answer) { take(answer, asked_at); },
              [this](caf::error& error) {
                if (finished.pending())
                  finished.deliver(std::move(error));
              });
  }

  void take(const typename Carrier::value& answer, bench_clock::time_point asked_at) {
    result->trips.push_back(std::chrono::duration<double>(bench_clock::now() - asked_at).count());
    --under_way;
    if (!expected.is(Carrier::bytes(answer)) && finished.pending())
      finished.deliver(changed(what.size_bytes));
    go_on();
  }
};

template <class Carrier>
caf::behavior asker(caf::stateful_actor<asker_state<Carrier>>* self, const measurement& what, const caf::actor& echoer,
                    const std::shared_ptr<reached>& result) {
  auto& state = self->state;
  state.self = self;
  state.what = what;
  state.expected = payload{what.size_bytes, what.data};
  state.message = Carrier::of(state.expected.bytes());
  state.echoer = echoer;
  state.result = result;
  return {
      [self](measure_atom, double seconds) {
        auto& now = self->state;
        now.result->trips.clear();
        now.time.begin(seconds);
        now.finished = self->template make_response_promise<bool>();
        now.go_on();
        return now.finished;
      },
      [self](const troupe::link_ready&) { self->state.go_on(); },
  };
}

template <class Carrier>
struct lapper_state {
  payload expected{0, ""};
  typename Carrier::value message;
  caf::actor next;
  std::shared_ptr<reached> result;
  allotted time;
  bench_clock::time_point lap_began;
  caf::typed_response_promise<bool> finished;
};

template <class Carrier>
caf::behavior lapper(caf::stateful_actor<lapper_state<Carrier>>* self, const measurement& what,
                     const std::shared_ptr<reached>& result) {
  auto& state = self->state;
  state.expected = payload{what.size_bytes, what.data};
  state.message = Carrier::of(state.expected.bytes());
  state.result = result;
  return {
      [self](next_atom, const caf::actor& next) {
        self->state.next = next;
        return true;
      },
      [self](measure_atom, double seconds) {
        auto& now = self->state;
        now.result->trips.clear();
        now.finished = self->template make_response_promise<bool>();
        now.time.begin(seconds);
        now.lap_began = bench_clock::now();
        self->send(now.next, now.message);
        return now.finished;
      },
      [self, what](const typename Carrier::value& message) {
        auto& now = self->state;
        if (!now.finished.pending())
          return;
        const auto lap_ended = bench_clock::now();
        now.result->trips.push_back(std::chrono::duration<double>(lap_ended - now.lap_began).count());
        now.lap_began = lap_ended;
        if (!now.expected.is(Carrier::bytes(message))) {
          now.finished.deliver(changed(what.size_bytes));
        } else if (!now.time.is_over()) {
          self->send(now.next, message);
        } else {
          now.result->seconds = now.time.passed();
          now.result->messages = now.result->trips.size() * (what.peers + 1);
          now.finished.deliver(true);
        }
      },
  };
}

template <class Carrier>
class ends_of final : public ends {
public:
  void add_type(type_registry& types) const override { Carrier::add_type(types); }
  std::string_view alias() const override { return Carrier::alias; }

  caf::actor spawn_consumer(caf::actor_system& system, const payload& expected) const override {
    return system.spawn(consumer<Carrier>, expected);
  }
  caf::actor spawn_echoer(caf::actor_system& system) const override { return system.spawn(echoer<Carrier>); }
  caf::actor spawn_passer(caf::actor_system& system) const override { return system.spawn(passer<Carrier>); }
  caf::actor spawn_streamer(caf::actor_system& system, const measurement& what, std::vector<caf::actor> consumers,
                            std::shared_ptr<reached> result) const override {
    return system.spawn(streamer<Carrier>, what, std::move(consumers), std::move(result));
  }
  caf::actor spawn_asker(caf::actor_system& system, const measurement& what, caf::actor echoer,
                         std::shared_ptr<reached> result) const override {
    return system.spawn(asker<Carrier>, what, std::move(echoer), std::move(result));
  }
  caf::actor spawn_lapper(caf::actor_system& system, const measurement& what,
                          std::shared_ptr<reached> result) const override {
    return system.spawn(lapper<Carrier>, what, std::move(result));
  }

  caf::actor spawn_load_echoer(caf::actor_system& system, std::shared_ptr<sink_account> account) const override {
    return system.spawn(load_echoer<Carrier>, std::move(account));
  }
  caf::actor spawn_load_consumer(caf::actor_system& system, std::shared_ptr<sink_account> account) const override {
    return system.spawn(load_consumer<Carrier>, std::move(account));
  }
  caf::actor spawn_load_sender(caf::actor_system& system, std::shared_ptr<load_run> run) const override {
    return system.spawn(load_sender<Carrier>, std::move(run));
  }
};

} // namespace troupe::tools
