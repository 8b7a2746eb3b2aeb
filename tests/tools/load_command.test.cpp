// `troupe bench --serve`, `--to`, `merge` and `diff` as real commands. Speed is not tested here: the bounds of
// latencies are those that a stall of the sink gives on paper, generously.
#include "command_support.hpp"

#include "../eventually.hpp"

#include <troupe/certificates/certificates.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace troupe::tests {

namespace {

namespace files = std::filesystem;

constexpr auto patience = 60s;

/// A sink and sources. Their files, and the cookie of this host's TCP nodes, are in a folder of the test.
class load_command : public testing::Test {
protected:
  load_command() { files::create_directory(folder_); }
  ~load_command() override {
    sink_.reset();
    files::remove_all(folder_);
  }

  [[nodiscard]] processes::start_options options_of(const std::vector<std::string>& words) const {
    processes::start_options made{.program = TROUPE_PROGRAM,
                                  .words = {"troupe", "bench"},
                                  .output = processes::lines{},
                                  .errors = processes::lines{},
                                  .environment = {{"XDG_RUNTIME_DIR", folder_}, {"PATH", std::getenv("PATH")}}};
    made.words.insert(made.words.end(), words.begin(), words.end());
    return made;
  }

  /// Starts a sink and waits until it listens. Returns its address, with the port that the system chose.
  std::string serve(std::vector<std::string> words) {
    words.insert(words.begin(), "--serve");
    sink_.emplace(processes::process::start(options_of(words)).value());
    const auto line = sink_->channel().read_line(patience);
    const std::string begin = "listening at ";
    EXPECT_TRUE(line && line->starts_with(begin)) << line.value_or("nothing");
    return line && line->starts_with(begin) ? line->substr(begin.size()) : "";
  }

  /// Ends the sink as from a terminal. Returns what it says then.
  std::string end_sink() {
    sink_->signal(SIGINT);
    auto said = sink_->channel().read_all();
    EXPECT_EQ(sink_->wait(), processes::exited_with(0)) << said;
    return said;
  }

  /// Runs the command to its end.
  output bench(const std::string& arguments) {
    std::vector<std::string> words;
    std::istringstream read{arguments};
    for (std::string each; read >> each;)
      words.push_back(each);
    return run_to_end(options_of(words));
  }

  /// Runs a source whose document goes into a file. The generator may be late: tests run on busy machines.
  nlohmann::json offer(const std::string& arguments, const std::string& file = "made.json") {
    const auto made = run_line("XDG_RUNTIME_DIR=" + folder_ + " " TROUPE_PROGRAM " bench --allow-late --json "
                               + arguments + " > " + path(file));
    EXPECT_EQ(made.status, 0) << made.text;
    return nlohmann::json::parse(std::ifstream{path(file)});
  }

  [[nodiscard]] std::string path(const std::string& file) const { return folder_ + '/' + file; }
  [[nodiscard]] std::string address() const { return "unix://@" + files::path{folder_}.filename().string(); }

