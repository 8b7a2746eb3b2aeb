// Counts primes in worker processes that are killed at random while they count. A supervisor starts them again, and a
// pool repeats what they had under way, so the result is the same as without the kills: `workers [KILLS]`.
#include <atomic>
#include <csignal>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <troupe/troupe.hpp>

using namespace std::chrono_literals;

bool is_prime(int number) {
  for (int divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0)
      return false;
  return number > 1;
}

/// Counts the primes from the first number up to the second one, without it. Any text kills its process.
caf::behavior counter() {
  return {[](int from, int to) {
            int count = 0;
            for (int number = from; number < to; ++number)
              count += is_prime(number) ? 1 : 0;
            return count;
          },
          [](const std::string&) { std::raise(SIGKILL); }};
}

std::atomic<int> deaths{0};

void print(const troupe::supervisor_event& event) {
  if (event.what == troupe::supervisor_event::kind::child_ended && !event.was_stopped) {
    std::cout << event.name << " ended: " << event.cause << std::endl;
    ++deaths;
  } else if (event.what == troupe::supervisor_event::kind::child_started && event.starts > 1)
    std::cout << event.name << " runs again" << std::endl;
}

int count_primes(int kills) {
  constexpr int pieces = 500;
  constexpr int piece = 10'000;
  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  auto node = value_or_throw(troupe::node::open(system, types, families, {.name = "home"}));
  caf::scoped_actor self{system};

  // Four processes of this program, each with an actor that counts. At most 100 restarts per minute are acceptable.
  auto team = value_or_throw(troupe::supervise(self, {.most = 100, .within = 1min, .back_off = 10ms, .events = {print}})
                                 .process(node, {.name = "worker"}, troupe::spawned{"counter"})
                                 .with({.copies = 4})
                                 .start());
  // Counting a piece twice does no harm, so the pool may repeat a request whose process was killed.
  auto pool = value_or_throw(team.pool({.placement = troupe::spread::least_loaded,
                                        .requests_per_child = 4,
                                        .retry_idempotent = true,
                                        .repeats_most = 50}));

  std::cout << "4 processes count the primes below " << pieces * piece << std::endl;
  std::vector<decltype(self->request(pool.handle(), 1min, 0, 0))> asked;
  for (int i = 0; i < pieces; ++i)
    asked.push_back(self->request(pool.handle(), 1min, i * piece, (i + 1) * piece));
  std::mt19937 random{std::random_device{}()};
  int primes = 0, failures = 0, killed = 0;
  for (int i = 0; i < pieces; ++i) {
    std::move(asked[static_cast<std::size_t>(i)])
        .receive([&](int count) { primes += count; },
                 [&](const caf::error& error) {
                   ++failures;
                   std::cout << "piece " << i << " failed: " << troupe::text_of(error) << std::endl;
                 });
    if (killed < kills && (i + 1) * (kills + 1) >= (killed + 1) * pieces)
      if (const auto victim = team.children()[random() % 4].handle) {
        self->send<caf::message_priority::high>(victim, std::string{"die"}); // Ahead of the pieces that wait there.
        ++killed;
      }
  }
  std::cout << primes << " primes, " << deaths << " processes killed, " << pool.stats().repeated << " requests repeated"
            << std::endl;
  team.stop();
  self->wait_for(team.handle()); // Until all processes have ended.
  return failures == 0 ? 0 : 1;
}

int main(int argument_count, char** arguments) try {
  if (troupe::is_worker())
    return troupe::worker_main(argument_count, arguments,
                               [](troupe::worker_setup& worker) { worker.actor("counter", counter); });
  return count_primes(argument_count > 1 ? std::stoi(arguments[1]) : 5);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
