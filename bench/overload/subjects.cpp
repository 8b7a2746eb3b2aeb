#include "overload/subjects.hpp"

#include "harness/statistics.hpp"
#include "peers/small_messages.hpp"
#include "peers/troupe_process.hpp"

#include <caf/all.hpp>

#include <troupe/framework/deadline.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <utility>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr auto handler_time = 1ms;   // So the actor answers at most 1,000 requests a second.
constexpr auto offered_rate = 3'000; // Requests a second.
constexpr auto timeout = 50ms;

/// Keeps its core busy, like a handler that computes.
caf::behavior computing(caf::event_based_actor* self, bool looks_at_deadlines) {
  return {[=](std::uint64_t number) -> caf::result<std::uint64_t> {
    if (looks_at_deadlines)
      if (const auto left = troupe::deadline(self); left && *left < 2 * handler_time)
        return caf::make_error(caf::sec::request_timeout);
    for (const auto end = bench_clock::now() + handler_time; bench_clock::now() < end;) {
    }
    return number;
  }};
}

struct tally {
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;
};

/// Sends requests at a steady rate, also while earlier ones are unanswered. Answers with its tally when all have ended.
struct asking_state {
  bench_clock::time_point begin;
  bench_clock::time_point end;
  tally counts;
  caf::response_promise done;
};

constexpr auto tick = caf::atom("tick");
using tick_atom = caf::atom_constant<tick>;

caf::behavior asking(caf::stateful_actor<asking_state>* self, const caf::actor& whom, bool has_deadlines) {
  const auto finish_if_over = [self] {
    auto& state = self->state;
    if (bench_clock::now() >= state.end && state.counts.answered + state.counts.failed == state.counts.asked) {
      state.done.deliver(state.counts.answered, state.counts.asked);
      self->quit();
    }
  };
  const auto ask_once = [=] {
    auto& counts = self->state.counts;
    const auto answered = [=](std::uint64_t) {
      ++self->state.counts.answered;
      finish_if_over();
    };
    const auto failed = [=](const caf::error&) {
      ++self->state.counts.failed;
      finish_if_over();
    };
    const auto number = ++counts.asked;
    if (has_deadlines)
      troupe::request(self, whom, timeout, number).then(answered, failed);
    else
      self->request(whom, timeout, number).then(answered, failed);
  };
  return {[=](std::uint64_t milliseconds) {
            auto& state = self->state;
            state.begin = bench_clock::now();
            state.end = state.begin + std::chrono::milliseconds{milliseconds};
            state.done = self->make_response_promise();
            self->send(self, tick_atom::value);
            return state.done;
          },
          [=](tick_atom) {
            auto& state = self->state;
            const auto now = std::min(bench_clock::now(), state.end);
            const auto due = static_cast<std::uint64_t>(seconds{now - state.begin}.count() * offered_rate);
            while (state.counts.asked < due)
              ask_once();
            if (now < state.end)
              self->delayed_send(self, 1ms, tick_atom::value);
            else
              finish_if_over();
          }};
}

std::expected<numbers, std::string> ask_for(troupe_process& process, const caf::actor& whom, bool has_deadlines,
                                            std::uint64_t milliseconds) {
  caf::scoped_actor self{process.system};
  std::expected<numbers, std::string> rates;
  const auto time = static_cast<double>(milliseconds) / 1000;
  self->request(process.system.spawn(asking, whom, has_deadlines), caf::infinite, milliseconds)
      .receive(
          [&](std::uint64_t answered, std::uint64_t asked) {
            rates = numbers{static_cast<double>(answered) / time, static_cast<double>(asked) / time};
          },
          [&](const caf::error& why) { rates = std::unexpected{process.system.render(why)}; });
  return rates;
}

struct near_overload {
  troupe_process process;
  caf::actor whom;
};

} // namespace

const std::vector<overload_subject>& overload_subjects() {
  static const std::vector<overload_subject> all{
      {.name = "plain"},
      {.name = "deadlines", .has_deadlines = true},
      {.name = "deadlines-looked-at", .has_deadlines = true, .looks_at_them = true}};
  return all;
}

const overload_subject* find_overload_subject(std::string_view name) {
  const auto found = std::ranges::find(overload_subjects(), name, &overload_subject::name);
  return found == overload_subjects().end() ? nullptr : &*found;
}

std::expected<void, std::string> serve_overload(const overload_subject& what,
                                                const std::function<void(const std::string&)>& ready) {
  troupe_process process;
  if (auto opened = process.open({unix_address()}); !opened)
    return opened;
  if (auto published = process.node->publish("computing", process.system.spawn(computing, what.looks_at_them));
      !published)
    return std::unexpected{published.error().message()};
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actors.
}

std::expected<step_taker, std::string> connect_overload(const overload_subject& what, const std::string& address) {
  auto near = std::make_shared<near_overload>();
  auto link = near->process.connect(address);
  if (!link)
    return std::unexpected{std::move(link).error()};
  auto whom = link->find("computing");
  if (!whom)
    return std::unexpected{whom.error().message()};
  near->whom = *std::move(whom);
  return step_taker{[near, has_deadlines = what.has_deadlines](const step& next) {
    return ask_for(near->process, near->whom, has_deadlines, next.count);
  }};
}

} // namespace bench
