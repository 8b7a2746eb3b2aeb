// A supervised worker process that is killed again and again.
#include "healing/subjects.hpp"

#include "harness/statistics.hpp"
#include "peers/small_messages.hpp"
#include "peers/troupe_process.hpp"

#include <atomic>
#include <csignal>
#include <memory>
#include <utility>

#include <unistd.h>

#include <caf/all.hpp>

#include <troupe/framework/node_error.hpp>
#include <troupe/framework/supervise.hpp>
#include <troupe/framework/worker_main.hpp>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr auto mortal_name = "mortal";

/// The times that the supervisor's events tell. Written by the supervisor's thread.
struct event_times {
  std::atomic<bench_clock::time_point> noticed;
  std::atomic<bench_clock::time_point> started;
};

troupe::supervisor_options options_with(std::chrono::milliseconds back_off, std::uint64_t deaths, event_times& times) {
  return {.most = deaths + 1,
          .within = 1h,
          .back_off = back_off,
          .longest_back_off = back_off, // So that all pauses are the same.
          .events = {.callback = [&times](const troupe::supervisor_event& event) {
            using kind = troupe::supervisor_event::kind;
            if (event.what == kind::child_ended)
              times.noticed = bench_clock::now();
            else if (event.what == kind::child_started)
              times.started = bench_clock::now();
          }}};
}

/// The process that answers a request of the pool.
std::expected<int, std::string> ask_pool(const caf::scoped_actor& self, const troupe::pool& pool) {
  std::expected<int, std::string> process;
  self->request(pool.handle(), 30s, 0)
      .receive([&](int number) { process = number; },
               [&](const caf::error& why) { process = std::unexpected{troupe::text_of(why)}; });
  return process;
}

std::expected<numbers, std::string> kill_again_and_again(const caf::scoped_actor& self, const troupe::pool& pool,
                                                         std::uint64_t deaths, const event_times& times) {
  const auto milliseconds = [](bench_clock::duration time) { return 1e3 * seconds{time}.count(); };
  numbers noticed, started, served;
  auto process = ask_pool(self, pool);
  for (std::uint64_t i = 0; process && i < deaths; ++i) {
    const auto killed_at = bench_clock::now();
    ::kill(*process, SIGKILL);
    const auto successor = ask_pool(self, pool);
    const auto served_at = bench_clock::now();
    if (successor && *successor == *process)
      return std::unexpected{"a killed process answered"};
    served.push_back(milliseconds(served_at - killed_at));
    noticed.push_back(milliseconds(times.noticed.load() - killed_at));
    started.push_back(milliseconds(times.started.load() - killed_at));
    process = successor;
  }
  if (!process)
    return std::unexpected{process.error()};
  return numbers{median(noticed), median(started), median(served), percentile(served, 95)};
}

/// Requires: the node is open.
std::expected<numbers, std::string> supervise_and_kill(troupe_process& near, std::chrono::milliseconds back_off,
                                                       std::uint64_t deaths) {
  event_times times; // Lives longer than the supervisor, which is waited for.
  caf::scoped_actor self{near.system};
  auto team = troupe::supervise(self, options_with(back_off, deaths, times))
                  .process(*near.node, {.name = mortal_name}, troupe::published{mortal_name})
                  .start();
  if (!team)
    return std::unexpected{team.error().message()};
  // A request that the killed process had goes to its successor.
  auto pool = team->pool({.retry_idempotent = true});
  auto measured = pool ? kill_again_and_again(self, *pool, deaths, times)
                       : std::expected<numbers, std::string>{std::unexpected{pool.error().message()}};
  team->stop();
  self->wait_for(team->handle());
  return measured;
}

} // namespace

const std::vector<quantity>& death_quantities() {
  static const std::vector<quantity> all{{"death noticed p50", "ms"},
                                         {"successor started p50", "ms"},
                                         {served_again_p50_name, "ms"},
                                         {served_again_p95_name, "ms"}};
  return all;
}

std::expected<step_taker, std::string> connect_deaths(std::chrono::milliseconds back_off) {
  auto near = std::make_shared<troupe_process>();
  if (auto opened = near->open({}); !opened)
    return std::unexpected{std::move(opened).error()};
  return step_taker{[near, back_off](const step& next) { return supervise_and_kill(*near, back_off, next.count); }};
}

int mortal_worker_main(int argument_count, char** arguments) {
  return troupe::worker_main(argument_count, arguments, [](troupe::worker_setup& worker) {
    worker.publish(mortal_name, [](caf::actor_system& system) {
      return system.spawn([]() -> caf::behavior { return {[](int) { return static_cast<int>(::getpid()); }}; });
    });
  });
}

} // namespace bench
