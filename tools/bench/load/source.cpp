#include "bench/load/source.hpp"

#include "bench/ends.hpp"
#include "bench/families.hpp"
#include "bench/load/pacing_unit.hpp"
#include "bench/load/sending.hpp"
#include "bench/load/sink.hpp"

#include "nodes/client.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <sys/prctl.h>

#include <fmt/format.h>

namespace troupe::tools {

namespace {

/// Signals, lost links and the end of the patience are noticed within this time.
constexpr std::chrono::milliseconds glance{10};

/// Wakes the senders in turn, at the times that the run wants, and now and then. Returns true once the run is over.
[[nodiscard]] bool pace_for_a_while(load_run& run, const std::vector<caf::actor>& senders, std::size_t& next,
                                    pacing_unit& unit) {
  constexpr std::chrono::microseconds while_it_runs{50};
  const auto until = load_run::clock::now() + glance;
  while (!run.is_over() && load_run::clock::now() < until) {
    std::this_thread::sleep_until(std::min(run.wakes_at(), until));
    if (run.note_tick())
      unit.send(senders[next++ % senders.size()], tick_atom::value);
    else
      std::this_thread::sleep_for(while_it_runs); // The sender runs on another thread, and takes the tick there.
  }
  return run.is_over();
}

/// Threads sleep by default up to 50 us longer than asked.
void let_this_thread_wake_in_time() {
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

} // namespace

load_source::load_source(const source_options& options) : options_(options) {
  ends_for(options_.family).add_type(types_);
  add_families(families_);
}

std::expected<std::unique_ptr<load_source>, node_error> load_source::open(const source_options& options) {
  std::unique_ptr<load_source> made{new load_source{options}};
  auto opened = node::open(made->system_, made->types_, made->families_,
                           {.name = observer_name(),
                            .store = std::nullopt,
                            .local_queries = false,
                            .io_threads = options.access.io_threads});
  if (!opened)
    return std::unexpected{opened.error()};
  made->node_.emplace(*std::move(opened));
  const auto terms = link_options_of(options.access, {options.family});
  for (std::size_t i = 0; i < options.connections; ++i)
    for (const auto& address : options.addresses) {
      auto by = made->node_->connect(address, terms);
      if (!by)
        return std::unexpected{node_error{by.error().code(), address + ": " + by.error().message()}};
      auto opener = by->find(opener_name, std::chrono::milliseconds{0});
      if (!opener && opener.error().code() == node_errc::not_found)
        return std::unexpected{
            node_error{node_errc::not_found, address + " is no sink; start one there with: troupe bench --serve"}};
      if (!opener)
        return std::unexpected{node_error{opener.error().code(), address + ": " + opener.error().message()}};
      made->links_.push_back({address, *std::move(by), *std::move(opener)});
    }
  return made;
}

std::expected<std::vector<load_target>, std::string> load_source::open_targets(bool are_answered) {
  std::vector<load_target> made;
  caf::scoped_actor self{system_};
  for (const auto& each : links_) {
    std::string problem;
    const auto open = [&](caf::actor& to) {
      self->request(each.opener, options_.access.timeout, open_atom::value, options_.family, are_answered)
          .receive([&](caf::actor& opened) { to = std::move(opened); },
                   [&](const caf::error& error) { problem = each.address + ": " + troupe::text_of(error); });
    };
    load_target one{.by = each.by, .measured = {}};
    open(one.measured);
    if (!are_answered && problem.empty())
      open(one.warming);
    if (!problem.empty())
      return std::unexpected{problem};
    made.push_back(std::move(one));
  }
  return made;
}

std::vector<std::string> load_source::lost() const {
  std::vector<std::string> made;
  for (const auto& each : links_)
    if (!each.by.is_open())
      made.push_back(each.address);
  return made;
}

/// Empty if the asked family carried the payloads.
std::string load_source::wrong_family() const {
  for (const auto& each : links_)
    for (const auto& row : each.by.stats().by_type)
      if (row.type == ends_for(options_.family).alias() && row.sent.payloads + row.received.payloads > 0
          && row.family != options_.family)
        return fmt::format("payloads were carried by {}, not by {}", row.family, options_.family);
  return {};
}

offered_round load_source::offer(const load_plan& plan, bench::stop_signals& signals) {
  offered_round made;
  auto targets = open_targets(plan.is_answered);
  if (!targets) {
    made.failure = targets.error();
    made.lost = lost();
    return made;
  }
  let_this_thread_wake_in_time();
  const auto run = std::make_shared<load_run>(plan, *std::move(targets), options_.data);
  std::vector<caf::actor> senders;
  while (senders.size() < run->senders())
    senders.push_back(ends_for(options_.family).spawn_load_sender(system_, run));
  std::size_t next = 0;
  pacing_unit unit{system_};
  auto is_told_to_stop = false;
  while (!pace_for_a_while(*run, senders, next, unit)) {
    made.stopped_by = signals.came();
    if (!is_told_to_stop && (made.stopped_by != 0 || lost().size() == links_.size())) {
      is_told_to_stop = true;
      unit.send(senders.front(), stop_atom::value);
    }
  }
  made.figures = run->result();
  made.lost = lost();
  made.failure = wrong_family();
  return made;
}

} // namespace troupe::tools
