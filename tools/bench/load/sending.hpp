// The actors of a source: they send what an open_loop says, and tell it what comes back. `Carrier` is described in
// bench/ends_of.hpp.
#pragma once

#include "bench/load/load_run.hpp"
#include "bench/load/sinking.hpp"
#include "bench/payload.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <caf/all.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::tools {

/// Sent to a sender when requests may be due.
using tick_atom = caf::atom_constant<caf::atom("tick")>;
/// Sent to a sender to end the run now.
using stop_atom = caf::atom_constant<caf::atom("stop")>;

/// The payloads of a run, by size.
template <class Carrier>
struct sent_payloads {
  std::vector<payload> expected;
  std::vector<typename Carrier::value> messages;

  explicit sent_payloads(const load_run& run) {
    for (const auto& each : run.plan().sizes.all()) {
      expected.emplace_back(each.bytes, run.data());
      messages.push_back(Carrier::of(expected.back().bytes()));
    }
  }
};

template <class Carrier>
struct sender_state {
  caf::event_based_actor* self = nullptr;
  std::shared_ptr<load_run> run;
  std::shared_ptr<const sent_payloads<Carrier>> payloads;

  /// After a slice, the next sender goes on, and this one reads its mailbox, so that answers do not wait for it.
  inline static constexpr auto slice = 64;

  void begin(std::shared_ptr<load_run> what) {
    run = std::move(what);
    payloads = run->template shared<const sent_payloads<Carrier>>();
  }

  /// Sends what is due, and ends the run when nothing remains to be done.
  void go_on() {
    for (auto sent = 0; sent < slice; ++sent) {
      const auto due = run->next_due();
      if (!due)
        break;
      send(*due);
    }
    if (run->is_done() && !run->is_over())
      finish();
  }

  void send(const load_request& due) {
    const auto number = run->choose_target();
    const auto& to = run->targets()[number];
    const auto& message = payloads->messages[due.size];
    if (!run->plan().is_answered) {
      const auto is_measured = due.intended >= run->plan().warm_up;
      if (is_measured)
        run->note_sent(number);
      return self->send(is_measured ? to.measured : to.warming, message);
    }
    self->request(to.measured, caf::infinite, message)
        .then(
            [this, due](const typename Carrier::value& answer) {
              const auto is_right = payloads->expected[due.size].is(Carrier::bytes(answer));
              if (is_right ? run->answered(due) : run->failed(due, "changed"))
                go_on();
            },
            [this, due](caf::error& error) {
              if (run->failed(due, to_string(to_node_error(error).code())))
                go_on();
            });
  }

  void finish() {
    if (run->plan().is_answered)
      run->end();
    else
      ask_consumers();
  }

  /// Asks each consumer how many messages it has taken. The request waits behind the messages.
  void ask_consumers() {
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
          [self](stop_atom) { self->state.run->end(); }};
}

} // namespace troupe::tools
