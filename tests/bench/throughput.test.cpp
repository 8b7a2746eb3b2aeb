// The benchmark as a real program with real processes: it runs, writes its results, and leaves nothing behind, however
// it ends. Speed is not tested here.
#include "program_run.hpp"

#include <signal.h>

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class throughput : public program_run {
protected:
  throughput() : program_run(THROUGHPUT_PROGRAM) {}
};

/// One way: messages a second and processor time. Then requests a second, two percentiles of three round trips, and
/// processor time at rest.
constexpr std::size_t quantities_of_a_pair = 2 + 1 + 3 * 2 + 1;

/// Structs a second and processor time, with many structs to a message.
constexpr std::size_t quantities_of_batches = 2;

/// Long enough to be interrupted.
const std::vector<std::string> long_run{"--subjects", "raw-asio-unix", "--cases",    "one-way",
                                        "--messages", "1000000000",    "--deadline", "60"};

TEST_F(throughput, a_quick_run_has_a_line_of_json_for_each_subject_and_quantity) {
  const std::vector<std::string> others{"troupe-unix-seen",
                                        "troupe-unix-unseen",
                                        "troupe-unix-recorded",
                                        "troupe-unix-unrecorded",
                                        "troupe-unix-unrecorded-again",
                                        "one-pair",
                                        "fan-in-8",
                                        "fan-out-8",
                                        "batches-troupe-unix",
                                        "batches-troupe-shm",
                                        "batches-raw-asio-unix",
                                        "troupe-local",
                                        "caf-local"};
  std::string asked = "troupe-unix,raw-asio-unix";
  for (const auto& other : others)
    asked += ',' + other;
  EXPECT_EQ(run({"--quick", "--subjects", asked, "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  std::set<std::string> quantities, subjects;
  const auto lines = results("throughput");
  for (const auto& line : lines) {
    for (const auto& [peer, ratio] : line.at("ratio_to").items())
      EXPECT_GT(ratio.get<double>(), 0) << peer;
    quantities.insert(line.at("case").get<std::string>());
    subjects.insert(line.at("subject").get<std::string>());
  }
  // Each group has subjects of its own: between two processes, with and without counting and logging, with and without
  // recording, several pairs together, many structs to a message, and within one process.
  EXPECT_THAT(quantities, SizeIs(quantities_of_a_pair + 1 + quantities_of_batches + 3));
  EXPECT_THAT(subjects, SizeIs(2 + others.size()));
  EXPECT_THAT(lines, SizeIs(quantities_of_a_pair * 2 + 2 * 2 + 3 * 2 + 3 * 1 + quantities_of_batches * 3 + 2 * 3));
}

/// Each alternative to Troupe alone: the run has its row, or gives the reason why there is none.
class throughput_of_a_peer : public throughput, public testing::WithParamInterface<std::string> {};

TEST_P(throughput_of_a_peer, is_measured_and_nothing_of_it_is_left) {
  // Few messages: if other programs use the core that both ends share, a polling end waits for them at each message.
  EXPECT_EQ(run({"--quick", "--messages", "500", "--subjects", GetParam(), "--json", json().string()}), exited_with(0))
      << output() << errors();
  expect_nothing_left();
  const auto is_absent = output().find(GetParam() + " not available: not built: ") != std::string::npos;
  EXPECT_THAT(results("throughput"), SizeIs(is_absent ? 0 : quantities_of_a_pair)) << output();
  EXPECT_EQ(read_file(json()).find("not built: ") != std::string::npos, is_absent);
}

INSTANTIATE_TEST_SUITE_P(peers, throughput_of_a_peer,
                         testing::Values("troupe-tcp", "caf-basp", "caf-basp-sharing", "zeromq-ipc", "nng-ipc",
                                         "grpc-unix", "capnproto-unix", "redis-unix", "nats-tcp", "cyclonedds-udp",
                                         "erlang-tcp", "openmpi-blocking", "openmpi-windowed", "iceoryx-polling",
                                         "iceoryx-waitset"),
                         [](const auto& peer) {
                           auto name = peer.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// Peers whose ends are separate programs, or need such programs.
class throughput_by_other_programs : public throughput, public testing::WithParamInterface<std::string> {};

TEST_P(throughput_by_other_programs, leaves_none_of_them_behind_when_it_is_killed) {
  start({"--subjects", GetParam(), "--cases", "one-way", "--messages", "1000000000"});
  constexpr std::size_t both_ends_and_one_more = 3;
  ASSERT_TRUE(eventually([this] { return !process_->runs() || processes().size() >= both_ends_and_one_more; }));
  if (!process_->runs()) {
    EXPECT_THAT(output(), HasSubstr("not built: "));
    GTEST_SKIP() << GetParam() << " was not built";
  }
  process_->signal(SIGKILL);
  EXPECT_EQ(end(), killed_by(SIGKILL));
  EXPECT_TRUE(eventually([this] { return processes().empty(); }));
}

INSTANTIATE_TEST_SUITE_P(peers, throughput_by_other_programs,
                         testing::Values("redis-unix", "erlang-tcp", "nats-tcp", "openmpi-blocking", "iceoryx-waitset"),
                         [](const auto& peer) { return peer.param.substr(0, peer.param.find('-')); });

TEST_F(throughput, an_end_that_polls_takes_the_processor_at_rest) {
  EXPECT_EQ(
      run({"--quick", "--subjects", "openmpi-blocking,raw-asio-unix", "--cases", "at-rest", "--json", json().string()}),
      exited_with(0))
      << output() << errors();
  if (output().contains("not built: "))
    GTEST_SKIP() << "openmpi-blocking was not built";
  std::map<std::string, double> at_rest;
  for (const auto& line : results("throughput"))
    at_rest[line.at("subject").get<std::string>()] = line.at("median").get<double>();
  EXPECT_GT(at_rest.at("openmpi-blocking"), 2 * at_rest.at("raw-asio-unix"));
}

TEST_F(throughput, what_eight_processes_do_together_is_compared_to_what_a_pair_does) {
  EXPECT_EQ(run({"--quick", "--cases", "fan", "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  std::map<std::string, double> to_one_pair;
  for (const auto& line : results("throughput"))
    for (const auto& [peer, ratio] : line.at("ratio_to").items())
      to_one_pair[line.at("subject").get<std::string>()] = ratio.get<double>();
  EXPECT_THAT(to_one_pair, UnorderedElementsAre(Pair("fan-in-8", Gt(0)), Pair("fan-out-8", Gt(0))));
}

/// Many structs in a message, each subject alone.
class throughput_of_batches : public throughput, public testing::WithParamInterface<std::string> {};

// The number of structs is no multiple of those in a message or between acknowledgments, and exceeds the number that
// may be in flight.
TEST_P(throughput_of_batches, all_structs_arrive_in_order_and_nothing_is_left) {
  EXPECT_EQ(run({"--rounds", "1", "--messages", "50021", "--subjects", GetParam(), "--json", json().string()}),
            exited_with(0))
      << output() << errors();
  expect_nothing_left();
  const auto is_absent = output().find(GetParam() + " not available: not built: ") != std::string::npos;
  const auto lines = results("throughput");
  ASSERT_THAT(lines, SizeIs(is_absent ? 0 : quantities_of_batches)) << output();
  for (const auto& line : lines) {
    EXPECT_EQ(line.at("subject").get<std::string>(), GetParam());
    EXPECT_GT(line.at("median").get<double>(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(subjects, throughput_of_batches,
                         testing::Values("batches-troupe-unix", "batches-troupe-shm", "batches-caf-basp",
                                         "batches-zeromq-ipc", "batches-openmpi", "batches-raw-asio-unix"),
                         [](const auto& who) {
                           auto name = who.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_F(throughput, structs_in_batches_are_compared_with_those_of_the_limit) {
  EXPECT_EQ(run({"--quick", "--cases", "batches", "--subjects", "batches-troupe-unix,batches-raw-asio-unix", "--json",
                 json().string()}),
            exited_with(0))
      << output() << errors();
  EXPECT_THAT(output(), HasSubstr("one way, structs 100 to a message"));
  std::map<std::string, double> of_troupe;
  for (const auto& line : results("throughput"))
    if (line.at("subject").get<std::string>() == "batches-troupe-unix")
      of_troupe[line.at("unit").get<std::string>()] = line.at("ratio_to").at("batches-raw-asio-unix").get<double>();
  EXPECT_THAT(of_troupe, UnorderedElementsAre(Pair("structs/s", Gt(0)), Pair("ns", Gt(0))));
}

TEST_F(throughput, only_what_is_asked_for_is_run) {
  EXPECT_EQ(run({"--quick", "--subjects", "raw-asio-unix,troupe-unix", "--cases", "echo"}), exited_with(0)) << errors();
  EXPECT_THAT(output(), HasSubstr("pipelined echo"));
  EXPECT_THAT(output(), Not(HasSubstr("one-way")));
  EXPECT_THAT(output(), Not(HasSubstr("  zeromq-ipc")));
}

TEST_F(throughput, control_c_ends_all_processes) {
  start(long_run);
  EXPECT_THAT(both_ends(), SizeIs(2));
  process_->signal(SIGINT);
  EXPECT_EQ(end(), exited_with(128 + SIGINT));
  expect_nothing_left();
}

TEST_F(throughput, a_killed_benchmark_leaves_no_process_behind) {
  start(long_run);
  EXPECT_THAT(both_ends(), SizeIs(2));
  process_->signal(SIGKILL);
  EXPECT_EQ(end(), killed_by(SIGKILL));
  expect_nothing_left();
}

TEST_F(throughput, a_subject_that_dies_fails_at_once) {
  start(long_run);
  ::kill(both_ends().front(), SIGKILL);
  EXPECT_EQ(end(), exited_with(1));
  EXPECT_THAT(output(), HasSubstr("raw-asio-unix failed: "));
  EXPECT_THAT(output(), HasSubstr("its process was killed by signal 9"));
  expect_nothing_left();
}

TEST_F(throughput, a_subject_that_takes_too_long_is_given_up) {
  auto arguments = long_run;
  arguments.back() = "1";
  EXPECT_EQ(run(arguments), exited_with(1));
  EXPECT_THAT(output(), HasSubstr("raw-asio-unix failed: one-way 100000000: nothing came within 1000 ms"));
  expect_nothing_left();
}

TEST_F(throughput, a_floor_that_cannot_be_checked_is_missed) {
  EXPECT_EQ(run({"--quick", "--floors", "--subjects", "troupe-unix", "--cases", "one-way"}), exited_with(1));
  EXPECT_THAT(output(), HasSubstr("floor not checked: one-way small struct of troupe-unix at least 14 x caf-basp"));
}

TEST_F(throughput, unknown_subjects_are_refused) {
  EXPECT_EQ(run({"--subjects", "carrier-pigeons"}), exited_with(2));
  EXPECT_THAT(errors(), HasSubstr("carrier-pigeons"));
}

TEST_F(throughput, a_file_that_cannot_be_written_is_noticed_before_the_run) {
  EXPECT_EQ(run({"--json", (folder_ / "nowhere" / "results.json").string()}), exited_with(2));
  EXPECT_THAT(errors(), HasSubstr("cannot write"));
  EXPECT_THAT(output(), IsEmpty());
}

} // namespace
} // namespace bench::tests
