// The processes of the tests of healing:
//   healing_peer service ADDRESS STORE FILE   publishes "doubler" at the address and appends the handled numbers to the
//                                             file; prints "ready", and drains at SIGTERM
//   healing_peer parent STORE                 supervises four workers until it is killed; prints "all" once they run
// A worker runs the same program.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <caf/all.hpp>

#include <troupe/base/value_or_throw.hpp>
#include <troupe/framework/drain_on_signal.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/framework/supervise.hpp>
#include <troupe/framework/worker_main.hpp>
#include <troupe/store/options.hpp>

#include "healing.hpp"

using namespace std::chrono_literals;
using namespace troupe::tests;

namespace {

/// Doubles numbers and sums arrays, until it gets an order to end the process, itself or the link.
caf::behavior worker_doubler(caf::event_based_actor* self) {
  return {[](int number) { return 2 * number; },
          [](const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); },
          [self](const std::string& order) {
            if (order == "exit")
              ::_exit(3);
            if (order == "quit")
              self->quit();
            if (order == "fail")
              self->quit(caf::sec::runtime_error);
            if (order == "cut")
              cut_sockets({});
          }};
}

struct held_numbers {
  std::vector<std::pair<caf::response_promise, int>> waiting = {};
};

/// Doubles numbers, of which it answers every fourth later. Appends each number to the file before.
caf::behavior service_doubler(caf::stateful_actor<held_numbers>* self, int file) {
  return {[self, file](int number) -> caf::result<int> {
            const auto line = std::to_string(number) + '\n';
            if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
              std::abort();
            if (number % 4 != 0)
              return 2 * number;
            self->state.waiting.emplace_back(self->make_response_promise(), number);
            self->delayed_send(self, 3ms, caf::atom("later"));
            return self->state.waiting.back().first;
          },
          [self](caf::atom_value) {
            for (auto& [promise, number] : self->state.waiting)
              promise.deliver(2 * number);
            self->state.waiting.clear();
          }};
}

troupe::store::options store_named(const char* name) {
  return {.name = name, .capacity_bytes = 64 << 20};
}

int serve(const char* address, const char* store, const char* file_name) {
  const auto file = ::open(file_name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  auto node = troupe::value_or_throw(
      troupe::node::open(system, types, families, {.name = "service", .store = store_named(store)}));
  troupe::value_or_throw(node.publish("doubler", system.spawn(service_doubler, file)));
  troupe::value_or_throw(node.listen(address));
  std::cout << "ready" << std::endl;
  troupe::value_or_throw(troupe::drain_on_signal(node, 10s));
  return EXIT_SUCCESS;
}

int supervise_workers(const char* store) {
  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  auto node = troupe::value_or_throw(
      troupe::node::open(system, types, families, {.name = "parent", .store = store_named(store)}));
  const caf::scoped_actor self{system};
  const auto team =
      troupe::value_or_throw(troupe::supervise(self, {.most = 10'000, .back_off = 1ms, .longest_back_off = 10ms})
                                 .process(node, {.output = [](auto, bool) {}}, troupe::spawned{"doubler"})
                                 .with({.copies = 4})
                                 .start());
  while (!std::ranges::all_of(team.children(), &troupe::child_status::is_running))
    std::this_thread::sleep_for(1ms);
  std::cout << "all" << std::endl;
  self->receive([](const caf::down_msg&) {});
  return EXIT_FAILURE;
}

int run(int count, char** arguments) {
  if (troupe::is_worker())
    return troupe::worker_main(count, arguments,
                               [](troupe::worker_setup& with) { with.actor("doubler", worker_doubler); });
  const std::string mode = count > 1 ? arguments[1] : "";
  if (mode == "service" && count == 5)
    return serve(arguments[2], arguments[3], arguments[4]);
  if (mode == "parent" && count == 3)
    return supervise_workers(arguments[2]);
  std::cerr << "usage: healing_peer service ADDRESS STORE FILE | healing_peer parent STORE\n";
  return 2;
}

} // namespace

int main(int count, char** arguments) try { return run(count, arguments); } catch (const std::exception& error) {
  std::cerr << "healing_peer: " << error.what() << '\n';
  return EXIT_FAILURE;
}
