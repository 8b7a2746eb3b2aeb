// The program of supervised processes: supervised_worker [exit STATUS | sleep]
#include <cstdlib>
#include <iostream>
#include <string>

#include <unistd.h>

#include <caf/all.hpp>

#include <troupe/framework/worker_main.hpp>

namespace {

/// Squares numbers, tells its process by a request with a text, and ends normally for "end".
caf::behavior squarer(caf::event_based_actor* self) {
  return {[](int value) { return value * value; },
          [self](const std::string& what) {
            if (what == "end")
              self->quit();
            return static_cast<int>(::getpid());
          }};
}

} // namespace

int main(int argument_count, char** arguments) {
  if (argument_count > 2 && std::string{arguments[1]} == "exit") {
    std::cerr << "a line before the last\nno use to go on" << std::endl;
    return std::atoi(arguments[2]);
  }
  if (argument_count > 1 && std::string{arguments[1]} == "sleep") {
    std::cerr << "waiting for the key" << std::endl;
    for (;;)
      ::pause();
  }
  return troupe::worker_main(argument_count, arguments, [](troupe::worker_setup& worker) {
    worker.actor("squarer", squarer);
    worker.publish("published", [](caf::actor_system& system) { return system.spawn(squarer); });
  });
}
