// A process at the other end of a link, for the system tests: `system_peer ADDRESS STORE FAMILIES IO_THREADS`.
// Prints "ready" once it listens, and ends when its standard input does.
#include <atomic>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include <signal.h>
#include <unistd.h>

#include <caf/all.hpp>

#include "messages.hpp"

using namespace troupe::tests;

namespace {

/// Keeps every reference that it receives.
struct keeper_state {
  std::vector<troupe::object_ref<troupe::array<double>>> kept;
};

troupe::array<double> ones(int count) {
  return troupe::array<double>(std::vector<double>(static_cast<std::size_t>(count), 1.0));
}

caf::behavior keeper(caf::stateful_actor<keeper_state>* self, troupe::node* home) {
  return {
      [](double value) { return value; },
      [](const measurement& what) { return what; },
      [](const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); },
      [self](const troupe::object_ref<troupe::array<double>>& ref) -> caf::result<double> {
        self->state.kept.push_back(ref);
        auto values = ref.get();
        if (!values)
          return troupe::to_caf_error(values.error());
        return std::accumulate(values->begin(), values->end(), 0.0);
      },
      // Writes an array of that many ones and answers with the reference, which it does not keep.
      [home](int count) -> caf::result<troupe::object_ref<troupe::array<double>>> {
        auto made = home->put(troupe::array<double>(std::vector<double>(static_cast<std::size_t>(count), 1.0)));
        if (!made)
          return troupe::to_caf_error(made.error());
        return *std::move(made);
      },
      // Makes a storeroom with one shelf of three boxes, each of that many ones, and answers with the reference only.
      [home](caf::atom_value, int count) -> caf::result<troupe::object_ref<storeroom>> {
        shelf boxes{"left", {}};
        for (int i = 0; i < 3; ++i)
          boxes.boxes.push_back(*home->put(ones(count)));
        auto newest = boxes.boxes.back();
        auto made = home->put(storeroom{{{"left", *home->put(boxes)}}, newest});
        if (!made)
          return troupe::to_caf_error(made.error());
        return *std::move(made);
      },
      // Writes an array of that many ones, and answers with an out-of-band reference, which is not counted.
      [self, home](caf::atom_value, double count) -> caf::result<std::string> {
        auto ref = home->put(ones(static_cast<int>(count)));
        if (!ref)
          return troupe::to_caf_error(ref.error());
        troupe::allow_out_of_band_handles guard{*home};
        std::vector<char> bytes;
        caf::binary_serializer sink{self->system(), bytes};
        if (auto failed = sink(*ref))
          return failed;
        return std::string{bytes.begin(), bytes.end()};
      },
      // Never answered.
      [](const std::string&) { return caf::delegated<int>{}; },
      // Kills the whole process at once, in the middle of a handler.
      [](caf::atom_value) -> int {
        ::kill(::getpid(), SIGKILL);
        ::pause();
        return 0;
      },
  };
}

std::atomic<bool> ending = false;

/// Handles at most a thousand messages a second. Once the process ends it does not sleep, since its exit message comes
/// last in its mailbox.
caf::behavior slow(caf::event_based_actor*) {
  const auto work = [](std::chrono::milliseconds time) {
    if (!ending)
      std::this_thread::sleep_for(time);
  };
  return {[work](const measurement&) { work(std::chrono::milliseconds{1}); },
          [work](const std::vector<double>&) { work(std::chrono::milliseconds{5}); },
          [work](const std::vector<std::string>&) { work(std::chrono::milliseconds{5}); },
          [work](const troupe::object_ref<troupe::array<double>>&) { work(std::chrono::milliseconds{5}); }};
}

} // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 5) {
    std::cerr << "usage: system_peer ADDRESS STORE FAMILIES IO_THREADS\n";
    return 2;
  }
  troupe::type_registry types;
  add_messages(types);
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  troupe::node_options options{.name = "peer", .listen = {arguments[1]}};
  options.store = troupe::store::options{.name = arguments[2], .capacity_bytes = 64 << 20};
  options.accepted_links.serializers = split(arguments[3]);
  options.io_threads = std::stoull(arguments[4]);
  auto home = troupe::node::open(system, types, families, options);
  if (!home) {
    std::cerr << home.error().message() << '\n';
    return 1;
  }
  auto actor = system.spawn(keeper, &*home);
  if (auto published = home->publish("keeper", actor); !published) {
    std::cerr << published.error().message() << '\n';
    return 1;
  }
  auto slow_one = system.spawn(slow);
  if (auto published = home->publish("slow", slow_one); !published) {
    std::cerr << published.error().message() << '\n';
    return 1;
  }
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    ;
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  ending = true;
  caf::anon_send_exit(slow_one, caf::exit_reason::user_shutdown);
}
