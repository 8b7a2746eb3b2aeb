#include "handles/ring.hpp"

#include "handles/hosts.hpp"
#include "handles/values.hpp"
#include "peers/troupe_process.hpp"

#include <troupe/framework/message_types.hpp>

#include <caf/all.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include <unistd.h>

namespace bench {

/// The seconds that each lap took.
struct lap_times {
  std::vector<double> seconds;
};
TROUPE_DESCRIBE(lap_times, seconds)

/// The footprint of one member.
struct member_footprint {
  std::uint64_t rows = 0;
  std::uint64_t memory_bytes = 0;
};
TROUPE_DESCRIBE(member_footprint, rows, memory_bytes)

namespace {

using join_atom = caf::atom_constant<caf::atom("join")>;
using begin_atom = caf::atom_constant<caf::atom("begin")>;
using go_atom = caf::atom_constant<caf::atom("go")>;
using end_atom = caf::atom_constant<caf::atom("end")>;
using look_atom = caf::atom_constant<caf::atom("look")>;

void add_ring_types(troupe::type_registry& types) {
  types.add<lap_times>("bench.lap_times");
  types.add<member_footprint>("bench.member_footprint");
  add_value_types(types);
}

/// Consecutive numbers share a host.
std::size_t host_of(ring_hosts hosts, std::size_t number) {
  return number * static_cast<std::size_t>(hosts) / ring_size;
}

/// Resident memory that is not shared.
std::uint64_t own_memory_bytes() {
  std::ifstream pages{"/proc/self/statm"};
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  pages >> all >> resident >> shared;
  return (resident - shared) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

member_footprint look_at(troupe::store::object_store store) {
  const auto summary = store.summary();
  if (!summary)
    return {};
  std::uint64_t rows = summary->rows.size();
  for (const auto& object : summary->rows)
    rows += object.in_flight.size();
  return {rows, own_memory_bytes()};
}

struct member_state {
  caf::actor next;
  bytes_ref held; // Set between journeys, in the member that made the value.
  std::uint64_t last_hop = 0;
  lap_times laps;
  bench_clock::time_point lap_began;
  caf::typed_response_promise<lap_times> finished;
};

using member_actor = caf::stateful_actor<member_state>;

/// Called when the reference has come round: starts another lap or ends the last one.
void end_lap(member_actor* self, const bytes_ref& ref, std::uint64_t hop) {
  auto& state = self->state;
  const auto now = bench_clock::now();
  state.laps.seconds.push_back(seconds{now - state.lap_began}.count());
  state.lap_began = now;
  if (hop < state.last_hop) {
    self->send(state.next, ref, hop + 1);
    return;
  }
  state.held = ref;
  state.finished.deliver(std::exchange(state.laps, {}));
}

/// Reads each value and passes the reference on. `node` must outlive the actor.
caf::behavior member(member_actor* self, troupe::node* node) {
  return {
      [self](const bytes_ref& ref, std::uint64_t hop) {
        const auto value = ref.get();
        if (!value) {
          when_here(ref, [me = caf::actor{self}, ref, hop](const std::expected<void, std::string>& came) {
            if (!came) {
              std::cerr << "hop " << hop << ": " << came.error() << '\n';
              std::_Exit(3);
            }
            caf::anon_send(me, ref, hop);
          });
          return;
        }
        check_value(*value, ring_value_bytes);
        if (self->state.finished.pending())
          end_lap(self, ref, hop);
        else
          self->send(self->state.next, ref, hop + 1);
      },
      [self](join_atom, const caf::actor& next) { self->state.next = next; },
      [self, node](begin_atom) {
        auto made = make_value(*node, ring_value_bytes);
        if (made)
          self->state.held = *std::move(made);
        return made.has_value();
      },
      [self](go_atom, std::uint64_t first_hop, std::uint64_t last_hop) {
        auto& state = self->state;
        state.last_hop = last_hop;
        state.finished = self->make_response_promise<lap_times>();
        state.lap_began = bench_clock::now();
        self->send(state.next, std::exchange(state.held, {}), first_hop);
        return state.finished;
      },
      [self](end_atom) {
        self->state.held = {};
        return true;
      },
      [node](look_atom) { return look_at(*node->store()); },
  };
}

/// Dials the next member and tells this process's member. A separate actor does it, so that the dial blocks no other
/// handler.
caf::behavior joiner(caf::event_based_actor* self, const caf::actor& member, troupe_process* process) {
  return {[self, member, process](join_atom, const std::string& address) -> caf::result<bool> {
    auto link = process->dial(address);
    if (!link)
      return caf::make_error(caf::sec::runtime_error, link.error());
    const auto next = link->find("member");
    if (!next)
      return caf::make_error(caf::sec::runtime_error, next.error().message());
    self->send(member, join_atom::value, *next);
    return true;
  }};
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in{text};
  for (std::string part; std::getline(in, part, at);)
    parts.push_back(part);
  return parts;
}

} // namespace

std::expected<void, std::string> serve_ring(ring_hosts hosts, std::size_t number, const ready_report& ready) {
  troupe_process process;
  add_ring_types(process.types);
  if (auto opened = process.open({unix_address(), tcp_address()}, inherited_host(host_of(hosts, number))); !opened)
    return opened;
  const auto passing = process.system.spawn(member, &*process.node);
  const auto joining = process.system.spawn<caf::detached>(joiner, passing, &process);
  for (const auto& [name, actor] : {std::pair{"member", passing}, std::pair{"joiner", joining}})
    if (auto published = process.node->publish(name, actor); !published)
      return std::unexpected{published.error().message()};
  const auto addresses = process.node->addresses();
  ready(addresses.at(0) + ';' + addresses.at(1));
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actors.
}

class ring_near_end::parts {
public:
  template <class Result, class... Arguments>
  std::expected<Result, std::string> ask(const caf::actor& whom, const Arguments&... arguments) {
    std::expected<Result, std::string> result;
    caf::scoped_actor self{process.system};
    self->request(whom, caf::infinite, arguments...)
        .receive([&](const Result& answer) { result = answer; },
                 [&](const caf::error& error) { result = std::unexpected{process.system.render(error)}; });
    return result;
  }

