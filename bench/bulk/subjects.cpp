#include "bulk/subjects.hpp"

#include "bulk/ends.hpp"
#include "bulk/limits.hpp"
#include "bulk/store_ends.hpp"
#include "peers/raw_socket.hpp"
#include "peers/run_store.hpp"
#include "peers/troupe_process.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace bench {

namespace {

using measured = std::expected<numbers, std::string>;

/// Converts a measured result into numbers.
template <class T, class Convert>
measured numbers_of(const std::expected<T, std::string>& taken, Convert convert) {
  if (!taken)
    return std::unexpected{taken.error()};
  return convert(*taken);
}

numbers only(seconds took) {
  return {took.count()};
}

/// The count for a warm-up step.
std::uint64_t a_tenth(std::uint64_t count) {
  return count / 10 + 1;
}

double megabytes(std::uint64_t messages) {
  return static_cast<double>(messages) * static_cast<double>(bulk_frame_bytes) / 1e6;
}

const quantity bulk_alone{bulk_alone_name, "MB/s"};

// -- two pairs of actors on one link

numbers percentiles(const std::vector<seconds>& round_trips) {
  std::vector<double> microseconds;
  for (const auto one : round_trips)
    microseconds.push_back(one.count() * 1e6);
  return {percentile(microseconds, 50), percentile(microseconds, 99)};
}

measured take_link_step(bulk_near_end& near, const step& next) {
  if (next.name == "idle")
    return numbers_of(near.ask(next.count), percentiles);
  if (next.name == "bulk")
    return numbers_of(near.send_bulk(next.count), only);
  return numbers_of(near.ask_beside_bulk(next.count), [](const bulk_near_end::both& done) {
    const auto of_questions = percentiles(done.round_trips);
    return numbers{done.bulk_took.count(), of_questions[0], of_questions[1]};
  });
}

std::expected<observations, failure> run_link_round(const std::string& subject, const bulk_options& told,
                                                    stop_signals& signals) {
  auto group = process_group::start(subject, signals);
  if (!group)
    return std::unexpected{std::move(group).error()};
  group->place(placement::a_core_each);
  // Run both kinds briefly, to warm them up.
  const auto warm = ask(*group, {"beside", a_tenth(told.bulk_messages)}, 3, told.deadline);
  if (!warm)
    return std::unexpected{warm.error()};
  const auto idle = ask(*group, {"idle", told.round_trips}, 2, told.deadline);
  if (!idle)
    return std::unexpected{idle.error()};
  const auto bulk = ask(*group, {"bulk", told.bulk_messages}, 1, told.deadline);
  if (!bulk)
    return std::unexpected{bulk.error()};
  const auto beside = ask(*group, {"beside", told.bulk_messages}, 3, told.deadline);
  if (!beside)
    return std::unexpected{beside.error()};
  return observations{
      {{"idle round trip p50", "us"}, idle->at(0)},
      {{"idle round trip p99", "us"}, idle->at(1)},
      {{"round trip beside bulk p50", "us"}, beside->at(1)},
      {{"round trip beside bulk p99", "us"}, beside->at(2)},
      {{slowdown_name, "times"}, beside->at(1) / idle->at(0)},
      {bulk_alone, megabytes(told.bulk_messages) / bulk->at(0)},
      {{"bulk beside round trips", "MB/s"}, megabytes(told.bulk_messages) / beside->at(0)},
  };
}

bulk_subject over_a_link(const std::string& name, std::string (*address)()) {
  return {name, [address](const ready_report& ready) { return serve_bulk(address(), ready); },
          [](const std::string& at) -> std::expected<step_taker, std::string> {
            auto near = bulk_near_end::connect(at);
            if (!near)
              return std::unexpected{std::move(near).error()};
            return step_taker{[near = std::shared_ptr<bulk_near_end>{*std::move(near)}](const step& next) {
              return take_link_step(*near, next);
            }};
          },
          [name](const bulk_options& told, stop_signals& signals) { return run_link_round(name, told, signals); }};
}

// -- a plain writer and reader

std::expected<observations, failure> run_raw_round(const std::string& subject, const bulk_options& told,
                                                   stop_signals& signals) {
  auto group = process_group::start(subject, signals);
  if (!group)
    return std::unexpected{std::move(group).error()};
  group->place(placement::a_core_each);
  const auto warm = ask(*group, {"bulk", a_tenth(told.bulk_messages)}, 1, told.deadline);
  if (!warm)
    return std::unexpected{warm.error()};
  const auto bulk = ask(*group, {"bulk", told.bulk_messages}, 1, told.deadline);
  if (!bulk)
    return std::unexpected{bulk.error()};
  return observations{{bulk_alone, megabytes(told.bulk_messages) / bulk->at(0)}};
}

bulk_subject over_a_raw_socket(const std::string& name, socket_kind kind) {
  return {name, [kind](const ready_report& ready) { return serve_raw(kind, ready); },
          [kind](const std::string& at) -> std::expected<step_taker, std::string> {
            auto near = raw_near_end::connect(kind, at);
            if (!near)
              return std::unexpected{std::move(near).error()};
            return step_taker{[near = std::shared_ptr<raw_near_end>{*std::move(near)}](const step& next) {
              return numbers_of(near->send_bulk(next.count, bulk_frame_bytes), only);
            }};
          },
          [name](const bulk_options& told, stop_signals& signals) { return run_raw_round(name, told, signals); }};
}

// -- two actors whose processes share a store

std::expected<observations, failure> run_store_round(const std::string& subject, const bulk_options& told,
                                                     stop_signals& signals) {
  const auto store = make_store_of_this_run(told.store_bytes); // Outlives the processes.
  if (!store)
    return std::unexpected{failure{.reason = store.error()}};
  auto group = process_group::start(subject, signals);
  if (!group)
    return std::unexpected{std::move(group).error()};
  group->place(placement::a_core_each);
  constexpr std::uint64_t until_all_pages_were_used = 4;
  const auto warm = ask(*group, {"store", until_all_pages_were_used, told.store_bytes}, 3, told.deadline);
  if (!warm)
    return std::unexpected{warm.error()};
  const auto took = ask(*group, {"store", told.store_round_trips, told.store_bytes}, 3, told.deadline);
  if (!took)
    return std::unexpected{took.error()};
  const auto small = took->at(0);
  const auto large = took->at(1);
  const auto copy = took->at(2);
  return observations{
      {{"64 KiB by the store", "us"}, small * 1e6},
      {{"large value by the store", "ms"}, large * 1e3},
      {{"memcpy of as much", "ms"}, copy * 1e3},
      {{by_store_name, "times"}, (large - small) / copy},
  };
}

bulk_subject by_a_store(const std::string& name) {
  return {name, serve_store,
          [](const std::string& at) -> std::expected<step_taker, std::string> {
            auto near = store_near_end::connect(at);
            if (!near)
              return std::unexpected{std::move(near).error()};
            return step_taker{[near = std::shared_ptr<store_near_end>{*std::move(near)}](const step& next) {
              return numbers_of(near->measure(next.count, next.size_bytes), [](const store_near_end::times& took) {
                return numbers{took.small.count(), took.large.count(), took.copy.count()};
              });
            }};
          },
          [name](const bulk_options& told, stop_signals& signals) { return run_store_round(name, told, signals); }};
}

} // namespace

const std::vector<bulk_subject>& bulk_subjects() {
  static const std::vector<bulk_subject> all{
      over_a_link("troupe-unix", unix_address), over_a_raw_socket("raw-unix", socket_kind::unix_socket),
      over_a_link("troupe-tcp", tcp_address), over_a_raw_socket("raw-tcp", socket_kind::tcp),
      by_a_store("troupe-store")};
  return all;
}

const std::vector<std::string>& bulk_peers() {
  static const std::vector<std::string> peers{"raw-unix", "raw-tcp"};
  return peers;
}

const bulk_subject* find_bulk_subject(std::string_view name) {
  const auto found = std::ranges::find(bulk_subjects(), name, &bulk_subject::name);
  return found == bulk_subjects().end() ? nullptr : &*found;
}

} // namespace bench
