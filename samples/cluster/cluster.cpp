// Three nodes find each other through a directory, and one of them is killed: `cluster [DIRECTORY]`, by default
// host://cluster-sample, which needs no server. The nodes are processes of this program, started as `cluster node NAME
// DIRECTORY`.
#include <chrono>
#include <iostream>
#include <map>
#include <string>
#include <thread>

#include <unistd.h>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/troupe.hpp>

using namespace std::chrono_literals;

/// The cluster has one of these: it counts tickets.
caf::behavior ticket_machine(caf::event_based_actor*, const std::string& node, const troupe::ownership& own) {
  // The fencing number is higher than that of every earlier machine, so no ticket is given twice.
  return {[node, own, next = 0](const std::string&) mutable {
    return "ticket " + std::to_string(own.fence()) + "-" + std::to_string(++next) + " from node " + node;
  }};
}

/// Every node has one.
caf::behavior greeter(caf::event_based_actor*, const std::string& node) {
  return {[node](const std::string& name) { return "hello " + name + ", this is node " + node; }};
}

int run_node(int argument_count, char** arguments) {
  return troupe::worker_main(argument_count, arguments, [](troupe::worker_setup& worker) {
    const auto name = worker.arguments.at(1);
    const auto directory = worker.arguments.at(2);
    worker.node.listen = {"unix://@cluster-sample-" + std::to_string(::getpid())};
    worker.run = [name, directory](caf::actor_system& system, troupe::node& node, troupe::link& link) {
      auto cluster = value_or_throw(
          troupe::cluster::join(node, {.directory = directory, .name = name, .roles = {"shop"}, .lease = 2s}));
      value_or_throw(cluster.publish("greeter", system.spawn(greeter, name)));
      const auto machine =
          value_or_throw(cluster.singleton("tickets", [name](caf::actor_system& here, const troupe::ownership& own) {
            return here.spawn(ticket_machine, name, own);
          }));
      while (link.is_open())
        std::this_thread::sleep_for(20ms);
      return 0;
    };
  });
}

/// Asks until there is an answer.
std::string ask(caf::actor_system& system, const caf::actor& whom) {
  for (;;) {
    caf::scoped_actor self{system};
    std::string answer;
    self->request(whom, 10s, std::string{"Ada"})
        .receive([&](std::string& text) { answer = std::move(text); },
                 [&](const caf::error& why) { std::cerr << troupe::text_of(why) << std::endl; });
    if (!answer.empty())
      return answer;
  }
}

int show(const std::string& directory) {
  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  const auto own = "unix://@cluster-sample-" + std::to_string(::getpid());
  auto node = value_or_throw(troupe::node::open(system, types, families, {.name = "visitor", .listen = {own}}));
  std::map<std::string, troupe::worker_process> nodes;
  for (const std::string name : {"a", "b", "c"})
    nodes.emplace(name, value_or_throw(troupe::worker_process::start(
                            node, {.arguments = {"node", name, directory}, .name = "node " + name})));

  auto cluster = value_or_throw(troupe::cluster::join(node, {.directory = directory, .lease = 2s}));
  while (cluster.names().size() < nodes.size() || cluster.singletons().empty())
    std::this_thread::sleep_for(10ms);
  std::cout << cluster.members().size() << " members" << std::endl;

  const auto greeters = cluster.service("greeter", {.pick = troupe::round_robin, .retry_idempotent = true});
  while (greeters.stats().running < nodes.size())
    std::this_thread::sleep_for(10ms);
  std::map<std::string, int> greeted;
  for (int i = 0; i < 30; ++i)
    ++greeted[ask(system, greeters.handle())];
  for (const auto& [text, count] : greeted)
    std::cout << text << ": " << count << " times" << std::endl;

  const auto tickets = cluster.singleton("tickets");
  std::cout << ask(system, tickets.handle()) << std::endl << ask(system, tickets.handle()) << std::endl;
  const auto owner = cluster.singletons().front().second;
  std::cout << "node " << owner << " is killed" << std::endl;
  const auto killed = std::chrono::steady_clock::now();
  nodes.at(owner).kill();
  [[maybe_unused]] const auto ending = nodes.at(owner).wait(10s);
  std::cout << ask(system, tickets.handle()) << std::endl;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - killed);
  std::cerr << "the next ticket came after " << took.count() << " ms" << std::endl;
  while (cluster.members().size() > nodes.size())
    std::this_thread::sleep_for(10ms);
  std::cout << cluster.members().size() << " members" << std::endl;
  return 0;
}

int main(int argument_count, char** arguments) {
  try {
    if (troupe::is_worker())
      return run_node(argument_count, arguments);
    return show(argument_count > 1 ? arguments[1] : "host://cluster-sample");
  } catch (const std::exception& problem) {
    std::cerr << problem.what() << std::endl;
    return 1;
  }
}
