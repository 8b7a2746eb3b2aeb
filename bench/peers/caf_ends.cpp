#include "peers/caf_ends.hpp"

#include <caf/all.hpp>
#include <troupe/framework/message_types.hpp>

namespace bench {

namespace {

using begin_atom = caf::atom_constant<caf::atom("begin")>;
using go_on_atom = caf::atom_constant<caf::atom("go_on")>;

/// Structs that the producer sends before it reads its mailbox: in one long loop, an actor would never see an
/// acknowledgement.
constexpr std::uint64_t slice = 500;

struct consumer_state {
  std::uint64_t received = 0;
  std::uint64_t count = 0;
  caf::actor producer;

  void take(caf::event_based_actor* self, const small_message& message) {
    check_number(message, received++);
    if (is_acknowledged(received, count))
      self->send(producer, received);
  }
};

caf::behavior consumer(caf::stateful_actor<consumer_state>* self) {
  return {
      [self](begin_atom, std::uint64_t count, const caf::actor& producer) {
        self->state = {.count = count, .producer = producer};
      },
      [self](const small_message& message) { self->state.take(self, message); },
      [self](const small_messages& messages) {
        for (const auto& each : messages)
          self->state.take(self, each);
      },
  };
}

caf::behavior echoer(caf::event_based_actor*) {
  return {[](small_message& message) { return std::move(message); }};
}

struct producer_state {
  std::uint64_t count = 0;
  std::uint64_t sent = 0;
  std::uint64_t acknowledged = 0;
  bool is_going_on = false; // Whether a go_on message is in the mailbox.
  bench_clock::time_point began;
  caf::typed_response_promise<double> finished;

  [[nodiscard]] bool may_send() const { return sent < count && sent - acknowledged < window_max; }

  void go_on(caf::event_based_actor* self) {
    const auto may_any = may_send();
    if (may_any && !is_going_on)
      self->send(self, go_on_atom::value);
    is_going_on = is_going_on || may_any;
  }

  void send_next(caf::event_based_actor* self, const caf::actor& consumer, load carried) {
    if (carried == load::one_struct) {
      self->send(consumer, numbered(sent++));
      return;
    }
    auto messages = numbered_together(sent, count);
    sent += messages.size();
    self->send(consumer, std::move(messages));
  }
};

/// Streams the requested number of structs, and answers with the seconds it took.
caf::behavior producer(caf::stateful_actor<producer_state>* self, const caf::actor& consumer, load carried) {
  return {
      [self, consumer](begin_atom, std::uint64_t count) {
        self->state = {.count = count, .began = bench_clock::now(), .finished = self->make_response_promise<double>()};
        self->send(consumer, begin_atom::value, count, caf::actor{self});
        self->state.go_on(self);
        return self->state.finished;
      },
      [self, consumer, carried](go_on_atom) {
        auto& state = self->state;
        state.is_going_on = false;
        for (const auto end = state.sent + slice; state.sent < end && state.may_send();)
          state.send_next(self, consumer, carried);
        state.go_on(self);
      },
      [self](std::uint64_t acknowledged) {
        auto& state = self->state;
        state.acknowledged = acknowledged;
        if (acknowledged == state.count)
          state.finished.deliver(seconds{bench_clock::now() - state.began}.count());
        else
          state.go_on(self);
      },
  };
}

struct asker_state {
  caf::actor echoer;
  std::uint64_t count = 0;
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  std::vector<seconds>* round_trips = nullptr; // Belongs to the thread that waits for the answer.
  bench_clock::time_point began;
  caf::typed_response_promise<double> finished;
};

void ask_next(caf::stateful_actor<asker_state>* self) {
  auto& state = self->state;
  const auto asked_at = state.round_trips == nullptr ? bench_clock::time_point{} : bench_clock::now();
  self->request(state.echoer, caf::infinite, numbered(state.asked++))
      .then(
          [self, asked_at](const small_message& answer) {
            auto& now = self->state;
            check_number(answer, now.answered++);
            if (now.round_trips != nullptr)
              now.round_trips->push_back(bench_clock::now() - asked_at);
            if (now.asked < now.count)
              ask_next(self);
            else if (now.answered == now.count)
              now.finished.deliver(seconds{bench_clock::now() - now.began}.count());
          },
          [self](caf::error& error) {
            if (self->state.finished.pending())
              self->state.finished.deliver(std::move(error));
          });
}

/// Keeps `window` requests in flight, and answers with the seconds that all took.
caf::behavior asker(caf::stateful_actor<asker_state>* self, const caf::actor& echoer,
                    std::vector<seconds>* round_trips) {
  return {[=](begin_atom, std::uint64_t count, std::uint64_t window) {
    self->state = {.echoer = echoer,
                   .count = count,
                   .round_trips = round_trips,
                   .began = bench_clock::now(),
                   .finished = self->make_response_promise<double>()};
    while (self->state.asked < std::min(count, window))
      ask_next(self);
    return self->state.finished;
  }};
}

class caf_near_end : public near_end {
public:
  caf_near_end(caf::actor_system& system, caf::actor consumer, caf::actor echoer, load carried)
      : system_(system), consumer_(std::move(consumer)), echoer_(std::move(echoer)), carried_(carried) {}

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    return ask(system_.spawn(producer, consumer_, carried_), begin_atom::value, count);
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    return ask(system_.spawn(asker, echoer_, round_trips), begin_atom::value, count, window);
  }

private:
  template <class... Arguments>
  std::expected<seconds, std::string> ask(const caf::actor& driver, const Arguments&... arguments) {
    std::expected<seconds, std::string> result;
    caf::scoped_actor self{system_};
    self->request(driver, caf::infinite, arguments...)
        .receive([&](double took) { result = seconds{took}; },
                 [&](const caf::error& error) { result = std::unexpected{system_.render(error)}; });
    self->send_exit(driver, caf::exit_reason::user_shutdown);
    return result;
  }

  caf::actor_system& system_;
  caf::actor consumer_;
  caf::actor echoer_;
  load carried_;
};

} // namespace

caf::actor spawn_consumer(caf::actor_system& system) {
  return system.spawn(consumer);
}

caf::actor spawn_echoer(caf::actor_system& system) {
  return system.spawn(echoer);
}

std::unique_ptr<near_end> make_caf_near_end(caf::actor_system& system, caf::actor consumer, caf::actor echoer,
                                            load carried) {
  return std::make_unique<caf_near_end>(system, std::move(consumer), std::move(echoer), carried);
}

} // namespace bench
