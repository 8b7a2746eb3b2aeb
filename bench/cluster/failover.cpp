// How soon is a killed member missed, and how soon does what it owned answer again?
//
// Three members: the first one owns, the second one stands by, and the third one asks. In each round the first one is
// killed by SIGKILL, at a moment between two keep-alives that differs from round to round.
#include "cluster/process_tellers.hpp"
#include "cluster/questions.hpp"
#include "peers/small_messages.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <thread>
#include <utility>

#include <caf/all.hpp>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr auto victim_name = "first";
constexpr double etcd_looks_ms = 500; // etcd looks for ended leases so often (lease/lessor.go).

/// Something that one member at a time owns, and another one owns after its death. To measure another kind, add it to
/// owned_kinds().
struct owned_kind {
  std::string name;
  /// Makes this member ready to own it: an actor that tells its process.
  std::function<std::expected<void, std::string>(member_node& in)> offer;
  /// Handles to it, wherever it runs. If there are several of it, the one that is asked is chosen so that the killed
  /// member owns it.
  std::function<std::expected<std::vector<caf::actor>, std::string>(member_node& in)> find;
};

const std::vector<owned_kind>& owned_kinds() {
  constexpr auto entities = 64; // Of which each of two members owns some.
  static const std::vector<owned_kind> all{
      {.name = "singleton",
       .offer = [](member_node& in) -> std::expected<void, std::string> {
         const auto made = in.cluster().singleton("bench", [](caf::actor_system& system, const troupe::ownership&) {
           return system.spawn(telling_its_process);
         });
         if (!made)
           return std::unexpected{made.error().message()};
         return {};
       },
       .find = [](member_node& in) -> std::expected<std::vector<caf::actor>, std::string> {
         return std::vector{in.cluster().singleton("bench", asking_any_owner).handle()};
       }},
      {.name = "entity",
       .offer = host_tellers,
       .find = [](member_node& in) -> std::expected<std::vector<caf::actor>, std::string> {
         const auto kind = in.cluster().entities(tellers_kind, asking_any_owner);
         if (!kind)
           return std::unexpected{kind.error().message()};
         std::vector<caf::actor> handles;
         for (auto i = 0; i < entities; ++i)
           handles.push_back(kind->of("entity-" + std::to_string(i)));
         return handles;
       }}};
  return all;
}

/// Owns, or stands by. Its step `offer` returns once another process can rely on it.
std::expected<step_taker, std::string> be_candidate(const cluster_bench_options& told) {
  auto member = std::make_shared<member_node>();
  const auto name = told.number == 0 ? std::string{victim_name} : "standby-" + std::to_string(told.number);
  if (auto joined = member->open_and_join(name, told.directory, told.lease); !joined)
    return std::unexpected{std::move(joined).error()};
  return step_taker{[member](const step&) -> std::expected<numbers, std::string> {
    for (const auto& kind : owned_kinds()) {
      if (auto offered = kind.offer(*member); !offered)
        return std::unexpected{std::move(offered).error()};
      const auto found = kind.find(*member);
      if (!found)
        return std::unexpected{found.error()};
      if (auto owner = process_of(*member, found->front()); !owner)
        return std::unexpected{std::move(owner).error()};
    }
    return numbers{};
  }};
}

struct failover_observer {
  member_node member;
  std::vector<std::vector<caf::actor>> owned; // In the order of owned_kinds().
  std::atomic<bench_clock::time_point> down;
  caf::actor watcher; // Sets `down`.
};

double milliseconds_since(bench_clock::time_point begin, bench_clock::time_point end) {
  return 1e3 * seconds{end - begin}.count();
}

/// Milliseconds until an answer of another process than the dead one.
std::expected<double, std::string> next_answer(member_node& by, const caf::actor& owned, int dead,
                                               bench_clock::time_point killed_at) {
  std::expected<int, std::string> process;
  while (bench_clock::now() - killed_at < 1min) {
    process = process_of(by, owned);
    if (process && *process != dead)
      return milliseconds_since(killed_at, bench_clock::now());
    if (process)
      return std::unexpected{"a killed process answered"};
  }
  return std::unexpected{process.error()};
}

/// The first handle whose actor runs in that process.
std::expected<caf::actor, std::string> owned_by(member_node& by, const std::vector<caf::actor>& handles, int process) {
  for (const auto& handle : handles) {
    const auto owner = process_of(by, handle);
    if (!owner)
      return std::unexpected{owner.error()};
    if (*owner == process)
      return handle;
  }
  return std::unexpected{"different processes own what is measured"};
}

