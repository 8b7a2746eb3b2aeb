#include "handles/subjects.hpp"

#include "handles/getting.hpp"
#include "handles/hosts.hpp"
#include "handles/limits.hpp"
#include "handles/pulling.hpp"
#include "handles/ring.hpp"
#include "handles/sending.hpp"
#include "peers/raw_socket.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace bench {

namespace {

using measured = std::expected<numbers, std::string>;
using answered = std::expected<numbers, failure>;

/// Wraps a connected near end as a step_taker.
template <class Near>
std::expected<step_taker, std::string> steps_of(std::expected<std::unique_ptr<Near>, std::string> connected,
                                                measured (*take)(Near& near, const step& next)) {
  if (!connected)
    return std::unexpected{std::move(connected).error()};
  return step_taker{
      [near = std::shared_ptr<Near>{*std::move(connected)}, take](const step& next) { return take(*near, next); }};
}

/// The hosts and the processes of a round. The hosts outlive the processes.
struct scene {
  std::vector<troupe::store::object_store> hosts;
  std::optional<process_group> group;

  static std::expected<scene, failure> open(const std::string& subject, stop_signals& signals, std::size_t hosts,
                                            std::size_t host_bytes, const group_shape& shape = {}) {
    scene made;
    auto stores = make_hosts_of_this_run(hosts, host_bytes);
    if (!stores)
      return std::unexpected{failure{.reason = std::move(stores).error()}};
    made.hosts = *std::move(stores);
    auto group = process_group::start(subject, signals, shape);
    if (!group)
      return std::unexpected{std::move(group).error()};
    group->place(placement::a_core_each);
    made.group.emplace(*std::move(group));
    return made;
  }
};

/// Capacity of a store for values of up to `largest_bytes`.
std::size_t host_bytes_for(std::size_t largest_bytes) {
  return 5 * largest_bytes / 2 + (16 << 20);
}

std::string size_text(std::size_t size_bytes) {
  return size_bytes >= 1 << 20 ? fmt::format("{} MiB", size_bytes >> 20) : fmt::format("{} KiB", size_bytes >> 10);
}

// -- a request with a reference, beside one with a small message

measured take_sending_step(sending_near_end& near, const step& next) {
  const auto took = near.measure(next.count, next.size_bytes);
  if (!took)
    return std::unexpected{took.error()};
  return numbers{took->small.count(), took->reference.count()};
}

std::expected<observations, failure> run_sending_round(const handles_options& told, stop_signals& signals) {
  auto scene = scene::open("send", signals, 1, host_bytes_for(told.large_bytes));
  if (!scene)
    return std::unexpected{std::move(scene).error()};
  answered took;
  for (const auto count : {told.requests / 10 + 1, told.requests}) // The first run warms up.
    if (took = ask(*scene->group, {"send", count, told.large_bytes}, 2, told.deadline); !took)
      return std::unexpected{took.error()};
  return observations{{{"request with a small message p50", "us"}, took->at(0) * 1e6},
                      {{"request with a reference p50", "us"}, took->at(1) * 1e6},
                      {{reference_name, "times"}, took->at(1) / took->at(0)}};
}

handles_subject sending() {
  return {"send", [](std::size_t, const ready_report& ready) { return serve_sending(ready); },
          [](const std::string& at) { return steps_of(sending_near_end::connect(at), take_sending_step); },
          run_sending_round};
}

// -- reading values on this host

measured take_getting_step(getting_near_end& near, const step& next) {
  const auto took = near.measure(next.count, next.size_bytes);
  if (!took)
    return std::unexpected{took.error()};
  numbers values;
  for (const auto& each : *took)
    values.insert(values.end(), {each.get.count(), each.find_and_pin.count()});
  return values;
}

std::expected<observations, failure> run_getting_round(const std::string& subject, const handles_options& told,
                                                       stop_signals& signals) {
  auto scene = scene::open(subject, signals, 2, host_bytes_for(told.large_bytes));
  if (!scene)
    return std::unexpected{std::move(scene).error()};
  const auto sizes = got_sizes(told.large_bytes);
  const auto took = ask(*scene->group, {"get", told.gets, told.large_bytes}, 2 * sizes.size(), told.deadline);
  if (!took)
    return std::unexpected{took.error()};
  observations made;
  numbers gets;
  numbers to_store;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto get = took->at(2 * i);
    const auto find_and_pin = took->at(2 * i + 1);
    gets.push_back(get);
    to_store.push_back(get / find_and_pin);
    made.emplace_back(quantity{"get() of " + size_text(sizes[i]), "ns"}, get * 1e9);
    made.emplace_back(quantity{"find and pin of " + size_text(sizes[i]), "ns"}, find_and_pin * 1e9);
  }
  made.emplace_back(quantity{get_spread_name, "times"}, std::ranges::max(gets) / std::ranges::min(gets));
  made.emplace_back(quantity{get_to_store_name, "times"}, std::ranges::max(to_store));
  return made;
}

handles_subject getting(const std::string& name, origin from) {
  return {
      name, [from](std::size_t, const ready_report& ready) { return serve_getting(from, ready); },
      [from](const std::string& at) { return steps_of(getting_near_end::connect(from, at), take_getting_step); },
      [name](const handles_options& told, stop_signals& signals) { return run_getting_round(name, told, signals); }};
}

// -- fetching from another host, beside a plain writer and reader

measured take_pulling_step(pulling_near_end& near, const step& next) {
  if (next.name == "warm") {
    if (auto warm = near.warm_up(); !warm)
      return std::unexpected{std::move(warm).error()};
    return numbers{};
  }
  const auto took = near.pull(next.count, next.size_bytes);
  if (!took)
    return std::unexpected{took.error()};
  return numbers{took->count()};
}

