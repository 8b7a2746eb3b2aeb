// How much time and memory do many entities take, and what does the loss of a member cost that has half of them?
//
// Two members host entities, each member in a process of its own, and a third one sends each entity its first message.
// Then one of the two is killed by SIGKILL, at a moment between two keep-alives that differs from round to round, and
// each of its entities is asked again, from the kill on. The measuring process reads the memory of the members from
// /proc, and with etcd the writes from etcd's metrics.
#include "cluster/process_tellers.hpp"
#include "cluster/questions.hpp"
#include "peers/small_messages.hpp"

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <caf/all.hpp>

#include <troupe/framework/node_error.hpp>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t hosts_count = 2;
constexpr std::size_t asker_threads = 4; // Threads, each with at most `echo_window` requests in flight.
constexpr auto answer_patience = 1min;

// The numbers of a host's account.
enum account : std::uint8_t { of_process, of_entities, of_shards, of_commits, account_size };

std::expected<step_taker, std::string> be_host(const cluster_bench_options& told) {
  auto member = std::make_shared<member_node>();
  if (auto joined = member->open_and_join("host-" + std::to_string(told.number), told.directory, told.lease); !joined)
    return std::unexpected{std::move(joined).error()};
  return step_taker{[member](const step& next) -> std::expected<numbers, std::string> {
    if (next.name == "host") {
      if (auto hosted = host_tellers(*member); !hosted)
        return std::unexpected{std::move(hosted).error()};
      return numbers{};
    }
    const auto stats = member->cluster().stats();
    return numbers{static_cast<double>(::getpid()),
                   static_cast<double>(member->cluster().hosted_entities().front().second),
                   static_cast<double>(stats.shards_owned), static_cast<double>(stats.requests.commit.answered)};
  }};
}

struct entity_client {
  member_node member;
  std::optional<troupe::entities<caf::actor>> all;
  std::vector<int> processes; // In which each entity was last, by its number.
};

using entity_numbers = std::vector<std::uint32_t>;

struct asked_part {
  entity_numbers left; // Not answered yet.
  bench_clock::time_point first_answer = bench_clock::time_point::max();
  std::string last_failure;
};

/// Sends each of these entities a request, again if it fails, until all have answered or the time is over.
void ask_part(entity_client& by, asked_part& part, bench_clock::time_point until) {
  const caf::scoped_actor self{by.member.system()};
  std::vector<std::pair<std::uint32_t, decltype(self->request(caf::actor{}, answer_patience, 0))>> asked;
  while (!part.left.empty() && bench_clock::now() < until) {
    asked.clear();
    for (; asked.size() < echo_window && !part.left.empty(); part.left.pop_back())
      asked.emplace_back(part.left.back(),
                         self->request(by.all->of(fmt::format("entity-{:07}", part.left.back())), answer_patience, 0));
    for (auto& [number, response] : asked)
      std::move(response).receive(
          [&, which = number](int process) {
            by.processes[which] = process;
            part.first_answer = std::min(part.first_answer, bench_clock::now());
          },
          [&, which = number](const caf::error& why) {
            part.left.push_back(which);
            part.last_failure = troupe::text_of(why);
          });
  }
}

/// The numbers: seconds from `began` until the first answer, and until all.
std::expected<numbers, std::string> ask_all(entity_client& by, const entity_numbers& which,
                                            bench_clock::time_point began) {
  std::vector<asked_part> parts(asker_threads);
  for (std::size_t i = 0; i < which.size(); ++i)
    parts[i % asker_threads].left.push_back(which[i]);
  {
    std::vector<std::jthread> asking;
    for (auto& part : parts)
      asking.emplace_back([&] { ask_part(by, part, began + answer_patience); });
  }
  const seconds all = bench_clock::now() - began;
  auto first = bench_clock::time_point::max();
  for (const auto& part : parts) {
    if (!part.left.empty())
      return std::unexpected{
          fmt::format("{} entities have not answered within a minute: {}", part.left.size(), part.last_failure)};
    first = std::min(first, part.first_answer);
  }
  return numbers{seconds{first - began}.count(), all.count()};
}

std::expected<numbers, std::string> make_entities(entity_client& by, std::uint64_t count) {
  by.processes.assign(count, 0);
  entity_numbers all(count);
  for (std::uint32_t i = 0; i < count; ++i)
    all[i] = i;
  return ask_all(by, all, bench_clock::now());
}

/// As ask_all(), for the entities of the process, from its kill on.
std::expected<numbers, std::string> kill_and_ask(entity_client& by, int process) {
  entity_numbers theirs;
  for (std::uint32_t i = 0; i < by.processes.size(); ++i)
    if (by.processes[i] == process)
      theirs.push_back(i);
  if (theirs.empty())
    return std::unexpected{"the member that is to be killed has no entities"};
  const auto killed_at = bench_clock::now();
  ::kill(process, SIGKILL);
  return ask_all(by, theirs, killed_at);
}

std::expected<step_taker, std::string> be_client(const cluster_bench_options& told) {
  auto client = std::make_shared<entity_client>();
  if (auto joined = client->member.open_and_join("client", told.directory, told.lease); !joined)
    return std::unexpected{std::move(joined).error()};
  auto all = client->member.cluster().entities(tellers_kind, asking_any_owner);
  if (!all)
    return std::unexpected{all.error().message()};
  client->all.emplace(*std::move(all));
  return step_taker{[client](const step& next) {
    return next.name == "make" ? make_entities(*client, next.count)
                               : kill_and_ask(*client, static_cast<int>(next.count));
  }};
}

struct host_state {
  numbers account;
  double resident = 0;
};