  const std::string folder_ = folder() + "-load";
  std::optional<processes::process> sink_;
};

/// Waits until the process has links with traffic, which a node of this user can be asked for.
void wait_for_traffic(const processes::process& sink) {
  EXPECT_TRUE(eventually(
      [&] {
        const auto nodes =
            nlohmann::json::parse(run_line(TROUPE_PROGRAM " links --json 2>/dev/null").text, nullptr, false);
        if (!nodes.is_array())
          return false;
        return std::ranges::any_of(nodes, [&](const auto& node) {
          return node.value("process", 0) == sink.number() && node.contains("totals")
                 && node["totals"].value("messages_received", 0) > 10;
        });
      },
      patience));
}

void expect_sums_to_hold(const nlohmann::json& round) {
  std::uint64_t failed = 0;
  for (const auto& each : round["failures"])
    failed += each["count"].get<std::uint64_t>();
  EXPECT_EQ(round["scheduled"].get<std::uint64_t>(), round["answered"].get<std::uint64_t>() + failed);
}

/// On paper, a stall of 100 ms each second gives a p99 of 90 ms. A busy machine only adds to it.
void expect_stall(const nlohmann::json& document) {
  ASSERT_EQ(document["rounds"].size(), 1u);
  const auto& round = document["rounds"][0];
  expect_sums_to_hold(round);
  EXPECT_GT(round["answered"], 0);
  EXPECT_TRUE(round["failures"].empty()) << round["failures"];
  EXPECT_GE(round["latency_us"]["p99"], 50'000);
  EXPECT_LE(round["latency_us"]["p50"], round["latency_us"]["p99"]);
  EXPECT_LE(round["latency_us"]["p99.99"], round["latency_us"]["max"]);
}

const std::string short_load = " --rate 300 --seconds 3 --warm-up 0.2";

TEST_F(load_command, shows_a_stall_of_the_sink_over_a_unix_socket) {
  const auto at = serve({address(), "--stall", "100ms/1s"});
  const auto document = offer("--to " + at + short_load + " --hgrm " + path("a.hgrm"));
  expect_stall(document);
  EXPECT_EQ(document["load"]["pattern"], "echo");
  EXPECT_NE(document["machines"][0].value("cpu", ""), "");
  std::ifstream hgrm{path("a.hgrm")};
  expect_contains({std::istreambuf_iterator<char>{hgrm}, {}}, "Percentile TotalCount 1/(1-Percentile)");
  expect_contains(end_sink(), "served ");
}

TEST_F(load_command, shows_a_stall_of_the_sink_over_tcp_with_several_connections) {
  const auto at = serve({"tcp://127.0.0.1:0", "--stall", "100ms/1s"});
  const auto document = offer("--to " + at + short_load + " --connections 4 --arrivals uniform");
  expect_stall(document);
  EXPECT_EQ(document["load"]["connections"], 4);
  EXPECT_EQ(document["rounds"][0]["scheduled"], 900);
}

TEST_F(load_command, offers_load_over_tls) {
  ASSERT_TRUE(certificates::make_self_signed({path("c.pem"), path("k.pem")},
                                             {.name = "sink", .names = "IP:127.0.0.1", .until = 1h}));
  const auto own = " --certificate " + path("c.pem") + " --key " + path("k.pem") + " --authority " + path("c.pem");
  const auto at = serve(
      {"tls://127.0.0.1:0", "--certificate", path("c.pem"), "--key", path("k.pem"), "--authority", path("c.pem")});
  const auto document = offer("--to " + at + own + " --rate 200 --seconds 0.5");
  const auto stranger = bench("--to " + at + " --authority " + path("c.pem") + " --seconds 0.1");
  EXPECT_EQ(stranger.status, 1) << stranger.text;
  EXPECT_GT(document["rounds"][0]["answered"], 0);
}

TEST_F(load_command, offers_each_family_and_a_mix_of_sizes_to_several_sinks) {
  std::ofstream{path("mix")} << "64 90\n20Ki 10\n";
  const auto families = bench("--help").text.find("protobuf") == std::string::npos
                            ? "typed,msgpack,json,cereal,caf"
                            : "typed,msgpack,json,cereal,caf,protobuf";
  const auto at = serve({address(), "--serve", "tcp://127.0.0.1:0", "--families", families, "--compression", "lz4"});
  const auto tcp = sink_->channel().read_line(patience).value().substr(std::string{"listening at "}.size());
  std::istringstream all{families};
  for (std::string family; std::getline(all, family, ',');) {
    const auto document =
        offer("--to " + at + " --to " + tcp + " --rate 300 --seconds 0.3 --warm-up 0 --compression lz4"
              + " --data records --sizes " + path("mix") + " --family " + family);
    const auto& round = document["rounds"][0];
    expect_sums_to_hold(round);
    EXPECT_TRUE(round["failures"].empty()) << family << round["failures"];
    EXPECT_GT(round["answered"], 0) << family;
  }
}

TEST_F(load_command, one_way_messages_are_counted_where_they_arrive) {
  const auto at = serve({address()});
  const auto document = offer("--to " + at + " --pattern one-way --rate 2k --seconds 1 --warm-up 0.2 --connections 2");
  const auto& round = document["rounds"][0];
  expect_sums_to_hold(round);
  EXPECT_TRUE(round["failures"].empty()) << round["failures"];
  EXPECT_EQ(round["answered"], round["sent"]);
  EXPECT_FALSE(round.contains("latency_us"));
  EXPECT_GT(round["achieved_per_second"], 0);
}

TEST_F(load_command, names_what_a_sink_did_not_answer_and_does_not_wait_for_ever) {
  // The stall is longer than the run and its patience.
  const auto at = serve({address(), "--stall", "50s/60s"});
  const auto document = offer("--to " + at + " --rate 200 --seconds 0.5 --warm-up 0 --timeout 0.2 --outstanding 10");
  const auto& round = document["rounds"][0];
  expect_sums_to_hold(round);
  EXPECT_EQ(round["failures"]["unanswered"]["count"], 10);
  EXPECT_GT(round["failures"]["not_sent"]["count"], 0);
  EXPECT_EQ(round["answered"], 0);
  sink_->kill(); // It sleeps in a handler.
}

TEST_F(load_command, ends_with_a_named_error_when_the_sink_is_killed) {
  const auto at = serve({address()});
  auto source = processes::process::start(
                    options_of({"--to", at, "--rate", "500", "--seconds", "600", "--warm-up", "0", "--allow-late"}))
                    .value();
  wait_for_traffic(*sink_);
  sink_->kill();
  const auto ended = source.ended_within(patience);
  ASSERT_TRUE(ended);
  EXPECT_EQ(*ended, processes::exited_with(1));
  expect_contains(source.channel().read_all(), "link_down: lost the link to " + at);
}

TEST_F(load_command, shows_what_was_measured_when_it_is_interrupted) {
  const auto at = serve({address()});
  auto options = options_of({"--to", at, "--rate", "500", "--seconds", "0.1", "--rounds", "1000", "--warm-up", "0",
                             "--allow-late", "--json"});
  options.errors = processes::file{path("errors")};
  auto source = processes::process::start(options).value();
  wait_for_traffic(*sink_);
  source.signal(SIGINT);
  EXPECT_TRUE(source.ended_within(patience));
  EXPECT_EQ(source.wait(), processes::exited_with(128 + SIGINT));
}

TEST_F(load_command, finds_a_knee_and_shows_its_tries) {
  const auto at = serve({address()});
  // No answer comes within this limit, so no rate is sustained; the search goes down to the lowest rate.
  const auto made =
      bench("--to " + at + " --find-knee --rate 10 --arrivals uniform --limit 1us --seconds 0.02 --warm-up 0");
  EXPECT_EQ(made.status, 1) << made.text;
  expect_contains(made.text, "knee: none is sustained");
  expect_contains(made.text, "0.1/s: not sustained");
  expect_contains(made.text, "not even 0.1/s is sustained");
  const auto none = bench("--to " + at + " --find-knee --rate 0.1 --seconds 0.01");
  EXPECT_EQ(none.status, 1) << none.text;
  expect_contains(none.text, "no request was due within the measured time; give it more --seconds");
}

TEST_F(load_command, merges_and_compares_documents) {
  const auto at = serve({address()});
  const std::string load = "--to " + at + " --rate 200 --seconds 0.2 --warm-up 0 --rounds 3";
  const auto one = offer(load + " --seed 1", "one.json");
  const auto other = offer(load + " --seed 2", "other.json");
  ASSERT_EQ(one["rounds"].size(), 3u);
  const auto merged = run_line(TROUPE_PROGRAM " bench merge --json " + path("one.json") + ' ' + path("other.json")
                               + " 2>/dev/null > " + path("sum.json"));
  EXPECT_EQ(merged.status, 0) << merged.text;
  const auto sum = nlohmann::json::parse(std::ifstream{path("sum.json")});
  EXPECT_EQ(sum["rounds"][0]["answered"].get<int>(),
            one["rounds"][0]["answered"].get<int>() + other["rounds"][0]["answered"].get<int>());

  const auto same = bench("diff " + path("one.json") + ' ' + path("one.json"));
  EXPECT_EQ(same.status, 0) << same.text;
  expect_contains(same.text, "no difference shown");

  auto slower = one;
  for (auto& round : slower["rounds"])
    round["achieved_per_second"] = round["achieved_per_second"].get<double>() / 100;
  std::ofstream{path("slower.json")} << slower;
  const auto refused = bench("diff " + path("one.json") + ' ' + path("slower.json") + " --quantity rate --allow 20%");
  EXPECT_EQ(refused.status, 1) << refused.text;
  expect_contains(refused.text, "rate is slower than allowed");

  const auto different = bench("diff " + path("one.json") + ' ' + path("sum.json"));
  EXPECT_EQ(different.status, 2) << different.text;
  expect_contains(different.text, "sum.json lacks \"echo typed 64 B, 200/s poisson, 1 connection\"");
}

TEST_F(load_command, compares_documents_of_the_closed_loop) {
  const auto made =
      run_line(TROUPE_PROGRAM " bench --directory " + folder_
               + " --pattern echo --size 8 --rounds 3 --time 0.01 --json 2>/dev/null > " + path("a.json"));
  ASSERT_EQ(made.status, 0);
  const auto same = bench("diff " + path("a.json") + ' ' + path("a.json") + " --json --quantity rate,p50,max");
  EXPECT_EQ(same.status, 0) << same.text;
  expect_contains(same.text, "\"measurement\": \"echo unix typed 8 B\"");
}

TEST_F(load_command, refuses_what_cannot_be_and_says_why) {
  std::ofstream{path("mix")} << "64 1\n1Q 2\n";
  std::ofstream{path("none.json")} << "{}";
  const std::pair<std::string, const char*> wrong[] = {
      {"--to nonsense", "address \"nonsense\" is not supported"},
      {"--serve nonsense", "address \"nonsense\" is not supported"},
      {"--serve tcp://0.0.0.0:0", "can be reached from other hosts without authentication"},
      {"--to unix://@x --serve unix://@y", "excludes"},
      {"--to unix://@x --transport tcp", "excludes"},
      {"--serve unix://@x --family json", "excludes"},
      {"--rate 5", "--rate requires --to"},
      {"--to unix://@x --stall 1ms/1s", "--stall requires --serve"},
      {"--serve unix://@x --stall 2s/1s", "--stall: \"2s/1s\" cannot be"},
      {"--serve unix://@x --families pickle", "\"pickle\" is none of typed"},
      {"--to unix://@x --rate 5q", "--rate: \"5q\" is no rate"},
      {"--to unix://@x --arrivals bursts", "\"bursts\" is none of poisson, uniform"},
      {"--to unix://@x --pattern ring", "--pattern: with --to, echo or one-way"},
      {"--to unix://@x --pattern echo,one-way", "--pattern: with --to or --serve, one"},
      {"--to unix://@x --size 8,64", "--size: with --to, one size"},
      {"--to unix://@x --size 4", "--size: with --to, from 8 B to 64 MiB"},
      {"--to unix://@x --sizes " + path("mix"), "mix:2: \"1Q\" is no size"},
      {"--to unix://@x --sizes /nowhere", "/nowhere cannot be read: No such file"},
      {"--to unix://@x --limit 5ms", "--limit requires --find-knee"},
      {"--to unix://@x --hgrm /nowhere/a", "/nowhere/a cannot be written"},
      {"--to unix://@x --connections 0", "0 is not a whole number of 1 to 1,000"},
      {"merge " + path("none.json"), "none.json is no document of troupe bench --to"},
      {"merge /nowhere", "/nowhere cannot be read"},
      {"diff " + path("none.json") + " /nowhere", "none.json is no document of troupe bench"},
      {"diff /nowhere", "after is required"},
      {"diff a b --allow much", "--allow: \"much\" is no percentage"}};
  for (const auto& [arguments, why] : wrong) {
    const auto refused = bench(arguments);
    EXPECT_EQ(refused.status, 2) << arguments << '\n' << refused.text;
    expect_contains(refused.text, why);
  }
}

TEST_F(load_command, fails_if_there_is_no_sink) {
  const auto alone = bench("--to " + address());
  EXPECT_EQ(alone.status, 1);
  expect_contains(alone.text, "cannot connect to " + address());
  const program other{tests::options_of("other")};
  const auto at = other.home.addresses().front();
  const auto refused = bench("--to " + at);
  EXPECT_EQ(refused.status, 1);
  expect_contains(refused.text, at + " is no sink; start one there with: troupe bench --serve");
}

TEST_F(load_command, a_sink_at_a_unix_socket_serves_each_family) {
  serve({address()});
  const auto document = offer("--to " + address() + " --family caf --rate 300 --seconds 0.3 --warm-up 0");
  EXPECT_GT(document["rounds"][0]["answered"], 0);
}

TEST_F(load_command, a_sink_that_does_not_serve_a_family_says_how_it_would) {
  const auto at = serve({"tcp://127.0.0.1:0"});
  const auto refused = bench("--to " + at + " --family caf");
  EXPECT_EQ(refused.status, 1);
  expect_contains(refused.text, "does not serve caf, only typed, msgpack, json; start it with --families "
                                "typed,msgpack,json,caf");
}

TEST_F(load_command, has_examples_in_its_help) {
  const auto help = bench("--help").text;
  for (const auto* part : {"troupe bench --serve tls://0.0.0.0:4000",
                           "troupe bench --to tls://b:4000 --authority ca.pem", "troupe bench diff old.json new.json"})
    expect_contains(help, part);
  EXPECT_EQ(help.find("take-part"), std::string::npos) << "internal commands are not shown";
}

} // namespace

} // namespace troupe::tests
