// `troupe bench` as a real command with real processes: each pattern runs and writes its results, and the command
// leaves nothing behind, however it ends. Speed is not tested here.
#include "command_support.hpp"

#include "../eventually.hpp"

#include "../bench/harness/well_formed.hpp"
#include "harness/plot.hpp"

#include <troupe/processes/listing.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace troupe::tests {

namespace {

namespace files = std::filesystem;

std::string text_of(const files::path& file) {
  std::ifstream read{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{read}, {}};
}

constexpr auto patience = 20s;

/// Runs the command with its stores in a folder of this test. The folder also identifies the processes of the command.
class bench_command : public testing::Test {
protected:
  bench_command() : folder_(folder() + "/bench") { files::create_directory(folder_); }
  ~bench_command() override {
    for (const auto process : taking_part())
      ::kill(process, SIGKILL);
    files::remove_all(folder_);
  }

  /// Runs the command to its end. Its standard error goes to errors_file().
  output bench(const std::string& arguments) {
    return run_to_end({.program = "/bin/sh",
                       .words = {"sh", "-c", TROUPE_PROGRAM " bench --directory " + folder_ + ' ' + arguments},
                       .errors = processes::file{errors_file()}});
  }

  /// The processes of the run: their arguments contain the run's folder.
  [[nodiscard]] std::vector<pid_t> taking_part() const { return processes::with_argument(folder_ + "/troupe-bench-"); }

  void expect_nothing_left() const {
    EXPECT_TRUE(eventually([this] { return taking_part().empty(); }, patience));
    for (const auto& entry : files::directory_iterator{folder_})
      EXPECT_FALSE(entry.path().filename().string().starts_with("troupe-bench-")) << entry.path();
  }

  /// Starts echoes of 1 MiB in a process group of their own, with the output in output_file().
  [[nodiscard]] processes::process start(const std::vector<std::string>& arguments) const {
    processes::start_options options{
        .program = TROUPE_PROGRAM,
        .words = {"troupe", "bench", "--directory", folder_, "--pattern", "echo", "--size", "1Mi"},
        .output = processes::file{output_file()},
        .own_group = true};
    options.words.insert(options.words.end(), arguments.begin(), arguments.end());
    auto made = processes::process::start(options).value();
    EXPECT_TRUE(eventually([this] { return taking_part().size() == 2; }, patience));
    return made;
  }

  [[nodiscard]] processes::process start_long_run() const { return start({"--time", "600"}); }

  [[nodiscard]] std::string output_file() const { return folder_ + "/output"; }
  [[nodiscard]] std::string errors_file() const { return folder_ + "/errors"; }
  [[nodiscard]] std::string errors() const { return text_of(errors_file()); }

  const std::string folder_;
};

/// The shortest possible run.
const std::string tiny = "--rounds 1 --time 0.004 --peers 2 --json ";

std::set<std::string> paths(const nlohmann::json& document) {
  std::set<std::string> found;
  for (const auto& one : document["results"]) {
    EXPECT_FALSE(one.contains("failure")) << one;
    const auto& rate = one["messages_per_second"];
    EXPECT_GT(rate["min"].get<double>(), 0) << one;
    EXPECT_LE(rate["min"].get<double>(), rate["median"].get<double>());
    EXPECT_LE(rate["median"].get<double>(), rate["max"].get<double>());
    if (one.contains("round_trip_us")) {
      EXPECT_GT(one["round_trip_us"]["p50"]["median"].get<double>(), 0) << one;
      EXPECT_LE(one["round_trip_us"]["p50"]["median"].get<double>(),
                one["round_trip_us"]["max"]["median"].get<double>());
    }
    found.insert(one["pattern"].get<std::string>() + ' ' + one["path"].get<std::string>());
  }
  return found;
}

TEST_F(bench_command, measures_each_pattern_with_small_payloads_and_by_handle) {
  const auto made = bench(tiny + "--pattern one-way,echo,pipelined,fan-in,fan-out,ring --size 8,1Mi");
  ASSERT_EQ(made.status, 0) << errors();
  const auto document = nlohmann::json::parse(made.text);
  EXPECT_EQ(document["results"].size(), 12u);
  EXPECT_EQ(paths(document),
            (std::set<std::string>{"one-way socket", "one-way handle", "echo socket", "echo handle", "pipelined socket",
                                   "pipelined handle", "fan-in socket", "fan-in handle", "fan-out socket",
                                   "fan-out handle", "ring socket", "ring handle"}));
  for (const auto* what : {"cpu", "kernel", "compiler", "build", "date"})
    EXPECT_NE(document["machine"].value(what, ""), "") << what;
  expect_nothing_left();
}

TEST_F(bench_command, measures_each_transport_and_never_by_handle_when_told_so) {
  const auto made =
      bench(tiny + "--pattern one-way,echo,fan-in,ring --transport inproc,unix,tcp,tls --size 128Ki --spill never");
  ASSERT_EQ(made.status, 0) << errors();
  EXPECT_EQ(paths(nlohmann::json::parse(made.text)),
            (std::set<std::string>{"one-way in place", "one-way socket", "echo in place", "echo socket",
                                   "fan-in in place", "fan-in socket", "ring in place", "ring socket"}));
  expect_nothing_left();
}

TEST_F(bench_command, measures_each_family_and_compression) {
  const auto families = run("bench --help").text.find("protobuf") == std::string::npos
                            ? "typed,msgpack,json,cereal,caf"
                            : "typed,msgpack,json,cereal,caf,protobuf";
  const auto made =
      bench(tiny + "--pattern echo --compression none,lz4,zstd --data records --size 64,20Ki --family " + families);
  ASSERT_EQ(made.status, 0) << errors();
  EXPECT_EQ(paths(nlohmann::json::parse(made.text)), std::set<std::string>{"echo socket"});
  expect_nothing_left();
}

TEST_F(bench_command, refuses_a_plot_before_measuring_if_gnuplot_is_missing) {
  const auto made = run_to_end({.program = TROUPE_PROGRAM,
                                .words = {"troupe", "bench", "--directory", folder_, "--svg", folder_ + "/a.svg"},
                                .errors = processes::file{errors_file()},
                                .environment = {{"PATH", "/nowhere"}}});
  EXPECT_EQ(made.status, 2);
  expect_contains(errors(), "--svg: plots are drawn by gnuplot, Debian's package gnuplot-nox: cannot start gnuplot");
}

TEST_F(bench_command, writes_a_table_csv_and_a_plot) {
  if (!::bench::can_draw())
    GTEST_SKIP() << "gnuplot is not installed";
  const auto made = bench("--quick --time 0.004 --size 8..512 --csv " + folder_ + "/a.csv --svg " + folder_ + "/a.svg");
  ASSERT_EQ(made.status, 0) << errors();
  expect_contains(made.text, "medians of 1 round of 0.004 s\n");
  expect_contains(made.text, "pattern  transport  family  compression   size  messages/s");
  expect_contains(made.text, "p50 us");
  std::istringstream lines{text_of(folder_ + "/a.csv")};
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line.rfind("pattern,transport,family,compression,size_bytes,path,failure,messages_per_second,", 0), 0u);
  const auto columns = std::ranges::count(line, ',');
  auto count = 0;
  for (; std::getline(lines, line); ++count) {
    EXPECT_TRUE(line.ends_with("\r"));
    auto is_quoted = false; // Commas in quotes do not separate.
    EXPECT_EQ(columns, std::ranges::count_if(line,
                                             [&](char each) {
                                               is_quoted ^= each == '"';
                                               return each == ',' && !is_quoted;
                                             }))
        << line;
  }
  EXPECT_EQ(count, 6);
  const auto svg = text_of(folder_ + "/a.svg");
  EXPECT_EQ(::bench::tests::wrong_with(svg), "");
  for (const auto* part :
       {">one-way: throughput<", ">echo: throughput<", ">echo: time there and back<", ">unix typed<"})
    expect_contains(svg, part);
  expect_nothing_left();
}