  /// Returns the footprint at rest: once only the value's row is left, or after about two seconds.
  std::expected<footprint, std::string> look() {
    constexpr int looks_min = 10;
    constexpr int looks_max = 100;
    footprint seen;
    for (int i = 0; i < looks_min || (i < looks_max && seen.rows > 1); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
      seen = {};
      for (std::size_t number = 0; number < members.size(); ++number) {
        const auto one = ask<member_footprint>(members[number], look_atom::value);
        if (!one)
          return std::unexpected{one.error()};
        if (number == 0 || host_of(hosts, number) != host_of(hosts, number - 1))
          seen.rows += one->rows;
        seen.memory_bytes += one->memory_bytes;
      }
    }
    return seen;
  }

  /// Returns the time of one hop, for each lap.
  std::expected<std::vector<seconds>, std::string> go(std::uint64_t first_hop, std::uint64_t last_hop) {
    const auto laps = ask<lap_times>(members.front(), go_atom::value, first_hop, last_hop);
    if (!laps)
      return std::unexpected{laps.error()};
    std::vector<seconds> of_hops;
    for (const auto lap : laps->seconds)
      of_hops.push_back(seconds{lap} / ring_size);
    return of_hops;
  }

  ring_hosts hosts = ring_hosts::one;
  troupe_process process;
  std::vector<caf::actor> members;
};

ring_near_end::ring_near_end(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
ring_near_end::~ring_near_end() = default;

std::expected<std::unique_ptr<ring_near_end>, std::string> ring_near_end::connect(ring_hosts hosts,
                                                                                  const std::string& addresses) {
  auto made = std::make_unique<parts>();
  made->hosts = hosts;
  add_ring_types(made->process.types);
  if (auto opened = made->process.open({}); !opened)
    return std::unexpected{std::move(opened).error()};
  std::vector<std::vector<std::string>> of_members;
  for (const auto& both : split(addresses, ','))
    of_members.push_back(split(both, ';'));
  for (std::size_t i = 0; i < of_members.size(); ++i) {
    const auto next = (i + 1) % of_members.size();
    const auto shares_store = host_of(hosts, i) == host_of(hosts, next);
    auto link = made->process.dial(of_members[i].front());
    if (!link)
      return std::unexpected{link.error()};
    auto member = link->find("member");
    auto joiner = link->find("joiner");
    if (!member || !joiner)
      return std::unexpected{(member ? joiner : member).error().message()};
    made->members.push_back(*std::move(member));
    const auto& address_of_next = shares_store ? of_members[next].front() : of_members[next].back();
    if (auto joined = made->ask<bool>(*joiner, join_atom::value, address_of_next); !joined)
      return std::unexpected{std::move(joined).error()};
  }
  return std::unique_ptr<ring_near_end>{new ring_near_end{std::move(made)}};
}

std::expected<ring_near_end::journey, std::string> ring_near_end::go_round(std::uint64_t hops) {
  const auto& starter = parts_->members.front();
  const auto is_begun = parts_->ask<bool>(starter, begin_atom::value);
  if (!is_begun || !*is_begun)
    return std::unexpected{is_begun ? "no room for a value" : is_begun.error()};
  const auto to_whole_lap = [](std::uint64_t hop) { return hop / ring_size * ring_size; };
  const auto tenth = to_whole_lap(hops / 10);
  const auto last = to_whole_lap(hops);
  const auto first = parts_->go(1, tenth);
  if (!first)
    return std::unexpected{first.error()};
  const auto after_a_tenth = parts_->look();
  if (!after_a_tenth)
    return std::unexpected{after_a_tenth.error()};
  if (const auto between = parts_->go(tenth + 1, last - tenth); !between)
    return std::unexpected{between.error()};
  // Rest before both tenths. If several processes want a core, the system favors those that have just begun.
  if (const auto rested = parts_->look(); !rested)
    return std::unexpected{rested.error()};
  const auto ending = parts_->go(last - tenth + 1, last);
  if (!ending)
    return std::unexpected{ending.error()};
  const auto at_the_end = parts_->look();
  if (!at_the_end)
    return std::unexpected{at_the_end.error()};
  if (auto ended = parts_->ask<bool>(starter, end_atom::value); !ended)
    return std::unexpected{std::move(ended).error()};
  const auto left_out = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(100, tenth / 2) / ring_size);
  return journey{.early = {first->begin() + left_out, first->end()},
                 .late = {ending->begin() + left_out, ending->end()},
                 .after_a_tenth = *after_a_tenth,
                 .at_the_end = *at_the_end};
}

} // namespace bench
