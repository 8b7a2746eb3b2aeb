// How long does it take until nodes that join at once all see each other, and which requests does etcd get for it?
//
// The nodes are divided among a few processes, since a hundred processes would mostly measure how fast two cores start
// processes. Each node has an actor system with one scheduler thread, a directory and a lease of its own, as in a
// process of its own. The clock starts when all nodes are open, with the order to join.
#include "cluster/member_node.hpp"
#include "cluster/questions.hpp"
#include "peers/small_messages.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include <caf/all.hpp>

#include <fmt/format.h>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr auto lease_of_joining = 10s; // The default.

struct joining_node {
  joining_node() : member(1) {}

  member_node member;
  caf::actor watcher;
  std::atomic<std::uint64_t> seen{0};
  std::atomic<bench_clock::time_point> saw_all;
  bench_clock::time_point joined;
  std::expected<void, std::string> result;
};

void join_and_count(joining_node& node, const std::string& directory, std::uint64_t all) {
  node.result = node.member.join(directory, lease_of_joining);
  node.joined = bench_clock::now();
  if (!node.result)
    return;
  node.watcher = node.member.system().spawn([&node, all]() -> caf::behavior {
    return {[&node, all](const troupe::cluster_event& event) {
      if (event.what == troupe::cluster_event::kind::member_up && ++node.seen == all)
        node.saw_all = bench_clock::now();
    }};
  });
  node.member.cluster().watch(node.watcher);
  node.result = wait_until([&] { return node.saw_all.load() != bench_clock::time_point{}; },
                           node.member.node().name() + " sees all members");
}

std::expected<step_taker, std::string> be_joiner(const cluster_bench_options& told) {
  const auto nodes = std::make_shared<std::vector<std::unique_ptr<joining_node>>>();
  for (auto i = told.number; i < told.nodes; i += told.processes) {
    nodes->push_back(std::make_unique<joining_node>());
    if (auto opened = nodes->back()->member.open("node-" + std::to_string(i)); !opened)
      return std::unexpected{std::move(opened).error()};
  }
  // The count of the step is when the clock started, since all processes of a host have the same clock.
  return step_taker{[nodes, told](const step& next) -> std::expected<numbers, std::string> {
    {
      std::vector<std::jthread> joining;
      for (const auto& node : *nodes)
        joining.emplace_back([&] { join_and_count(*node, told.directory, told.nodes); });
    }
    const bench_clock::time_point began{std::chrono::nanoseconds{next.count}};
    seconds last_joined{}, last_saw{};
    for (const auto& node : *nodes) {
      if (!node->result)
        return std::unexpected{node->result.error()};
      last_joined = std::max<seconds>(last_joined, node->joined - began);
      last_saw = std::max<seconds>(last_saw, node->saw_all.load() - began);
    }
    return numbers{last_joined.count(), last_saw.count()};
  }};
}

void add_requests_of_joining(cluster_run& run, const etcd_requests& came) {
  const auto nodes = static_cast<double>(run.told.nodes);
  double all = 0;
  for (const auto& [method, count] : came) {
    run.add({fmt::format("etcd requests a node for joining, {} at once", run.told.nodes), "requests"}, method,
            static_cast<double>(count) / nodes);
    all += static_cast<double>(count);
  }
  run.add({fmt::format("etcd requests a node for joining, {} at once", run.told.nodes), "requests"}, "all methods",
          all / nodes);
  run.notes["joining"] =
      fmt::format("etcd's requests for {} nodes that join, in the last round: {}", run.told.nodes, text_of(came));
}

std::expected<void, failure> ask_join(cluster_run& run) {
  std::vector<role_process> joiners;
  for (std::size_t number = 0; number < run.told.processes; ++number) {
    auto joiner = role_process::start(run, "joiner", number);
    if (!joiner)
      return std::unexpected{std::move(joiner).error()};
    joiners.push_back(*std::move(joiner));
  }
  std::expected<etcd_requests, std::string> before;
  if (run.kind == "etcd" && !(before = run.etcd->requests()))
    return failed_step(before.error());
  const std::chrono::nanoseconds began = bench_clock::now().time_since_epoch();
  for (auto& joiner : joiners)
    joiner.begin({"join", static_cast<std::uint64_t>(began.count())});
  double last_joined = 0, last_saw = 0;
  for (auto& joiner : joiners) {
    const auto took = joiner.finish(2);
    if (!took)
      return std::unexpected{took.error()};
    last_joined = std::max(last_joined, took->at(0));
    last_saw = std::max(last_saw, took->at(1));
  }
  if (run.kind == "etcd") {
    const auto after = run.etcd->requests();
    if (!after)
      return failed_step(after.error());
    add_requests_of_joining(run, *after - *before);
  }
  const auto shape = fmt::format("{} nodes in {} processes", run.told.nodes, run.told.processes);
  run.add({shape + ", until the last join() has returned", "s"}, run.kind, last_joined);
  run.add({shape + ", until every node sees all", "s"}, run.kind, last_saw);
  return {};
}

} // namespace

cluster_question join_question() {
  return {.name = "join", .rounds = 3, .roles = {{"joiner", be_joiner}}, .ask = ask_join};
}

} // namespace bench
