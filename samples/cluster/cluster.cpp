// Three nodes find each other through a directory, and one of them is killed: `cluster [DIRECTORY]`, by default
// host://cluster-sample, which needs no server. The nodes are processes of this program, started as `cluster node NAME
// DIRECTORY`. The states of the accounts are kept in the directory DIRECTORY-states.
#include <algorithm>
#include <chrono>
#include <expected>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/troupe.hpp>

using namespace std::chrono_literals;
using namespace std::string_literals;

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

/// Keeps the states of accounts, each with the fencing number of the shard whose owner has written it.
class state_keeper {
public:
  explicit state_keeper(const std::string& directory)
      : where_(value_or_throw(troupe::open_directory(directory + "-states"))) {}

  std::expected<std::string, std::string> read(const std::string& key) {
    auto found = entry(key);
    if (!found)
      return std::unexpected{std::move(found).error()};
    return found->value.substr(std::min(found->value.size(), found->value.find(' ') + 1));
  }

  /// From now on the states of earlier owners are refused.
  std::expected<std::string, std::string> load(const std::string& key, std::uint64_t fence) {
    auto state = read(key);
    if (!state)
      return state;
    if (auto claimed = save(key, fence, *state); !claimed)
      return std::unexpected{std::move(claimed).error()};
    return state;
  }

  /// Refuses the state of an earlier owner, and reads and writes in one step.
  std::expected<void, std::string> save(const std::string& key, std::uint64_t fence, const std::string& state) {
    const auto read = entry(key);
    if (!read)
      return std::unexpected{read.error()};
    troupe::directory_condition unchanged{.key = key};
    if (read->changed_revision != 0) {
      if (std::stoull(read->value) > fence)
        return std::unexpected{"a later owner has written " + read->value};
      unchanged.what = troupe::directory_condition::kind::changed_at;
      unchanged.revision = read->changed_revision;
    }
    const troupe::directory_write write{.key = key, .value = std::to_string(fence) + ' ' + state};
    const auto written = where_->commit({&unchanged, 1}, {&write, 1});
    if (!written)
      return std::unexpected{written.error().message()};
    if (!written->is_applied)
      return std::unexpected{std::string{"somebody else has written it just now"}}; // save is called again.
    return {};
  }

  /// Requires: nobody owns the key.
  void forget(const std::string& key) {
    const troupe::directory_write removal{.key = key, .what = troupe::directory_write::kind::remove};
    value_or_throw(where_->commit({}, {&removal, 1}));
  }

private:
  std::expected<troupe::directory_entry, std::string> entry(const std::string& key) {
    auto read = where_->list(key);
    if (!read)
      return std::unexpected{read.error().message()};
    for (auto& one : read->entries)
      if (one.key == key)
        return std::move(one);
    return troupe::directory_entry{};
  }

  std::shared_ptr<troupe::directory> where_;
};

/// The cluster has one for each customer.
caf::behavior account(caf::event_based_actor*, const std::string& node, const troupe::entity_context& entity) {
  auto euros = std::make_shared<int>(entity.state().empty() ? 0 : std::stoi(entity.state()));
  const auto balance = [=] {
    return "account " + entity.key() + " at node " + node + ": " + std::to_string(*euros) + " euros";
  };
  return {[=](int deposit) {
            entity.save(std::to_string(*euros += deposit));
            return balance();
          },
          [=](const std::string&) { return balance(); }};
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
      state_keeper states{directory};
      const auto accounts = value_or_throw(cluster.host_entities(
          "account",
          [name](caf::actor_system& here, const troupe::entity_context& entity) {
            return here.spawn(account, name, entity);
          },
          {.load = [&](const std::string& key, std::uint64_t fence) { return states.load(key, fence); },
           .save = [&](const std::string& key, std::uint64_t fence,
                       const std::string& state) { return states.save(key, fence, state); }}));
      while (link.is_open())
        std::this_thread::sleep_for(20ms);
      return 0;
    };
  });
}

/// Asks until there is an answer.
template <class Question>
std::string ask(caf::actor_system& system, const caf::actor& whom, Question question) {
  for (;;) {
    caf::scoped_actor self{system};
    std::string answer;
    self->request(whom, 10s, question)
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
  const std::vector<std::string> customers{"Ada", "Grace", "Barbara"};
  state_keeper states{directory};
  for (const auto& customer : customers)
    states.forget(customer); // Of an earlier run.
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
    ++greeted[ask(system, greeters.handle(), "Ada"s)];
  for (const auto& [text, count] : greeted)
    std::cout << text << ": " << count << " times" << std::endl;

  const auto tickets = cluster.singleton("tickets");
  std::cout << ask(system, tickets.handle(), "Ada"s) << std::endl << ask(system, tickets.handle(), "Ada"s) << std::endl;
  const auto accounts = value_or_throw(cluster.entities("account"));
  for (const auto& customer : customers)
    std::cout << ask(system, accounts.of(customer), 10) << std::endl;
  for (const auto& customer : customers)
    while (states.read(customer).value_or("") != "10") // The states are saved soon after the answers.
      std::this_thread::sleep_for(1ms);
  const auto owner = cluster.singletons().front().second;
  std::cout << "node " << owner << " is killed" << std::endl;
  const auto killed = std::chrono::steady_clock::now();
  nodes.at(owner).kill();
  [[maybe_unused]] const auto ending = nodes.at(owner).wait(10s);
  std::cout << ask(system, tickets.handle(), "Ada"s) << std::endl;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - killed);
  for (const auto& customer : customers)
    std::cout << ask(system, accounts.of(customer), "balance"s) << std::endl;
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