measured take_raw_step(raw_near_end& near, const step& next) {
  numbers took;
  for (std::uint64_t i = 0; i < next.count; ++i) {
    const auto one = near.send_bulk(1, next.size_bytes);
    if (!one)
      return std::unexpected{one.error()};
    took.push_back(one->count());
  }
  return numbers{median(took)};
}

/// For both sizes: one transfer to warm up, and then the measured ones.
std::expected<observations, failure> move_values(process_group& group, const handles_options& told) {
  observations made;
  for (const auto& [name, size_bytes] :
       {std::pair{pull_large_name, told.large_bytes}, std::pair{pull_quarter_name, told.large_bytes / 4}}) {
    answered took;
    for (const auto count : {std::uint64_t{1}, told.pulls})
      if (took = ask(group, {"move", count, size_bytes}, 1, told.deadline); !took)
        return std::unexpected{took.error()};
    made.emplace_back(quantity{name, "MB/s"}, static_cast<double>(size_bytes) / 1e6 / took->at(0));
  }
  return made;
}

handles_subject pulling() {
  return {"pull", [](std::size_t, const ready_report& ready) { return serve_pulling(ready); },
          [](const std::string& at) { return steps_of(pulling_near_end::connect(at), take_pulling_step); },
          [](const handles_options& told, stop_signals& signals) -> std::expected<observations, failure> {
            auto scene = scene::open("pull", signals, 2, host_bytes_for(told.large_bytes));
            if (!scene)
              return std::unexpected{std::move(scene).error()};
            if (const auto warm = ask(*scene->group, {"warm"}, 0, told.deadline); !warm)
              return std::unexpected{warm.error()};
            return move_values(*scene->group, told);
          }};
}

handles_subject raw() {
  return {"raw-tcp", [](std::size_t, const ready_report& ready) { return serve_raw(socket_kind::tcp, ready); },
          [](const std::string& at) { return steps_of(raw_near_end::connect(socket_kind::tcp, at), take_raw_step); },
          [](const handles_options& told, stop_signals& signals) -> std::expected<observations, failure> {
            auto group = process_group::start("raw-tcp", signals);
            if (!group)
              return std::unexpected{std::move(group).error()};
            group->place(placement::a_core_each);
            return move_values(*group, told);
          }};
}

// -- around a ring

double median_microseconds(const std::vector<seconds>& of_hops) {
  numbers values;
  for (const auto each : of_hops)
    values.push_back(each.count() * 1e6);
  return median(values);
}

measured take_ring_step(ring_near_end& near, const step& next) {
  const auto went = near.go_round(next.count);
  if (!went)
    return std::unexpected{went.error()};
  return numbers{median_microseconds(went->early),
                 median_microseconds(went->late),
                 static_cast<double>(went->after_a_tenth.rows),
                 static_cast<double>(went->at_the_end.rows),
                 static_cast<double>(went->after_a_tenth.memory_bytes) / 1024,
                 static_cast<double>(went->at_the_end.memory_bytes) / 1024};
}

std::expected<observations, failure> run_ring_round(const std::string& subject, ring_hosts hosts,
                                                    const handles_options& told, stop_signals& signals) {
  constexpr std::size_t host_bytes = 64 << 20;
  auto scene = scene::open(subject, signals, static_cast<std::size_t>(hosts), host_bytes,
                           {.far_ends = ring_size, .near_ends = 1, .numbers_far_ends = true});
  if (!scene)
    return std::unexpected{std::move(scene).error()};
  constexpr std::uint64_t hops_to_warm_up = 2'000;
  answered went;
  for (const auto hops : {std::min(told.hops, hops_to_warm_up), told.hops})
    if (went = ask(*scene->group, {"ring", hops}, 6, told.deadline); !went)
      return std::unexpected{went.error()};
  return observations{{{"a hop of the first tenth", "us"}, went->at(0)},
                      {{"a hop of the last tenth", "us"}, went->at(1)},
                      {{late_hops_name, "times"}, went->at(1) / went->at(0)},
                      {{"rows of all stores at the last hop", "rows"}, went->at(3)},
                      {{rows_name, "times"}, went->at(3) / went->at(2)},
                      {{"memory of all processes at the last hop", "KiB"}, went->at(5)},
                      {{memory_name, "times"}, went->at(5) / went->at(4)}};
}

handles_subject around_a_ring(const std::string& name, ring_hosts hosts) {
  return {name, [hosts](std::size_t number, const ready_report& ready) { return serve_ring(hosts, number, ready); },
          [hosts](const std::string& at) { return steps_of(ring_near_end::connect(hosts, at), take_ring_step); },
          [name, hosts](const handles_options& told, stop_signals& signals) {
            return run_ring_round(name, hosts, told, signals);
          }};
}

} // namespace

const std::vector<handles_subject>& handles_subjects() {
  static const std::vector<handles_subject> all{sending(),
                                                getting("get-own", origin::own),
                                                getting("get-received", origin::received),
                                                getting("get-pulled", origin::pulled),
                                                pulling(),
                                                raw(),
                                                around_a_ring("ring-8", ring_hosts::one),
                                                around_a_ring("ring-8-on-4-hosts", ring_hosts::four)};
  return all;
}

const std::vector<std::string>& handles_peers() {
  static const std::vector<std::string> peers{"raw-tcp"};
  return peers;
}

const handles_subject* find_handles_subject(std::string_view name) {
  const auto found = std::ranges::find(handles_subjects(), name, &handles_subject::name);
  return found == handles_subjects().end() ? nullptr : &*found;
}

} // namespace bench
