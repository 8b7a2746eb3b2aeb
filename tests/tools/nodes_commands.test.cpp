// `troupe links`, `troupe ping`, `troupe types` and `troupe top`, beside active nodes.
#include <troupe/base/version.hpp>

#include "command_support.hpp"

#include <caf/all.hpp>

#include <poll.h>
#include <pty.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace troupe::tests {

namespace {

/// Two nodes with a link that has carried messages.
struct talking {
  talking() {
    auto adder =
        to.system.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int x) { return x + 1; }}; });
    EXPECT_TRUE(to.home.publish("adder", adder));
    caf::scoped_actor self{from.system};
    for (int i = 0; i < 10; ++i)
      self->request(link.find("adder").value(), 10s, i).receive([](int) {}, [](const caf::error&) { FAIL(); });
  }

  static node_options listening() {
    auto options = options_of("hall");
    options.accepted_links.allow_report = true;
    return options;
  }
  static node_options dialing() {
    auto options = options_of("kitchen");
    options.listen = {};
    return options;
  }

  program to{listening()};
  program from{dialing()};
  troupe::link link{
      from.home.connect(to.home.addresses()[0], {.serializers = {"msgpack"}, .use_rings = false}).value()};
  std::string address{to.home.addresses()[0]};
};

const nlohmann::json* find_link(const nlohmann::json& node, const std::string& peer) {
  for (const auto& each : node["links"])
    if (each["peer"] == peer)
      return &each;
  return nullptr;
}

TEST(links_command, shows_the_links_of_this_hosts_nodes) {
  talking nodes;
  const auto text = run("links").text;
  EXPECT_EQ(text.find("troupe command"), text.npos) << text; // The command's own node.
  expect_contains(text, "hall, process " + own + ", troupe 0.1.0, up ");
  expect_contains(text, "kitchen, process " + own);
  expect_contains(text, "listens at " + nodes.address);
  expect_contains(text, "store \"troupe-command-" + own + "\": 0 objects");
  expect_contains(text, "unix, dialed");
  expect_contains(text, "round trip p50 / p99  handler p50 / p99");
  expect_contains(text, "s / "); // Times of the handler, or of the round trip at the other end.
  auto seen = false;
  for (const auto& node : run_json("links"))
    if (node.value("name", "") == "hall" && node["process"] == ::getpid()) {
      const auto* const link = find_link(node, "kitchen");
      ASSERT_NE(link, nullptr) << node;
      seen = true;
      EXPECT_EQ((*link)["transport"], "unix");
      EXPECT_EQ((*link)["dialed"], false);
      EXPECT_EQ((*link)["shares_store"], true);
      EXPECT_EQ((*link)["version"]["troupe"], TROUPE_VERSION);
      EXPECT_EQ((*link)["version"]["protocol"], 1);
      EXPECT_EQ((*link)["features"][0]["name"], "extensions");
      EXPECT_EQ((*link)["features"][0]["in_use"], true);
      EXPECT_EQ((*link)["deserializers"], nlohmann::json({"typed", "msgpack"}));
      EXPECT_EQ((*link)["stats"]["messages_received"], 10);
      EXPECT_EQ((*link)["stats"]["messages_sent"], 10);
      const auto& latencies = (*link)["stats"]["latencies"];
      EXPECT_EQ(latencies.size(), 5u);
      EXPECT_EQ(latencies["round_trip"]["count"], 0);
      EXPECT_EQ(latencies["handler"]["count"], 10);
      EXPECT_GT(latencies["handler"]["p99_ns"], 0);
      EXPECT_GE(latencies["handler"]["max_ns"], latencies["handler"]["p99_ns"]);
      ASSERT_GE(latencies["handler"]["buckets"].size(), 1u);
      EXPECT_EQ(latencies["handler"]["buckets"][0].size(), 2u);
    }
  EXPECT_TRUE(seen);
}