std::expected<std::vector<host_state>, failure> look_at(std::span<role_process> hosts) {
  std::vector<host_state> states;
  for (auto& host : hosts) {
    auto account = host.take({"account"}, account_size);
    if (!account)
      return std::unexpected{std::move(account).error()};
    const auto resident = resident_bytes_of(std::to_string(static_cast<int>(account->at(of_process))));
    states.push_back({.account = *std::move(account), .resident = resident});
  }
  return states;
}

std::string entities_name(const cluster_bench_options& told) {
  return fmt::format("{} entities on {} members", told.entities, hosts_count);
}

std::string first_answer_name(const cluster_bench_options& told) {
  return fmt::format("kill -9 to the first answer of the member's entities, lease {} s", told.lease.count());
}

std::string transactions_name() {
  return "transactions of the take-over of a killed member's shards";
}

std::string writes_name() {
  return "keys written by the take-over, less one for each transaction / shards of the killed member";
}

/// Begins with the members at work, and kills the first one.
std::expected<void, failure> take_over(cluster_run& run, std::vector<role_process>& hosts, role_process& client) {
  const auto before = look_at(hosts);
  if (!before)
    return std::unexpected{before.error()};
  if (auto waited = pause_between_keep_alives(run); !waited)
    return waited;
  std::expected<etcd_requests, std::string> requests_before;
  std::expected<etcd_writes, std::string> writes_before;
  if (run.kind == "etcd" && (!(requests_before = run.etcd->requests()) || !(writes_before = run.etcd->writes())))
    return failed_step("etcd does not give its metrics");
  const auto& killed = before->front().account;
  const auto took = client.take({"kill", static_cast<std::uint64_t>(killed.at(of_process))}, 2);
  if (!took)
    return std::unexpected{took.error()};
  run.add({first_answer_name(run.told), "ms"}, run.kind, 1e3 * took->at(0));
  run.add({fmt::format("kill -9 to an answer of each of the member's entities, half of {}, lease {} s",
                       run.told.entities, run.told.lease.count()),
           "ms"},
          run.kind, 1e3 * took->at(1));
  const auto after = look_at(std::span{hosts}.subspan(1));
  if (!after)
    return std::unexpected{after.error()};
  auto transactions = after->front().account.at(of_commits) - before->at(1).account.at(of_commits);
  auto written = after->front().account.at(of_shards) - before->at(1).account.at(of_shards);
  if (run.kind == "etcd") {
    const auto requests = run.etcd->requests();
    const auto writes = run.etcd->writes();
    if (!requests || !writes)
      return failed_step("etcd does not give its metrics");
    auto came = *requests - *requests_before;
    transactions = static_cast<double>(came["KV/Txn"]);
    written = static_cast<double>(writes->puts - writes_before->puts) - transactions; // Each marks the kind.
    run.notes["entities, etcd"] = fmt::format("etcd's requests while {} entities in {} shards were taken over, in the "
                                              "last round: {}; keys written, less one for "
                                              "each transaction: {}; keys removed: {}",
                                              killed.at(of_entities), killed.at(of_shards), text_of(came), written,
                                              writes->removals - writes_before->removals);
  }
  run.add({transactions_name(), "requests"}, run.kind, transactions);
  run.add({writes_name(), "ratio"}, run.kind, written / killed.at(of_shards));
  return {};
}

std::expected<void, failure> ask_entities(cluster_run& run) {
  std::vector<role_process> hosts;
  for (std::size_t number = 0; number < hosts_count; ++number) {
    auto host = role_process::start(run, "host", number);
    if (!host)
      return std::unexpected{std::move(host).error()};
    if (const auto owns = host->take({"host"}, 0); !owns)
      return std::unexpected{owns.error()};
    hosts.push_back(*std::move(host));
  }
  auto client = role_process::start(run, "entity-client");
  if (!client)
    return std::unexpected{std::move(client).error()};
  const auto empty = look_at(hosts);
  if (!empty)
    return std::unexpected{empty.error()};
  const auto took = client->take({"make", run.told.entities}, 2);
  if (!took)
    return std::unexpected{took.error()};
  const auto full = look_at(hosts);
  if (!full)
    return std::unexpected{full.error()};
  double entities = 0, more_resident = 0;
  for (std::size_t i = 0; i < hosts_count; ++i) {
    entities += full->at(i).account.at(of_entities);
    more_resident += full->at(i).resident - empty->at(i).resident;
  }
  if (entities != static_cast<double>(run.told.entities))
    return failed_step(fmt::format("{} entities run after messages to {}", entities, run.told.entities));
  run.add({entities_name(run.told) + ", until the first message of each is answered", "s"}, run.kind, took->at(1));
  run.add({entities_name(run.told) + ", resident memory for each", "bytes"}, run.kind, more_resident / entities);
  return take_over(run, hosts, *client);
}

std::vector<bound> entities_bounds(const cluster_bench_options& told) {
  constexpr double transactions_most = 3;
  std::vector<bound> all;
  for (const auto& kind : told.directories) {
    all.push_back({first_answer_name(told), kind, answer_most_ms(told, kind), answer_reason(kind)});
    all.push_back({transactions_name(), kind, transactions_most, "128 shards with each, and one more"});
    all.push_back({writes_name(), kind, 1, "one key for each shard"});
  }
  return all;
}

} // namespace

cluster_question entities_question() {
  return {.name = "entities",
          .rounds = 3,
          .roles = {{"host", be_host}, {"entity-client", be_client}},
          .ask = ask_entities,
          .bounds = entities_bounds};
}

} // namespace bench
