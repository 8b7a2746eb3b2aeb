#include "stalls/subjects.hpp"

#include "harness/statistics.hpp"
#include "peers/caf_ends.hpp"
#include "peers/troupe_process.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

namespace bench {

namespace {

/// Keeps its core busy, as a handler does that computes.
void work_for(std::chrono::microseconds time) {
  for (const auto end = bench_clock::now() + time; bench_clock::now() < end;) {
  }
}

caf::behavior slow(caf::event_based_actor*, std::chrono::microseconds handler, std::uint64_t once_in) {
  return {[=, count = std::uint64_t{0}](const std::string&) mutable {
    if (++count % once_in == 0)
      work_for(handler);
  }};
}

struct near_stalls {
  troupe_process process;
  std::optional<troupe::link> fed;   // Where the slow actor is.
  std::optional<troupe::link> asked; // Where the other one is; the same, unless the subject says otherwise.
  caf::actor slow;
  std::unique_ptr<near_end> asker;
};

/// Feeds an actor for as long as this lives: always as much as its link takes.
class feeding {
public:
  explicit feeding(const caf::actor& whom)
      : thread_([this, whom] {
          const std::string message(4096, 'x');
          while (!is_over_)
            caf::anon_send(whom, message);
        }) {}
  ~feeding() {
    is_over_ = true;
    thread_.join();
  }
  feeding(const feeding&) = delete;
  feeding& operator=(const feeding&) = delete;

private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

std::expected<numbers, std::string> ask_for(near_stalls& near, std::chrono::milliseconds time) {
  std::vector<double> requests;
  std::vector<double> pings;
  for (const auto end = bench_clock::now() + time; bench_clock::now() < end || requests.empty();) {
    std::vector<seconds> took;
    if (auto asked = near.asker->echo(1, 1, &took); !asked)
      return std::unexpected{std::move(asked).error()};
    requests.push_back(took.front().count() * 1e6);
    const auto begin = bench_clock::now();
    if (auto ponged = near.asked->ping(std::chrono::seconds{60}); !ponged)
      return std::unexpected{ponged.error().message()};
    pings.push_back(seconds{bench_clock::now() - begin}.count() * 1e6);
    std::this_thread::sleep_for(std::chrono::milliseconds{1}); // So that the slow one gets ahead again.
  }
  return numbers{percentile(requests, 50), percentile(requests, 99), percentile(pings, 50)};
}

} // namespace

const std::vector<stalls_subject>& stalls_subjects() {
  using std::chrono::microseconds;
  static const std::vector<stalls_subject> all{
      {.name = "alone"},
      {.name = "beside-50us", .handler = microseconds{50}},
      {.name = "beside-150us", .handler = microseconds{150}},
      {.name = "beside-400us", .handler = microseconds{400}},
      {.name = "other-link-150us", .handler = microseconds{150}, .asks_over_another_link = true},
      {.name = "beside-1s-in-100", .handler = std::chrono::seconds{1}, .once_in = 100}};
  return all;
}

const stalls_subject* find_stalls_subject(std::string_view name) {
  const auto found = std::ranges::find(stalls_subjects(), name, &stalls_subject::name);
  return found == stalls_subjects().end() ? nullptr : &*found;
}

std::expected<void, std::string> serve_stalls(const stalls_subject& what,
                                              const std::function<void(const std::string&)>& ready) {
  troupe_process process;
  process.types.add<small_message>("bench.small_message");
  if (auto opened = process.open({unix_address()}); !opened)
    return opened;
  for (const auto& [name, actor] : {std::pair{"slow", process.system.spawn(slow, what.handler, what.once_in)},
                                    std::pair{"echoer", spawn_echoer(process.system)}})
    if (auto published = process.node->publish(name, actor); !published)
      return std::unexpected{published.error().message()};
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0); // The actors need no ending.
}

std::expected<step_taker, std::string> connect_stalls(const stalls_subject& what, const std::string& address) {
  auto near = std::make_shared<near_stalls>();
  near->process.types.add<small_message>("bench.small_message");
  auto link = near->process.connect(address);
  if (!link)
    return std::unexpected{std::move(link).error()};
  near->fed = near->asked = *link;
  if (what.asks_over_another_link) {
    auto other = near->process.dial(address);
    if (!other)
      return std::unexpected{std::move(other).error()};
    near->asked = *other;
  }
  auto slow = near->fed->find("slow");
  auto echoer = near->asked->find("echoer");
  if (!slow || !echoer)
    return std::unexpected{(slow ? echoer : slow).error().message()};
  near->slow = *slow;
  near->asker = make_caf_near_end(near->process.system, {}, *std::move(echoer));
  return step_taker{[near, feeds = what.handler.count() > 0](const step& next) {
    const std::chrono::milliseconds time{next.count};
    if (!feeds)
      return ask_for(*near, time);
    const feeding beside{near->slow};
    return ask_for(*near, time);
  }};
}

} // namespace bench
