// The program that the tests of worker processes start: `framework_worker_peer MODE`. It is a good worker, a bad one,
// or a parent of workers.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <troupe/troupe.hpp>

using namespace std::chrono_literals;

namespace {

[[noreturn]] void sleep_for_ever() {
  for (;;)
    std::this_thread::sleep_for(1h);
}

int inherited_socket() {
  const auto* text = std::getenv("TROUPE_WORKER");
  return text != nullptr ? std::atoi(text) : -1;
}

std::string output_of(const std::string& command) {
  auto* const pipe = ::popen(command.c_str(), "r");
  std::string all;
  for (int one = std::fgetc(pipe); one != EOF; one = std::fgetc(pipe))
    all += static_cast<char>(one);
  ::pclose(pipe);
  return all;
}

std::string cores() {
  cpu_set_t set;
  ::sched_getaffinity(0, sizeof set, &set);
  std::string text;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set))
      text += std::to_string(core) + ' ';
  return text;
}

/// Touches memory until the process is killed.
void eat() {
  constexpr std::size_t piece = 1 << 20;
  for (;;) {
    auto* const taken = new char[piece];
    for (std::size_t at = 0; at < piece; at += 512)
      static_cast<volatile char*>(taken)[at] = 1;
  }
}

/// Squares numbers, answers questions about its process, and obeys orders.
caf::behavior squarer(caf::event_based_actor*) {
  return {[](int value) { return value * value; },
          [](const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); },
          [](const std::string& words) -> std::string {
            if (words == "cores")
              return cores();
            if (words == "niceness")
              return std::to_string(::getpriority(PRIO_PROCESS, 0));
            if (words == "pid")
              return std::to_string(::getpid());
            if (words == "eat")
              eat();
            if (words == "hang")
              sleep_for_ever();
            if (words.starts_with("exit "))
              ::_exit(std::atoi(words.c_str() + 5));
            return output_of(words);
          }};
}

void set_up(troupe::worker_setup& with) {
  with.actor("squarer", squarer);
  with.publish("greeter", [](caf::actor_system& system) { return system.spawn(squarer); });
}

/// Starts workers until somebody kills it. Prints a line for each that has connected.
int start_workers(const std::string& program, const std::string& store, const std::string& mode) {
  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  troupe::node_options options{.name = "parent", .store = std::nullopt};
  if (!store.empty())
    options.store = troupe::store::options{.name = store, .capacity_bytes = 16 << 20};
  auto node = troupe::value_or_throw(troupe::node::open(system, types, families, options));
  std::vector<troupe::worker_process> workers;
  for (;;) {
    workers.push_back(troupe::value_or_throw(troupe::worker_process::start(
        node, {.program = program, .arguments = {mode}, .output = [](std::string_view, bool) {}})));
    std::cout << "connected" << std::endl;
    if (workers.size() > 3)
      workers.erase(workers.begin());
  }
}

int run(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  if (mode == "parent")
    return start_workers(arguments[0], count > 2 ? arguments[2] : "", count > 3 ? arguments[3] : "serve");
  if (mode == "exit") {
    std::cerr << "first\nthe disk is on fire" << std::endl;
    return 3;
  }
  if (mode == "sleep")
    sleep_for_ever();
  if (mode == "babble") {
    const std::string words(4096, 'x');
    static_cast<void>(::write(inherited_socket(), words.data(), words.size()));
    sleep_for_ever();
  }
  if (mode == "close") {
    ::close(inherited_socket());
    sleep_for_ever();
  }
  if (mode == "descriptors") {
    std::cout << "descriptors:";
    for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"})
      if (const auto target = std::filesystem::read_symlink(each).string(); target.find("/fd") == std::string::npos)
        std::cout << ' ' << target.substr(0, target.find(':'));
    std::cout << std::endl;
  }
  if (mode == "flood") {
    for (int line = 0; line < 100'000; ++line)
      std::cout << "line " << line << '\n';
    std::cout << std::string(10'000, 'y') << "\nthe last line" << std::flush;
    std::cerr << "the last error" << std::flush;
    return 4;
  }
  if (mode == "child" || mode == "runaway") {
    int ends[2] = {-1, -1};
    static_cast<void>(::pipe(ends));
    if (::fork() == 0) { // Keeps the output and the socket.
      if (mode == "runaway")
        ::setsid();
      static_cast<void>(::write(ends[1], "", 1));
      sleep_for_ever();
    }
    char ready = 0;
    static_cast<void>(::read(ends[0], &ready, 1));
    std::cout << "forked" << std::endl;
    return 5;
  }
  const auto status = troupe::worker_main(count, arguments, [&](troupe::worker_setup& with) {
    set_up(with);
    if (mode == "throw")
      throw std::runtime_error("no coffee");
    if (mode == "stubborn") // Its link ends, and it lives on.
      with.run = [](caf::actor_system&, troupe::node&, troupe::link& parent) {
        parent.close();
        sleep_for_ever();
        return 0;
      };
    if (mode == "stubborn" || mode == "patient")
      with.end_timeout = 1h;
    if (mode == "negative")
      with.end_timeout = -1ms;
    if (mode == "hanging") {
      with.end_timeout = 300ms;
      with.run = [](caf::actor_system&, troupe::node&, troupe::link&) -> int { sleep_for_ever(); };
    }
    if (mode == "brief")
      with.run = [](caf::actor_system&, troupe::node&, troupe::link&) { return 6; };
  });
  if (mode == "lingering")
    sleep_for_ever();
  return status;
}

} // namespace

int main(int count, char** arguments) try { return run(count, arguments); } catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
