// Which requests does etcd get from members that have joined: at rest, while their services carry load, and from a
// member that stands by for a singleton?
//
// Three members, each in a process of its own. Each publishes a name, and has a service handle that leads to the least
// loaded of them. Counted are etcd's own metrics.
#include "cluster/member_node.hpp"
#include "cluster/questions.hpp"
#include "healing/handle_kinds.hpp"
#include "peers/small_messages.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <caf/all.hpp>

#include <fmt/format.h>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t resting_members = 3;
constexpr auto keep_alive_method = "Lease/LeaseKeepAlive";
constexpr auto settling = 1s; // For requests that joining and publishing still cause.

struct resting_member {
  member_node member;
  caf::actor service;
  std::optional<troupe::service<caf::actor>> singleton;
};

numbers carry_load(resting_member& of, std::chrono::milliseconds time) {
  constexpr std::uint64_t at_once = 1'000;
  const caf::scoped_actor self{of.member.system()};
  double requests = 0;
  for (const auto until = bench_clock::now() + time; bench_clock::now() < until; requests += at_once)
    send_requests(self, of.service, at_once, echo_window);
  return {requests};
}

std::expected<numbers, std::string> stand_by(resting_member& of) {
  auto made = of.member.cluster().singleton(
      "bench", [](caf::actor_system& system, const troupe::ownership&) { return system.spawn(receiving); });
  if (!made)
    return std::unexpected{made.error().message()};
  of.singleton.emplace(*std::move(made));
  if (auto owned = wait_until([&] { return !of.member.cluster().singletons().empty(); }, "an owner"); !owned)
    return std::unexpected{std::move(owned).error()};
  return numbers{};
}

std::expected<step_taker, std::string> be_resting(const cluster_bench_options& told) {
  auto made = std::make_shared<resting_member>();
  if (auto joined = made->member.open_and_join("resting-" + std::to_string(told.number), told.directory, told.lease);
      !joined)
    return std::unexpected{std::move(joined).error()};
  if (auto published = made->member.cluster().publish("loaded", made->member.system().spawn(receiving)); !published)
    return std::unexpected{published.error().message()};
  made->service = made->member.cluster().service("loaded", {.pick = troupe::least_loaded}).handle();
  return step_taker{[made](const step& next) -> std::expected<numbers, std::string> {
    if (next.name == "load")
      return carry_load(*made, std::chrono::milliseconds{next.count});
    if (next.name == "stand-by")
      return stand_by(*made);
    if (auto seen = made->member.wait_for_members(resting_members); !seen)
      return std::unexpected{std::move(seen).error()};
    send_requests(caf::scoped_actor{made->member.system()}, made->service, echo_window, echo_window);
    return numbers{};
  }};
}

using resting = std::vector<role_process>;

/// All members take the step at once.
std::expected<double, failure> all_take(resting& members, const step& next, std::size_t numbers_count) {
  for (auto& each : members)
    each.begin(next);
  double sum = 0;
  for (auto& each : members) {
    const auto took = each.finish(numbers_count);
    if (!took)
      return std::unexpected{took.error()};
    for (const auto value : *took)
      sum += value;
  }
  return sum;
}

/// Counts what etcd gets while `act` runs.
std::expected<void, failure> count_while(cluster_run& run, const std::string& subject,
                                         const std::function<std::expected<void, failure>()>& act) {
  const auto before = run.etcd->requests();
  if (!before)
    return failed_step(before.error());
  const auto began = bench_clock::now();
  if (auto done = act(); !done)
    return done;
  const seconds time = bench_clock::now() - began;
  const auto after = run.etcd->requests();
  if (!after)
    return failed_step(after.error());
  auto came = *after - *before;
  const auto lease = static_cast<double>(run.told.lease.count());
  const auto nodes_and_thirds = static_cast<double>(resting_members) * time.count() / (lease / 3);
  for (const auto& [method, count] : came)
    run.add(
        {fmt::format("etcd requests a node in a third of the lease ({:.3g} s), {}", lease / 3, subject), "requests"},
        method, static_cast<double>(count) / nodes_and_thirds);
  const auto all = text_of(came);
  came.erase(keep_alive_method);
  run.notes["etcd, " + subject] =
      fmt::format("etcd's requests of {} members in {:.1f} s, lease {} s, {}: {}; beside keep-alives: {}",
                  resting_members, time.count(), lease, subject, all, text_of(came));
  return {};
}

std::expected<void, failure> ask_rest(cluster_run& run) {
  resting members;
  for (std::size_t number = 0; number < resting_members; ++number) {
    auto member = role_process::start(run, "resting", number);
    if (!member)
      return std::unexpected{std::move(member).error()};
    members.push_back(*std::move(member));
  }
  if (const auto ready = all_take(members, {"get-ready"}, 0); !ready)
    return std::unexpected{ready.error()};
  const auto time = std::chrono::milliseconds{run.told.lease} * run.told.leases_at_rest;
  const auto rest = [&] { return pause_for(run, time); };
  if (auto settled = pause_for(run, settling); !settled)
    return settled;
  if (auto counted = count_while(run, "at rest", rest); !counted)
    return counted;
  const auto load = [&]() -> std::expected<void, failure> {
    const auto requests = all_take(members, {"load", static_cast<std::uint64_t>(time.count())}, 1);
    if (!requests)
      return std::unexpected{requests.error()};
    run.add({"requests of the services meanwhile", "req/s"}, "under load", *requests / seconds{time}.count());
    return {};
  };
  if (auto counted = count_while(run, "under load", load); !counted)
    return counted;
  if (const auto ready = all_take(members, {"stand-by"}, 0); !ready)
    return std::unexpected{ready.error()};
  if (auto settled = pause_for(run, settling); !settled)
    return settled;
  return count_while(run, "at rest with a singleton, one owner and two that stand by", rest);
}

} // namespace

cluster_question rest_question() {
  return {.name = "rest", .rounds = 1, .is_of_etcd_alone = true, .roles = {{"resting", be_resting}}, .ask = ask_rest};
}

} // namespace bench