TEST(links_command, asks_at_addresses_and_says_who_does_not_answer) {
  talking nodes;
  const auto known = run_json("links " + nodes.address);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0]["name"], "hall");
  const auto some = run("links " + nodes.address + " unix://@nobody-is-here");
  EXPECT_EQ(some.status, 1);
  expect_contains(some.text, "hall, process ");
  expect_contains(some.text, "unix://@nobody-is-here does not answer: ");
}

TEST(links_command, is_refused_where_the_link_does_not_allow_it) {
  program shy{options_of("shy")};
  const auto refused = run("links " + shy.home.addresses()[0]);
  EXPECT_EQ(refused.status, 1);
  expect_contains(refused.text, "allow_report");
}

TEST(links_command, shows_nothing_that_a_terminal_would_obey) {
  auto options = options_of("evil");
  options.name = "red\x1b[31m\x07 \xc2\x9b";
  program here{options};
  const auto text = run("links").text;
  expect_contains(text, "red?[31m? ?, process ");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(ping_command, measures_round_trips) {
  talking nodes;
  const auto answer = run("ping " + nodes.address + " -c 3 --interval 0");
  EXPECT_EQ(answer.status, 0) << answer.text;
  expect_contains(answer.text, "is node \"hall\"; connected in ");
  expect_contains(answer.text, "answer 3: ");
  expect_contains(answer.text, "3 round trips: min ");
  const auto known = run_json("ping " + nodes.address + " -c 2 --interval 0");
  EXPECT_EQ(known["name"], "hall");
  ASSERT_EQ(known["round_trips_ms"].size(), 2u);
  EXPECT_GT(known["round_trips_ms"][0].get<double>(), 0);
  const auto absent = run("ping unix://@nobody-is-here");
  EXPECT_EQ(absent.status, 1);
  expect_contains(absent.text, "does not answer");
  EXPECT_EQ(run("ping").status, 2);
}

TEST(ping_command, gives_a_frozen_node_up) {
  other_process other{options_of("frozen")};
  other.stop();
  const auto answer = run("ping " + (*options_of("frozen").listen)[0] + " --timeout 0.3");
  EXPECT_EQ(answer.status, 1);
  expect_contains(answer.text, "does not answer");
  other.go_on();
}

TEST(nodes_commands, tell_what_is_no_address_from_a_node_that_does_not_answer) {
  for (const auto* const command : {"links", "ping", "types", "top --interval 0.1 --count 1"}) {
    EXPECT_EQ(run(std::string{command} + " kitchen:4711").status, 2) << command;
    EXPECT_EQ(run(std::string{command} + " unix://@nobody-is-here").status, 1) << command;
  }
  for (const auto* const command : {"ping", "types"})
    expect_contains(run(std::string{command} + " unix://@nobody-is-here --json").text, "\"answered\": false");
}

TEST(nodes_commands, make_no_secret_where_a_file_is_missing) {
  const auto path = std::string{"/tmp/troupe-no-secret-"} + std::to_string(::getpid());
  for (const auto* const option : {"--cookie-file ", "--secret-file ", "--authority ", "--certificate ", "--key "}) {
    const auto answer = run("ping tcp://127.0.0.1:9 " + (option + path));
    EXPECT_EQ(answer.status, 2) << option;
    expect_contains(answer.text, path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(contract_command, shows_what_two_nodes_would_refuse_of_each_other) {
  const auto listening = [](const std::string& name) {
    auto options = options_of(name);
    options.accepted_links.allow_report = true;
    return options;
  };
  program one{listening("one")};
  program other{listening("other")};
  const auto a = one.home.addresses().at(0);
  const auto b = other.home.addresses().at(0);
  const auto same = run("contract diff " + a + ' ' + b);
  EXPECT_EQ(same.status, 0) << same.text;
  expect_contains(same.text, a + ": Troupe " TROUPE_VERSION ", protocol 1.");
  expect_contains(same.text, "from " + a + " to " + b + ": nothing is refused\n");
  expect_contains(same.text, "from " + b + " to " + a + ": nothing is refused\n");

  const auto file = std::filesystem::temp_directory_path() / ("troupe-diff-" + std::to_string(::getpid()));
  std::ofstream(file) << "troupe contract 1\ntype \"moon\": text\n";
  const auto differs = run("contract diff " + a + ' ' + file.native());
  EXPECT_EQ(differs.status, 1) << differs.text;
  expect_contains(differs.text,
                  "from " + file.native() + " to " + a + ":\n  breaking: moon: the receiver does not know this type\n");
  const auto known = nlohmann::json::parse(
      run_line("{ " TROUPE_PROGRAM " contract diff " + a + " " + file.native() + " --json 2>/dev/null; }").text);
  EXPECT_EQ(known["refused_by_first"][0]["place"], "moon");
  EXPECT_EQ(known["second"]["where"], file.native());
  std::filesystem::remove(file);

  program shy{options_of("shy")};
  const auto refused = run("contract diff " + a + ' ' + shy.home.addresses().at(0));
  EXPECT_EQ(refused.status, 1);
  expect_contains(refused.text, "allow_report");
  const auto absent = run("contract diff " + a + " unix://@nobody-is-here");
  EXPECT_EQ(absent.status, 1);
  expect_contains(absent.text, "does not answer");
  EXPECT_EQ(run("contract diff " + a).status, 2);
}

TEST(types_command, prints_a_contract_that_can_be_checked) {
  talking nodes;
  const auto contract = run("types " + nodes.address);
  EXPECT_EQ(contract.status, 0);
  EXPECT_EQ(contract.text.rfind("troupe contract 1", 0), 0u) << contract.text.substr(0, 200);
  expect_contains(contract.text, "type \"test.ref\"");
  const auto known = run_json("types " + nodes.address);
  EXPECT_EQ(known["contract"], contract.text);
  EXPECT_EQ(known["name"], "hall");
  const auto checked =
      run("types " + nodes.address + " > /tmp/troupe-types-" + own
          + " && " TROUPE_PROGRAM " contract check /tmp/troupe-types-" + own + " /tmp/troupe-types-" + own);
  EXPECT_EQ(checked.status, 0) << checked.text;
  ::unlink(("/tmp/troupe-types-" + own).c_str());
}

TEST(top_command, prints_one_look_after_the_other_where_there_is_no_terminal) {
  talking nodes;
  const auto text = run("top " + nodes.address + " --count 2 --interval 0.1").text;
  expect_contains(text, "1 nodes, ");
  expect_contains(text, "hall, process " + own);
  expect_contains(text, "kitchen");
  expect_contains(text, "waiting");
  expect_contains(text, "trip p50 / p99");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(top_command, says_rates_as_lines_of_json) {
  talking nodes;
  std::jthread busy{[&](const std::stop_token& enough) {
    caf::scoped_actor self{nodes.from.system};
    const auto adder = nodes.link.find("adder").value();
    while (!enough.stop_requested())
      self->request(adder, 10s, 1).receive([](int) {}, [](const caf::error&) {});
  }};
  std::istringstream lines{run("top " + nodes.address + " --json --count 3 --interval 0.2").text};
  auto rates = 0.0;
  auto handlers_ns = 0.0;
  auto looks = 0;
  for (std::string line; std::getline(lines, line); ++looks) {
    const auto look = nlohmann::json::parse(line);
    EXPECT_GT(look["seconds"].get<double>(), 0.1);
    const auto* const link = find_link(look["nodes"][0], "kitchen");
    ASSERT_NE(link, nullptr) << line;
    rates += (*link)["rates"]["messages_in"].get<double>();
    handlers_ns += (*link)["rates"]["handler_p99_ns"].get<double>();
  }
  EXPECT_EQ(looks, 3);
  EXPECT_GT(rates, 0);
  EXPECT_GT(handlers_ns, 0);
}

/// The command in a terminal of 100 columns and 30 rows.
class in_terminal {
public:
  explicit in_terminal(const std::vector<std::string>& arguments) {
    winsize size{.ws_row = 30, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      std::vector<char*> all{const_cast<char*>(TROUPE_PROGRAM)};
      for (const auto& each : arguments)
        all.push_back(const_cast<char*>(each.c_str()));
      all.push_back(nullptr);
      ::execv(TROUPE_PROGRAM, all.data());
      ::_exit(127);
    }
  }
  in_terminal(const in_terminal&) = delete;
  in_terminal& operator=(const in_terminal&) = delete;
  ~in_terminal() {
    if (!has_ended_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(terminal_);
  }

  /// Returns true if the text appears within ten seconds, after the texts that were waited for before.
  bool shows(std::string_view text) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    for (;;) {
      if (const auto at = shown_.find(text, seen_); at != std::string::npos) {
        seen_ = at + text.size();
        return true;
      }
      pollfd ready{.fd = terminal_, .events = POLLIN, .revents = 0};
      if (std::chrono::steady_clock::now() > deadline || ::poll(&ready, 1, 100) < 0)
        return false;
      std::array<char, 4096> some{};
      if (ready.revents != 0) {
        const auto count = ::read(terminal_, some.data(), some.size());
        if (count <= 0)
          return shown_.find(text, seen_) != std::string::npos;
        shown_.append(some.data(), static_cast<std::size_t>(count));
      }
    }
  }
  void press(char key) { EXPECT_EQ(::write(terminal_, &key, 1), 1); }
  void resize(unsigned short columns) {
    winsize size{.ws_row = 30, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(terminal_, TIOCSWINSZ, &size);
  }
  void signal(int which) const { ::kill(pid_, which); }
  [[nodiscard]] termios mode() const {
    termios known{};
    ::tcgetattr(terminal_, &known);
    return known;
  }
  /// Returns the exit status, or -1 if the command has not exited normally within ten seconds.
  int status() {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    for (int ended = 0; std::chrono::steady_clock::now() < deadline; std::this_thread::sleep_for(5ms))
      if (::waitpid(pid_, &ended, WNOHANG) == pid_) {
        has_ended_ = true;
        return WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
      }
    return -1;
  }
  [[nodiscard]] const std::string& shown() const { return shown_; }

private:
  int terminal_ = -1;
  pid_t pid_ = 0;
  bool has_ended_ = false;
  std::string shown_;
  std::size_t seen_ = 0;
};

TEST(top_command, has_the_terminal_for_itself_and_gives_it_back) {
  talking nodes;
  in_terminal top{{"top", nodes.address, "--interval", "0.1"}};
  ASSERT_TRUE(top.shows("\x1b[?1049h")) << top.shown();
  EXPECT_TRUE(top.shows("troupe top")) << top.shown();
  EXPECT_TRUE(top.shows("by traffic")) << top.shown();
  EXPECT_TRUE(top.shows("kitchen")) << top.shown();
  EXPECT_TRUE(top.shows("q quits")) << top.shown();
  EXPECT_EQ(top.mode().c_lflag & (ICANON | ECHO), 0u);
  top.press('s');
  EXPECT_TRUE(top.shows("by waiting")) << top.shown();
  top.press(' ');
  EXPECT_TRUE(top.shows("PAUSED")) << top.shown();
  top.press(' ');
  top.resize(40);
  EXPECT_TRUE(top.shows("q quits, s sorts, space pauses, + and - \x1b")) << top.shown(); // Cut to 40 columns.
  top.press('q');
  EXPECT_TRUE(top.shows("\x1b[?25h\x1b[?1049l")) << top.shown();
  EXPECT_EQ(top.status(), 0);
  EXPECT_NE(top.mode().c_lflag & (ICANON | ECHO), 0u);
}

TEST(top_command, gives_the_terminal_back_when_it_is_told_to_end) {
  talking nodes;
  in_terminal top{{"top", nodes.address}};
  ASSERT_TRUE(top.shows("q quits")) << top.shown();
  top.signal(SIGTERM);
  EXPECT_TRUE(top.shows("\x1b[?1049l")) << top.shown();
  EXPECT_EQ(top.status(), 0);
}

TEST(top_command, goes_on_when_a_node_goes) {
  auto options = options_of("leaving");
  options.accepted_links.allow_report = true;
  auto node = std::make_unique<program>(options);
  const auto address = node->home.addresses()[0];
  in_terminal top{{"top", address, "--interval", "0.1"}};
  ASSERT_TRUE(top.shows("leaving, process ")) << top.shown();
  node.reset();
  EXPECT_TRUE(top.shows("does not answer")) << top.shown();
  node = std::make_unique<program>(options);
  EXPECT_TRUE(top.shows("leaving, process ")) << top.shown();
  top.press('q');
  EXPECT_EQ(top.status(), 0);
}

// -- help

TEST(help, every_command_tells_how_it_is_used) {
  const auto all = run("--help");
  EXPECT_EQ(all.status, 0);
  for (const auto* command : {"bench", "links", "memory", "ping", "store", "top", "types", "contract", "completion"}) {
    expect_contains(all.text, command);
    const auto one = run(std::string{command} + " --help");
    EXPECT_EQ(one.status, 0) << command;
    expect_contains(one.text, "Usage: ");
  }
  EXPECT_EQ(run("").status, 2);
  EXPECT_EQ(run("nonsense").status, 2);
}

TEST(help, bash_completes_commands_options_and_values) {
  const auto completes = [](const std::string& words, int at) {
    const auto script = "source <(" TROUPE_PROGRAM " completion bash); COMP_WORDS=(" + words
                        + "); COMP_CWORD=" + std::to_string(at) + "; _troupe; echo ${COMPREPLY[*]}";
    return run_line("bash -c '" + script + "'").text;
  };
  EXPECT_EQ(completes("troupe me", 1), "memory\n");
  EXPECT_EQ(completes("troupe store li", 2), "list\n");
  EXPECT_EQ(completes("troupe memory --gr", 2), "--group-by\n");
  EXPECT_EQ(completes("troupe memory --sort s", 3), "size\n");
  EXPECT_EQ(completes("troupe memory --group-by c", 3), "creator call-site\n");
  EXPECT_EQ(completes("troupe store list --sort \"\"", 4), "size age id creator\n");
  EXPECT_EQ(completes("troupe store list --st", 3), "--store\n");
  EXPECT_EQ(completes("troupe bench --compression l", 3), "lz4\n");
  EXPECT_EQ(completes("troupe bench --pattern fan", 3), "fan-in fan-out\n");
  EXPECT_EQ(completes("troupe bench ta", 2), "\n") << "what processes of the command are told is nobody's business";
  EXPECT_EQ(completes("troupe bench --dri", 2), "\n");
}

TEST(help, the_other_shells_have_scripts_too) {
  expect_contains(run("completion fish").text, "complete -c troupe -n '__troupe_is_at' -a memory");
  EXPECT_EQ(run("completion zsh").text.rfind("#compdef troupe", 0), 0u);
  EXPECT_EQ(run("completion tcsh").status, 2);
}

TEST(help, of_all_has_every_command_and_option) {
  const auto all = run("--help-all");
  EXPECT_EQ(all.status, 0);
  for (const auto* part : {"Usage: troupe [OPTIONS] SUBCOMMAND", "*troupe memory*", "*troupe store list*", "--group-by",
                           "  $ troupe bench --quick", "*troupe bench*", "\n\nUsage: troupe store list [OPTIONS]"})
    expect_contains(all.text, part);
}

#ifdef TROUPE_MAN_PAGE
TEST(help, the_man_page_has_every_command_and_option) {
  std::ifstream file{TROUPE_MAN_PAGE};
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  for (const auto* part :
       {".TH TROUPE \"1\"", "looks into what Troupe's programs do and share", ".SH \"TROUPE MEMORY\"",
        ".SH \"TROUPE STORE LIST\"", ".SH \"TROUPE BENCH\"", "$ troupe bench --quick", "\\fB\\-\\-group\\-by\\fR",
        ".SH \"EXIT STATUS\"", ".SH FILES", ".SH ENVIRONMENT"})
    expect_contains(page, part);
}
#endif

} // namespace

} // namespace troupe::tests
