// What does a service handle cost, compared with a plain handle to the same actor? What does the handle of an entity?
//
// Two processes. One provides an actor that answers each message with itself, and hosts entities that do the same. The
// other one sends requests in turns of 1,000 of each kind: through two plain handles, each over a unix socket link of
// its own, and through service handles and the handle of an entity, which also lead over a unix socket. The second
// plain handle repeats the first one: its ratio shows how far two equal subjects differ. The caller provides an actor
// of the same kind itself, to which `nearest` leads.
#include "cluster/member_node.hpp"
#include "cluster/questions.hpp"
#include "peers/caf_ends.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <caf/all.hpp>

namespace bench {

namespace {

constexpr auto provided_name = "provided";
constexpr auto provided_kind = "provided";
constexpr auto local_name = "local";
constexpr std::uint64_t turn = 1'000;     // Requests of a kind, before the next kind's turn.
constexpr std::uint64_t trips_turn = 100; // The same of requests one by one.

struct asked_kind {
  const char* name;
  bool is_local;
};

constexpr std::array<asked_kind, 7> asked_kinds{{{"plain", false},
                                                 {"plain-again", false},
                                                 {"service-round-robin", false},
                                                 {"service-nearest", false},
                                                 {"entity", false},
                                                 {"plain-local", true},
                                                 {"service-nearest-local", true}}};
constexpr std::size_t local_plain = 5; // Its place in asked_kinds.
// The numbers of each kind: seconds of all pipelined requests, and the median of round trips in microseconds.
constexpr std::size_t numbers_of_kind = 2;

std::expected<step_taker, std::string> be_provider(const cluster_bench_options& told) {
  auto member = std::make_shared<member_node>();
  if (auto joined = member->open_and_join("provider", told.directory, told.lease); !joined)
    return std::unexpected{std::move(joined).error()};
  if (auto published = member->cluster().publish(provided_name, spawn_echoer(member->system())); !published)
    return std::unexpected{published.error().message()};
  const auto hosted = member->cluster().host_entities(
      provided_kind, [](caf::actor_system& system, const troupe::entity_context&) { return spawn_echoer(system); });
  if (!hosted)
    return std::unexpected{hosted.error().message()};
  return step_taker{[member](const step&) { return numbers{}; }};
}

struct caller {
  member_node member;
  std::vector<troupe::link> links;
  std::vector<std::unique_ptr<near_end>> kinds; // In the order of asked_kinds.
};

std::expected<void, std::string> add_plain_handle(caller& in, const std::string& address) {
  auto link = in.member.node().connect(address);
  if (!link)
    return std::unexpected{link.error().message()};
  auto found = link->find(provided_name);
  if (!found)
    return std::unexpected{found.error().message()};
  in.kinds.push_back(make_caf_near_end(in.member.system(), {}, *found));
  in.links.push_back(*std::move(link));
  return {};
}

std::expected<void, std::string> find_all_kinds(caller& in) {
  if (auto both = in.member.wait_for_members(2); !both)
    return both;
  auto& cluster = in.member.cluster();
  auto& system = in.member.system();
  const auto all = cluster.members();
  const auto provider = std::ranges::find(all, "provider", &troupe::cluster_member::name);
  if (provider == all.end())
    return std::unexpected{"the provider is no member"};
  for (auto i = 0; i < 2; ++i)
    if (auto added = add_plain_handle(in, provider->addresses.front()); !added)
      return added;
  for (const auto& pick : {troupe::round_robin, troupe::nearest})
    in.kinds.push_back(make_caf_near_end(system, {}, cluster.service(provided_name, {.pick = pick}).handle()));
  const auto entities = cluster.entities(provided_kind);
  if (!entities)
    return std::unexpected{entities.error().message()};
  in.kinds.push_back(make_caf_near_end(system, {}, entities->of("provided")));
  const auto local = spawn_echoer(system);
  if (auto published = cluster.publish(local_name, local); !published)
    return std::unexpected{published.error().message()};
  in.kinds.push_back(make_caf_near_end(system, {}, local));
  in.kinds.push_back(make_caf_near_end(system, {}, cluster.service(local_name, {.pick = troupe::nearest}).handle()));
  return {};
}

/// Sends `count` requests of each kind in all, `window` at a time.
std::expected<std::vector<seconds>, std::string> take_turns(caller& in, std::uint64_t count, std::uint64_t each_turn,
                                                            std::uint64_t window,
                                                            std::vector<std::vector<seconds>>* round_trips) {
  std::vector<seconds> took(in.kinds.size());
  for (std::uint64_t done = 0, first = 0; done < count; done += each_turn, ++first)
    for (std::size_t i = 0; i < in.kinds.size(); ++i) {
      const auto which = (first + i) % in.kinds.size(); // Each kind comes first in turn.
      std::vector<seconds> trips;
      const auto asked = std::min(each_turn, count - done);
      const auto time = in.kinds[which]->echo(asked, window, round_trips == nullptr ? nullptr : &trips);
      if (!time)
        return std::unexpected{std::string{asked_kinds[which].name} + ": " + time.error()};
      took[which] += *time;
      if (round_trips != nullptr)
        round_trips->at(which).insert(round_trips->at(which).end(), trips.begin(), trips.end());
    }
  return took;
}

std::expected<numbers, std::string> compare_kinds(caller& in, std::uint64_t count) {
  if (const auto warm = take_turns(in, turn, turn, echo_window, nullptr); !warm)
    return std::unexpected{warm.error()};
  const auto took = take_turns(in, count, turn, echo_window, nullptr);
  if (!took)
    return std::unexpected{took.error()};
  std::vector<std::vector<seconds>> trips(in.kinds.size());
  if (const auto asked = take_turns(in, count / 10, trips_turn, 1, &trips); !asked)
    return std::unexpected{asked.error()};
  numbers all;
  for (std::size_t i = 0; i < in.kinds.size(); ++i) {
    std::vector<double> microseconds;
    for (const auto& trip : trips[i])
      microseconds.push_back(1e6 * trip.count());
    all.insert(all.end(), {took->at(i).count(), median(microseconds)});
  }
  return all;
}

std::expected<step_taker, std::string> be_caller(const cluster_bench_options& told) {
  auto made = std::make_shared<caller>();
  if (auto joined = made->member.open_and_join("caller", told.directory, told.lease); !joined)
    return std::unexpected{std::move(joined).error()};
  if (auto found = find_all_kinds(*made); !found)
    return std::unexpected{std::move(found).error()};
  return step_taker{[made](const step& next) { return compare_kinds(*made, next.count); }};
}

std::string within(const std::string& what, const std::string& kind) {
  return what + ", members of " + kind + "://";
}

std::string rate_ratio_name(const std::string& kind) {
  return within("requests a second / those of the plain handle", kind);
}

std::expected<void, failure> ask_service(cluster_run& run) {
  const auto provider = role_process::start(run, "provider");
  if (!provider)
    return std::unexpected{provider.error()};
  auto asking = role_process::start(run, "caller");
  if (!asking)
    return std::unexpected{std::move(asking).error()};
  const auto took = asking->take({"compare", run.told.requests}, numbers_of_kind * asked_kinds.size());
  if (!took)
    return std::unexpected{took.error()};
  const auto count = static_cast<double>(run.told.requests);
  for (std::size_t i = 0; i < asked_kinds.size(); ++i) {
    const auto& [name, is_local] = asked_kinds[i];
    const auto plain = is_local ? local_plain : 0;
    const auto time = took->at(numbers_of_kind * i);
    const auto trip = took->at(numbers_of_kind * i + 1);
    run.add({within("requests a second, 100 in flight", run.kind), "req/s"}, name, count / time);
    run.add({within("round trip of one request, p50", run.kind), "us"}, name, trip);
    if (i == plain)
      continue;
    run.add({rate_ratio_name(run.kind), "ratio"}, name, took->at(numbers_of_kind * plain) / time);
    run.add({within("round trip / that of the plain handle", run.kind), "ratio"}, name,
            trip / took->at(numbers_of_kind * plain + 1));
  }
  return {};
}

} // namespace

cluster_question service_question() {
  // The names must live as long as the limits.
  static const auto host = rate_ratio_name("host");
  static const auto etcd = rate_ratio_name("etcd");
  constexpr double ratio_least = 0.95;
  return {.name = "service",
          .rounds = 15,
          .roles = {{"provider", be_provider}, {"caller", be_caller}},
          .ask = ask_service,
          .limits = {{host.c_str(), "service-round-robin", false, ratio_least},
                     {etcd.c_str(), "service-round-robin", false, ratio_least}}};
}

} // namespace bench
