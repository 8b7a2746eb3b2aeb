#include "healing/subjects.hpp"

#include "healing/handle_kinds.hpp"
#include "peers/small_messages.hpp"
#include "peers/troupe_process.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <utility>

#include <troupe/framework/supervisor_options.hpp>

#include <sys/resource.h>
#include <unistd.h>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr auto one_way = "one-way";
constexpr auto requests = "requests";
constexpr auto memory = "memory";

std::expected<void, std::string> serve_receiver(const ready_report& ready) {
  troupe_process process;
  process.types.add<small_message>("small");
  if (auto opened = process.open({unix_address()}); !opened)
    return opened;
  if (auto published = process.node->publish(receiver_name, process.system.spawn(receiving)); !published)
    return std::unexpected{published.error().message()};
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actors.
}

/// The processor time of this process so far.
seconds processor_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto in_seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds{in_seconds(used.ru_utime) + in_seconds(used.ru_stime)};
}

/// Resident memory that is not shared.
double own_memory_bytes() {
  std::ifstream pages{"/proc/self/statm"};
  std::uint64_t all = 0, resident = 0, shared = 0;
  pages >> all >> resident >> shared;
  return static_cast<double>(resident - shared) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

struct near_handles {
  troupe_process process;
  std::string address;
  caf::actor receiver;
};

numbers stream(near_handles& near, std::uint64_t count) {
  caf::scoped_actor self{near.process.system};
  const auto begin = bench_clock::now();
  const auto used = processor_time();
  send_messages(self, near.receiver, count, acknowledged_every);
  const auto each = 1e9 / static_cast<double>(count); // ns.
  return {seconds{bench_clock::now() - begin}.count() * each, (processor_time() - used).count() * each};
}

numbers ask_one_by_one(near_handles& near, std::uint64_t count) {
  caf::scoped_actor self{near.process.system};
  const auto begin = bench_clock::now();
  send_requests(self, near.receiver, count, 1);
  return {seconds{bench_clock::now() - begin}.count() * 1e6 / static_cast<double>(count)};
}

/// Each handle has found its actor when the memory is measured.
std::expected<numbers, std::string> weigh(near_handles& near, std::uint64_t count) {
  std::vector<caf::actor> handles;
  handles.reserve(count);
  const auto before = own_memory_bytes();
  for (std::uint64_t i = 0; i < count; ++i) {
    auto made = get_handle(near.process, handle_kind::lasting, near.address);
    if (!made)
      return std::unexpected{std::move(made).error()};
    handles.push_back(*std::move(made));
  }
  return numbers{(own_memory_bytes() - before) / static_cast<double>(count)};
}

std::expected<step_taker, std::string> connect_handle(handle_kind kind, const std::string& address) {
  auto near = std::make_shared<near_handles>();
  near->address = address;
  near->process.types.add<small_message>("small");
  if (auto opened = near->process.open({}); !opened)
    return std::unexpected{std::move(opened).error()};
  auto receiver = get_handle(near->process, kind, address);
  if (!receiver)
    return std::unexpected{std::move(receiver).error()};
  near->receiver = *std::move(receiver);
  return step_taker{[near](const step& next) -> std::expected<numbers, std::string> {
    if (next.name == one_way)
      return stream(*near, next.count);
    if (next.name == requests)
      return ask_one_by_one(*near, next.count);
    return weigh(*near, next.count);
  }};
}

healing_subject with_messages(std::string name, handle_kind kind) {
  return {.name = std::move(name),
          .steps = {{one_way, &healing_options::messages, {{"one way", "ns"}, {one_way_time_name, "ns"}}},
                    {requests, &healing_options::requests, {{"request and answer", "us"}}}},
          .serve = serve_receiver,
          .connect = [kind](const std::string& address) { return connect_handle(kind, address); }};
}

healing_subject with_deaths(std::string name, std::chrono::milliseconds back_off) {
  return {.name = std::move(name),
          .shape = {.far_ends = 0},
          .steps = {{"deaths", &healing_options::deaths, death_quantities()}},
          .serve = {},
          .connect = [back_off](const std::string&) { return connect_deaths(back_off); }};
}

} // namespace

const std::vector<healing_subject>& healing_subjects() {
  static const std::vector<healing_subject> all{
      with_messages("plain", handle_kind::plain),
      with_messages("plain-again", handle_kind::plain),
      with_messages("lasting", handle_kind::lasting),
      with_messages("lasting-repeating", handle_kind::lasting_repeating),
      {.name = "handles",
       .steps = {{memory, &healing_options::handles, {{"memory of a lasting handle", "bytes"}}}},
       .serve = serve_receiver,
       .connect = [](const std::string& address) { return connect_handle(handle_kind::lasting, address); }},
      with_deaths("death-back-off-1ms", 1ms),
      with_deaths("death-back-off-default", troupe::supervisor_options{}.back_off)};
  return all;
}

const healing_subject* find_healing_subject(std::string_view name) {
  const auto found = std::ranges::find(healing_subjects(), name, &healing_subject::name);
  return found == healing_subjects().end() ? nullptr : &*found;
}

} // namespace bench
