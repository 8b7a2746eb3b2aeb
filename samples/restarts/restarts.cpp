// A service is restarted while it is asked without a pause, and no request fails: `restarts [RESTARTS]`. The service
// has two instances, which are processes of this program, started as `restarts serve ADDRESS`.
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <troupe/troupe.hpp>

using namespace std::chrono_literals;

using stop_atom = caf::atom_constant<caf::atom("stop")>;

/// An instance of the service. It runs until it gets SIGTERM, then answers the requests that it has, and ends.
int serve(int argument_count, char** arguments) {
  return troupe::worker_main(argument_count, arguments, [](troupe::worker_setup& worker) {
    worker.node.listen = {worker.arguments.at(1)};
    worker.publish("squarer", [](caf::actor_system& system) {
      return system.spawn([]() -> caf::behavior { return {[](int number) { return number * number; }}; });
    });
    worker.run = [](caf::actor_system&, troupe::node& node, troupe::link&) {
      const auto drained = troupe::drain_on_signal(node, 5s);
      if (!drained)
        std::cerr << drained.error().message() << std::endl;
      return drained ? 0 : 1;
    };
  });
}

struct counts {
  int answered = 0, failed = 0, under_way = 0;
  caf::response_promise stopped;
};

void ask(caf::stateful_actor<counts>* self, const caf::actor& squarer) {
  auto& state = self->state;
  const auto next = [=] {
    --self->state.under_way;
    if (!self->state.stopped.pending())
      ask(self, squarer);
    else if (self->state.under_way == 0) {
      self->state.stopped.deliver(self->state.answered, self->state.failed);
      self->quit();
    }
  };
  ++state.under_way;
  self->request(squarer, 10s, state.answered % 1000)
      .then(
          [=](int) {
            ++self->state.answered;
            next();
          },
          [=](const caf::error& why) {
            ++self->state.failed;
            std::cout << troupe::text_of(why) << std::endl;
            next();
          });
}

/// Has 20 requests under way at any time, until it is told to stop. Then it tells how many were answered, and how many
/// failed.
caf::behavior client(caf::stateful_actor<counts>* self, const caf::actor& squarer) {
  for (int i = 0; i < 20; ++i)
    ask(self, squarer);
  return {[=](stop_atom) {
    self->state.stopped = self->make_response_promise();
    return self->state.stopped;
  }};
}

/// An instance as the client sees it. A program that does not start its services itself needs only their addresses.
class instance {
public:
  instance(troupe::node& node, std::string address) : node_(node), address_(std::move(address)) { start(); }

  [[nodiscard]] const std::string& address() const { return address_; }

  void start() {
    process_.emplace(
        value_or_throw(troupe::worker_process::start(node_, {.arguments = {"serve", address_}, .name = "instance"})));
  }

  void end() {
    ::kill(process_->pid(), SIGTERM);
    const auto ending = process_->wait(10s);
    if (!ending || ending->cause != "exit status 0")
      throw std::runtime_error("the instance ended badly: " + (ending ? ending->cause : "not within 10 s"));
  }

private:
  troupe::node& node_;
  std::string address_;
  std::optional<troupe::worker_process> process_;
};

int restart(int restarts) {
  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  auto node = value_or_throw(troupe::node::open(system, types, families, {.name = "client"}));
  const auto prefix = "unix://@restarts-" + std::to_string(::getpid());
  instance instances[] = {{node, prefix + "-1"}, {node, prefix + "-2"}};

  // One handle for both addresses. Where it leads to is not the client's business.
  auto squarer = value_or_throw(node.lasting({instances[0].address(), instances[1].address()}, "squarer"));
  auto asking = system.spawn(client, squarer);
  for (int i = 0; i < restarts; ++i) {
    auto& next = instances[i % 2];
    next.end();
    next.start();
    std::cout << "instance " << i % 2 + 1 << " was restarted" << std::endl;
  }

  caf::scoped_actor self{system};
  int failures = 1;
  self->request(asking, 30s, stop_atom::value)
      .receive(
          [&](int answered, int failed) {
            std::cout << restarts << " restarts, " << answered << " requests answered, " << failed << " failed\n";
            failures = failed;
          },
          [](const caf::error& why) { throw std::runtime_error(troupe::text_of(why)); });
  for (auto& each : instances)
    each.end();
  return failures == 0 ? 0 : 1;
}

int main(int argument_count, char** arguments) try {
  if (argument_count > 2 && arguments[1] == std::string{"serve"})
    return serve(argument_count, arguments);
  return restart(argument_count > 1 ? std::stoi(arguments[1]) : 6);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
