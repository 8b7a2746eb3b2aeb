// The actor of a source: it sends what an open_loop says, and tells it what comes back. `Carrier` is described in
// bench/ends_of.hpp.
#pragma once

#include "bench/load/load_run.hpp"
#include "bench/load/sinking.hpp"
#include "bench/payload.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <caf/all.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::tools {

/// Sent to a sender when requests may be due.
using tick_atom = caf::atom_constant<caf::atom("tick")>;
/// Sent to a sender to end its run now.
using stop_atom = caf::atom_constant<caf::atom("stop")>;

template <class Carrier>
struct sender_state {
  caf::event_based_actor* self = nullptr;
  std::shared_ptr<load_run> run;
  std::vector<payload> expected; // By size, as the messages.
  std::vector<typename Carrier::value> messages;
  std::size_t next_target = 0;

  /// Between slices the actor reads its mailbox, so that answers do not wait for it.
  inline static constexpr auto slice = 64;

  void begin(std::shared_ptr<load_run> what) {
    run = std::move(what);
    for (const auto& each : run->loop().plan().sizes.all()) {
      expected.emplace_back(each.bytes, run->data());
      messages.push_back(Carrier::of(expected.back().bytes()));
    }
  }

  /// Sends what is due, and ends the run when nothing remains to be done.
  void go_on() {
    if (run->is_over())
      return;
    for (auto sent = 0; sent < slice; ++sent) {
      const auto due = run->loop().next_due(run->now());
      if (!due) {
        if (run->loop().is_over(run->now()))
          finish();
        else
          run->sleep_until(run->loop().wakes_at());
        return;
      }
      send(*due);
    }
    self->send(self, tick_atom::value);
  }

  void send(const load_request& due) {
    const auto number = next_target++ % run->targets().size();
    auto& to = run->targets()[number];
    const auto& message = messages[due.size];
    if (!run->loop().plan().is_answered) {
      const auto is_measured = run->loop().is_measuring(due.intended);
      if (is_measured)
        run->note_sent(number);
      return self->send(is_measured ? to.measured : to.warming, message);
    }
    self->request(to.measured, caf::infinite, message)
        .then([this, due](const typename Carrier::value& answer) { take(due, answer); },
              [this, due](caf::error& error) { fail(due, to_string(to_node_error(error).code())); });
  }

  void take(const load_request& due, const typename Carrier::value& answer) {
    if (!expected[due.size].is(Carrier::bytes(answer)))
      return fail(due, "changed");
    end_request([&](open_loop& loop) { loop.answered(due, run->now()); });
  }

  void fail(const load_request& due, const std::string& why) {
    end_request([&](open_loop& loop) { loop.failed(due, run->now(), why); });
  }

  /// Sends only if that had to wait for this request. Otherwise a late sender would send much for each answer, and the
  /// other answers would wait.
  template <class End>
  void end_request(End end) {
    if (run->is_over())
      return;
    auto& loop = run->loop();
    const auto is_awaited = loop.is_at_bound();
    end(loop);
    if (is_awaited || loop.is_over(run->now()))
      go_on();
  }

  void finish() {
    if (run->loop().plan().is_answered)
      run->end();
    else
      ask_consumers();
  }

  /// Asks each consumer how many messages it has taken. The request waits behind the messages.
  void ask_consumers() {
    run->sleep_until(std::nullopt); // Ticks come now and then all the same.
    auto are_all_known = true;
    for (std::size_t i = 0; i < run->targets().size(); ++i) {
      auto& each = run->targets()[i];
      are_all_known = are_all_known && each.is_known;
      if (each.is_known || each.is_asked)
        continue;
      each.is_asked = true;
      self->request(each.measured, caf::infinite, taken_atom::value)
          .then(
              [this, i](std::uint64_t count, std::uint64_t first_ns, std::uint64_t last_ns) {
                run->note_taken(i, count, std::chrono::nanoseconds{last_ns - first_ns});
                go_on();
              },
              // Without room on the link, the next tick asks again.
              [this, i](caf::error&) { run->targets()[i].is_asked = false; });
    }
    if (are_all_known || run->has_no_patience_left())
      run->end();
  }
};

template <class Carrier>
caf::behavior load_sender(caf::stateful_actor<sender_state<Carrier>>* self, std::shared_ptr<load_run> run) {
  self->state.self = self;
  self->state.begin(std::move(run));
  return {[self](tick_atom) {
            self->state.run->take_tick();
            self->state.go_on();
          },
          [self](stop_atom) {
            if (!self->state.run->is_over())
              self->state.run->end();
          }};
}

} // namespace troupe::tools