TEST_F(bench_command, refuses_what_it_cannot_measure_and_says_why) {
  const std::pair<const char*, const char*> wrong[] = {{"--size 4", "sizes go from 8 B to 1 GiB"},
                                                       {"--size 1Q", "\"1Q\" is no size; write it as 8, 64B, 1Ki"},
                                                       {"--size 64..8", "64 B is more than 8 B"},
                                                       {"--spill some", "or as never"},
                                                       {"--pattern two-way", "one-way"},
                                                       {"--transport udp", "inproc"},
                                                       {"--family pickle", "msgpack"},
                                                       {"--compression gzip", "lz4"},
                                                       {"--data text", "records"},
                                                       {"--rounds 0", "not in range 1 to 1000"},
                                                       {"--time 0", "not in range 0.001"},
                                                       {"--peers 1", "not in range 2 to 32"},
                                                       {"--rounds 1000 --total 1", "only to start their processes"},
                                                       {"--csv /nowhere/a.csv", "/nowhere/a.csv cannot be written"},
                                                       {"--directory /nowhere", "does not exist: /nowhere"}};
  for (const auto& [arguments, why] : wrong) {
    const auto where = std::string_view{arguments}.starts_with("--directory") ? "" : "--directory " + folder_ + ' ';
    const auto refused = run("bench " + where + arguments);
    EXPECT_EQ(refused.status, 2) << arguments;
    expect_contains(refused.text, why);
  }
  expect_nothing_left();
}

TEST_F(bench_command, leaves_nothing_when_it_is_interrupted) {
  auto process = start_long_run();
  process.signal_group(SIGINT); // As from a terminal: the whole group gets the signal.
  EXPECT_EQ(process.wait(), processes::exited_with(128 + SIGINT));
  expect_nothing_left();
}

TEST_F(bench_command, shows_what_was_measured_when_it_is_interrupted) {
  auto process = start({"--time", "0.05", "--rounds", "1000", "--json"});
  std::set<pid_t> seen; // Each round has two new processes; so has the warm-up round.
  EXPECT_TRUE(eventually(
      [&] {
        const auto now = taking_part();
        seen.insert(now.begin(), now.end());
        return seen.size() > 6;
      },
      patience));
  process.signal_group(SIGTERM);
  EXPECT_EQ(process.wait(), processes::exited_with(128 + SIGTERM));
  const auto document = nlohmann::json::parse(text_of(output_file()));
  EXPECT_GE(document["rounds"].get<int>(), 2);
  EXPECT_LT(document["rounds"].get<int>(), 1000);
  EXPECT_EQ(document["rounds_asked"].get<int>(), 1000);
  EXPECT_EQ(document["results"][0]["rounds"], document["rounds"]);
  EXPECT_EQ(paths(document), std::set<std::string>{"echo handle"});
  expect_nothing_left();
}

TEST_F(bench_command, a_run_that_was_killed_takes_its_processes_along_and_the_next_one_clears_up) {
  auto process = start_long_run();
  process.kill();
  EXPECT_TRUE(eventually([this] { return taking_part().empty(); }, patience));
  EXPECT_EQ(bench(tiny + "--pattern echo --size 8").status, 0) << errors();
  expect_nothing_left();
}

TEST_F(bench_command, says_that_a_process_was_killed) {
  auto process = start_long_run();
  for (const auto each : taking_part())
    ::kill(each, SIGKILL);
  EXPECT_EQ(process.wait(), processes::exited_with(1));
  expect_nothing_left();
}

} // namespace

} // namespace troupe::tests
