#include "throughput/fan_subjects.hpp"

#include "peers/caf_ends.hpp"
#include "peers/troupe_process.hpp"

#include <caf/all.hpp>
#include <troupe/framework/message_types.hpp>

#include <algorithm>
#include <sstream>

namespace bench {

namespace {

using begin_atom = caf::atom_constant<caf::atom("begin")>;
using go_on_atom = caf::atom_constant<caf::atom("go_on")>;

/// Messages that the producer sends before it reads its mailbox.
constexpr std::uint64_t slice = 500;

/// The stream from one producer. Its messages carry the stream's number in `third`.
struct incoming {
  std::uint64_t count = 0;
  std::uint64_t received = 0;
  caf::actor producer;
  std::uint64_t target = 0; // The producer's number for this consumer.
};

caf::behavior consumer(caf::stateful_actor<std::vector<incoming>>* self) {
  return {
      [self](begin_atom, std::uint64_t count, std::uint64_t target, const caf::actor& producer) {
        self->state.push_back({.count = count, .producer = producer, .target = target});
        return static_cast<std::int32_t>(self->state.size() - 1);
      },
      [self](const small_message& message) {
        auto& stream = self->state.at(static_cast<std::size_t>(message.third));
        check_number(message, stream.received++);
        if (is_acknowledged(stream.received, stream.count))
          self->send(stream.producer, stream.target, stream.received);
        if (stream.received == stream.count)
          stream.producer = nullptr;
      },
  };
}

/// The stream to one consumer.
struct outgoing {
  caf::actor consumer;
  std::int32_t stream = -1; // Negative until it is known.
  std::uint64_t sent = 0;
  std::uint64_t acknowledged = 0;
};

struct producer_state {
  std::uint64_t count = 0; // For each consumer.
  std::vector<outgoing> targets;
  std::size_t next = 0;
  std::size_t unfinished = 0;
  bool is_going_on = false; // Whether a go_on message is in the mailbox.
  bench_clock::time_point began;
  caf::typed_response_promise<double> finished;

  [[nodiscard]] bool may_send(const outgoing& to) const {
    return to.stream >= 0 && to.sent < count && to.sent - to.acknowledged < window_max;
  }

  void go_on(caf::event_based_actor* self) {
    const auto may_any = std::ranges::any_of(targets, [this](const auto& one) { return may_send(one); });
    if (may_any && !is_going_on)
      self->send(self, go_on_atom::value);
    is_going_on = is_going_on || may_any;
  }

  void send_slice(caf::event_based_actor* self) {
    for (std::uint64_t sent = 0, skipped = 0; sent < slice && skipped < targets.size();) {
      auto& to = targets[next];
      next = (next + 1) % targets.size();
      if (!may_send(to)) {
        ++skipped;
        continue;
      }
      auto message = numbered(to.sent++);
      message.third = to.stream;
      self->send(to.consumer, std::move(message));
      ++sent;
      skipped = 0;
    }
  }
};

/// Streams the requested number of messages to each consumer, and answers with the seconds it took.
caf::behavior producer(caf::stateful_actor<producer_state>* self, const std::vector<caf::actor>& consumers) {
  return {
      [self, consumers](begin_atom, std::uint64_t count) {
        auto& state = self->state;
        state.count = count;
        state.unfinished = consumers.size();
        state.began = bench_clock::now();
        state.finished = self->make_response_promise<double>();
        for (const auto& each : consumers) {
          const auto target = state.targets.size();
          state.targets.push_back({.consumer = each});
          self->request(each, caf::infinite, begin_atom::value, count, std::uint64_t{target}, caf::actor{self})
              .then(
                  [self, target](std::int32_t stream) {
                    self->state.targets[target].stream = stream;
                    self->state.go_on(self);
                  },
                  [self](caf::error& error) {
                    if (self->state.finished.pending())
                      self->state.finished.deliver(std::move(error));
                  });
        }
        return state.finished;
      },
      [self](go_on_atom) {
        self->state.is_going_on = false;
        self->state.send_slice(self);
        self->state.go_on(self);
      },
      [self](std::uint64_t target, std::uint64_t acknowledged) {
        auto& state = self->state;
        state.targets.at(target).acknowledged = acknowledged;
        if (acknowledged < state.count)
          state.go_on(self);
        else if (--state.unfinished == 0)
          state.finished.deliver(seconds{bench_clock::now() - state.began}.count());
      },
  };
}

std::expected<void, std::string> serve(const ready_report& ready) {
  troupe_process process;
  process.types.add<small_message>("bench.small_message");
  if (auto opened = process.open({unix_address()}); !opened)
    return opened;
  if (auto published = process.node->publish("consumer", process.system.spawn(consumer)); !published)
    return std::unexpected{published.error().message()};
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actors.
}

class fan_near_end final : public near_end {
public:
  std::expected<void, std::string> connect(const std::string& addresses) {
    process_.types.add<small_message>("bench.small_message");
    if (auto opened = process_.open({}); !opened)
      return opened;
    std::istringstream list{addresses};
    for (std::string address; std::getline(list, address, ',');) {
      auto link = process_.dial(address);
      if (!link)
        return std::unexpected{std::move(link).error()};
      auto found = link->find("consumer");
      if (!found)
        return std::unexpected{found.error().message()};
      consumers_.push_back(*std::move(found));
    }
    return {};
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    std::expected<seconds, std::string> result;
    const auto driver = process_.system.spawn(producer, consumers_);
    caf::scoped_actor self{process_.system};
    self->request(driver, caf::infinite, begin_atom::value, count)
        .receive([&](double took) { result = seconds{took}; },
                 [&](const caf::error& error) { result = std::unexpected{process_.system.render(error)}; });
    self->send_exit(driver, caf::exit_reason::user_shutdown);
    return result;
  }

  std::expected<seconds, std::string> echo(std::uint64_t, std::uint64_t, std::vector<seconds>*) override {
    return std::unexpected{"nobody answers here"};
  }

private:
  troupe_process process_;
  std::vector<caf::actor> consumers_;
};

std::expected<std::unique_ptr<near_end>, std::string> connect_fan(const std::string& addresses) {
  auto near = std::make_unique<fan_near_end>();
  if (auto connected = near->connect(addresses); !connected)
    return std::unexpected{std::move(connected).error()};
  return near;
}

} // namespace

subject fan_subject(std::string name) {
  return {std::move(name), serve, connect_fan};
}

} // namespace bench
