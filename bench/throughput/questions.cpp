#include "throughput/questions.hpp"

#include "peers/all.hpp"
#include "peers/raw_asio.hpp"
#include "throughput/fan_subjects.hpp"
#include "throughput/local_subjects.hpp"
#include "throughput/troupe_subjects.hpp"

namespace bench {

namespace {

question between_processes() {
  question made{.rounds = 5,
                .subjects = {{troupe_unix()}, {troupe_shm()}, {troupe_shm_polling()}, {troupe_tcp()}},
                .cases = pair_cases()};
  for (auto& peer : all_peers())
    made.subjects.push_back({std::move(peer)});
  made.subjects.push_back({raw_asio_unix()});
  for (const auto& one : made.subjects)
    made.peers.push_back(one.who.name);
  made.shown_peers = {"troupe-unix", "troupe-shm", "caf-basp", "zeromq-ipc", "raw-asio-unix"};
  return made;
}

question what_seeing_costs() {
  return {.rounds = 15,
          .subjects = {{troupe_unix_seen()}, {troupe_unix_unseen()}},
          .peers = {"troupe-unix-unseen"},
          .cases = {pair_cases().front()}};
}

question what_recording_costs() {
  return {.rounds = 15,
          .subjects = {{troupe_unix_recorded()}, {troupe_unix_unrecorded()}, {troupe_unix_unrecorded_again()}},
          .peers = {"troupe-unix-unrecorded"},
          .cases = {pair_cases().front()}};
}

question from_and_to_several() {
  constexpr std::size_t several = 8;
  return {.rounds = 5,
          .subjects = {{fan_subject("one-pair")},
                       {fan_subject("fan-in-8"), {.near_ends = several}},
                       {fan_subject("fan-out-8"), {.far_ends = several}}},
          .peers = {"one-pair"},
          .cases = fan_cases()};
}

question many_to_a_message() {
  question made{.rounds = 5, .subjects = {{batches_troupe_unix()}, {batches_troupe_shm()}}, .cases = batch_cases()};
  for (auto& peer : peers_with_batches())
    made.subjects.push_back({std::move(peer)});
  made.subjects.push_back({batches_raw_asio_unix()});
  for (const auto& one : made.subjects)
    made.peers.push_back(one.who.name);
  return made;
}

question within_a_process() {
  return {.rounds = 15, .subjects = {{troupe_local()}, {caf_local()}}, .peers = {"caf-local"}, .cases = local_cases()};
}

} // namespace

const std::vector<question>& all_questions() {
  static const std::vector<question> all{between_processes(),   what_seeing_costs(), what_recording_costs(),
                                         from_and_to_several(), many_to_a_message(), within_a_process()};
  return all;
}

const participant* find_subject(std::string_view name) {
  for (const auto& each : all_questions())
    for (const auto& one : each.subjects)
      if (one.who.name == name)
        return &one;
  return nullptr;
}

const measured_case* find_case(std::string_view name) {
  for (const auto& each : all_questions())
    for (const auto& one : each.cases)
      if (one.name == name)
        return &one;
  return nullptr;
}

} // namespace bench