/// The numbers: milliseconds until member_down, and until the next answer of each kind.
std::expected<numbers, std::string> kill_and_wait(failover_observer& observer) {
  const auto victim = process_of(observer.member, observer.owned.front().front());
  if (!victim)
    return std::unexpected{victim.error()};
  std::vector<caf::actor> asked;
  for (const auto& handles : observer.owned) {
    auto theirs = owned_by(observer.member, handles, *victim);
    if (!theirs)
      return std::unexpected{std::move(theirs).error()};
    asked.push_back(*std::move(theirs));
  }
  observer.down = bench_clock::time_point{};
  const auto killed_at = bench_clock::now();
  ::kill(*victim, SIGKILL);
  std::vector<std::expected<double, std::string>> answers(asked.size());
  {
    std::vector<std::jthread> askers;
    for (std::size_t i = 0; i < asked.size(); ++i)
      askers.emplace_back([&, i] { answers[i] = next_answer(observer.member, asked[i], *victim, killed_at); });
  }
  const auto is_down = [&] { return observer.down.load() != bench_clock::time_point{}; };
  if (auto seen = wait_until(is_down, "member_down"); !seen)
    return std::unexpected{std::move(seen).error()};
  numbers all{milliseconds_since(killed_at, observer.down)};
  for (auto& answer : answers) {
    if (!answer)
      return std::unexpected{std::move(answer).error()};
    all.push_back(*answer);
  }
  return all;
}

std::expected<step_taker, std::string> be_observer(const cluster_bench_options& told) {
  auto observer = std::make_shared<failover_observer>();
  if (auto joined = observer->member.open_and_join("observer", told.directory, told.lease); !joined)
    return std::unexpected{std::move(joined).error()};
  for (const auto& kind : owned_kinds()) {
    auto found = kind.find(observer->member);
    if (!found)
      return std::unexpected{std::move(found).error()};
    observer->owned.push_back(*std::move(found));
  }
  observer->watcher = observer->member.system().spawn([times = observer.get()]() -> caf::behavior {
    return {[times](const troupe::cluster_event& event) {
      if (event.what == troupe::cluster_event::kind::member_down && event.member.name == victim_name)
        times->down = bench_clock::now();
    }};
  });
  observer->member.cluster().watch(observer->watcher);
  return step_taker{[observer](const step&) { return kill_and_wait(*observer); }};
}

std::string down_name(const cluster_bench_options& told) {
  return "kill -9 to member_down, lease " + std::to_string(told.lease.count()) + " s";
}

std::string answer_name(const owned_kind& of, const cluster_bench_options& told) {
  return "kill -9 to the next answer of the " + of.name + ", lease " + std::to_string(told.lease.count()) + " s";
}

std::expected<void, failure> ask_failover(cluster_run& run) {
  std::vector<role_process> candidates;
  for (const auto number : {0U, 1U}) {
    auto candidate = role_process::start(run, "candidate", number);
    if (!candidate)
      return std::unexpected{std::move(candidate).error()};
    if (auto owns = candidate->take({"offer"}, 0); !owns)
      return std::unexpected{std::move(owns).error()};
    candidates.push_back(*std::move(candidate));
  }
  auto observer = role_process::start(run, "observer");
  if (!observer)
    return std::unexpected{std::move(observer).error()};
  if (auto waited = pause_between_keep_alives(run); !waited)
    return waited;
  const auto took = observer->take({"kill"}, 1 + owned_kinds().size());
  if (!took)
    return std::unexpected{took.error()};
  run.add({down_name(run.told), "ms"}, run.kind, took->front());
  for (std::size_t i = 0; i < owned_kinds().size(); ++i)
    run.add({answer_name(owned_kinds()[i], run.told), "ms"}, run.kind, took->at(i + 1));
  return {};
}

std::vector<bound> failover_bounds(const cluster_bench_options& told) {
  const auto lease = static_cast<double>(std::chrono::milliseconds{told.lease}.count());
  constexpr double host_ms = 100;
  std::vector<bound> all{
      {down_name(told), "host", host_ms, "framework/cluster/README.md"},
      {down_name(told), "etcd", lease + etcd_looks_ms, "the lease, and 500 ms between etcd's looks"}};
  for (const auto& kind : owned_kinds())
    for (const std::string directory : {"host", "etcd"})
      all.push_back({answer_name(kind, told), directory, answer_most_ms(told, directory), answer_reason(directory)});
  return all;
}

} // namespace

double answer_most_ms(const cluster_bench_options& told, const std::string& directory) {
  constexpr double handle_ms = 500; // A request that reached a handle just then waits there for so long.
  const auto lease = static_cast<double>(std::chrono::milliseconds{told.lease}.count());
  return directory == "host" ? lease : lease + etcd_looks_ms + handle_ms;
}

std::string answer_reason(const std::string& directory) {
  return directory == "host" ? "the lease"
                             : "the lease, 500 ms between etcd's looks, and 500 ms of patience of a handle";
}

cluster_question failover_question() {
  return {.name = "failover",
          .rounds = 10,
          .roles = {{"candidate", be_candidate}, {"observer", be_observer}},
          .ask = ask_failover,
          .bounds = failover_bounds};
}

} // namespace bench
