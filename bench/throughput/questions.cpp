#include "throughput/questions.hpp"

#include "peers/raw_asio.hpp"
#include "throughput/fan_subjects.hpp"
#include "throughput/local_subjects.hpp"
#include "throughput/troupe_subjects.hpp"

#if TROUPE_BENCH_BASP
#include "peers/basp.hpp"
#endif
#if TROUPE_BENCH_ZEROMQ
#include "peers/zeromq.hpp"
#endif

namespace bench {

namespace {

[[maybe_unused]] subject absent(std::string name, const std::string& library) {
  const auto reason = "built without " + library;
  return {std::move(name), [reason](const ready_report&) { return std::unexpected{reason}; },
          [reason](const std::string&) { return std::unexpected{reason}; }};
}

#if !TROUPE_BENCH_BASP
subject caf_basp() {
  return absent("caf-basp", "CAF's io module");
}
subject caf_basp_sharing() {
  return absent("caf-basp-sharing", "CAF's io module");
}
#endif
#if !TROUPE_BENCH_ZEROMQ
subject zeromq_ipc() {
  return absent("zeromq-ipc", "ZeroMQ");
}
#endif

question between_processes() {
  return {.rounds = 5,
          .subjects =
              {{troupe_unix()}, {troupe_tcp()}, {caf_basp()}, {caf_basp_sharing()}, {zeromq_ipc()}, {raw_asio_unix()}},
          .peers = {"caf-basp", "caf-basp-sharing", "zeromq-ipc", "raw-asio-unix"},
          .cases = pair_cases()};
}

question what_seeing_costs() {
  return {.rounds = 15,
          .subjects = {{troupe_unix_seen()}, {troupe_unix_unseen()}},
          .peers = {"troupe-unix-unseen"},
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

question within_a_process() {
  return {.rounds = 15, .subjects = {{troupe_local()}, {caf_local()}}, .peers = {"caf-local"}, .cases = local_cases()};
}

} // namespace

const std::vector<question>& all_questions() {
  static const std::vector<question> all{between_processes(), what_seeing_costs(), from_and_to_several(),
                                         within_a_process()};
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
