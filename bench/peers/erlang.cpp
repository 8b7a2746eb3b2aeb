#include "peers/erlang.hpp"

#include <troupe/processes/process.hpp>

#include <sstream>
#include <utility>

namespace bench {

namespace {

using troupe::processes::lines;
using troupe::processes::process;

// The near node is sent "one-way COUNT", "echo COUNT WINDOW" or "hand-over COUNT BYTES". It answers "took
// NANOSECONDS...".

/// Starts a node of our own, which needs no epmd and leaves no files behind, such as a cookie or a dump.
std::expected<process, std::string> start_node(const char* function) {
  return process::start({.program = TROUPE_BENCH_ERL,
                         .words = {"erl",
                                   "-noshell",
                                   "-boot",
                                   "no_dot_erlang",
                                   "-pa",
                                   TROUPE_BENCH_ERLANG_FOLDER,
                                   "-nocookie",
                                   "-start_epmd",
                                   "false",
                                   "-epmd_module",
                                   "troupe_bench_erlang",
                                   "-kernel",
                                   "inet_dist_use_interface",
                                   "{127,0,0,1}",
                                   "-env",
                                   "ERL_CRASH_DUMP_SECONDS",
                                   "0",
                                   "-run",
                                   "troupe_bench_erlang",
                                   function},
                         .input = lines{},
                         .output = lines{}});
}

/// Returns the rest of the node's next line after `begin`. Fails if the line begins differently.
std::expected<std::string, std::string> listen(process& node, std::string_view begin) {
  const auto line = node.channel().read_line();
  if (!line)
    return std::unexpected{"the program has ended: " + node.channel().received()};
  if (!line->starts_with(begin))
    return std::unexpected{"Erlang says: " + *line};
  return line->substr(begin.size());
}

/// Serves until standard input ends, and then ends the node.
std::expected<void, std::string> serve_erlang(const ready_report& ready) {
  auto node = start_node("far");
  if (!node)
    return std::unexpected{std::move(node).error()};
  const auto port = listen(*node, "ready ");
  if (!port)
    return std::unexpected{port.error()};
  ready(*port);
  wait_for_end_of_input();
  return {};
}

class erlang_near_end : public near_end {
public:
  explicit erlang_near_end(process node) : node_(std::move(node)) {}

  std::expected<void, std::string> connect(const std::string& port) {
    node_.channel().write_line(port);
    if (const auto ready = listen(node_, "ready"); !ready)
      return std::unexpected{ready.error()};
    return {};
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    return first(ask("one-way " + std::to_string(count), 1));
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    auto took = ask("echo " + std::to_string(count) + ' ' + std::to_string(window), window == 1 ? count + 1 : 1);
    if (took && round_trips != nullptr)
      round_trips->insert(round_trips->end(), took->begin() + 1, took->end());
    return first(std::move(took));
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    return ask("hand-over " + std::to_string(count) + ' ' + std::to_string(size_bytes), count);
  }

private:
  std::expected<std::vector<seconds>, std::string> ask(const std::string& what, std::size_t answers) {
    node_.channel().write_line(what);
    const auto line = listen(node_, "took");
    if (!line)
      return std::unexpected{line.error()};
    std::vector<seconds> took;
    std::istringstream words{*line};
    for (std::int64_t one = 0; words >> one;)
      took.emplace_back(std::chrono::nanoseconds{one});
    if (took.size() != answers)
      return std::unexpected{"Erlang gave " + std::to_string(took.size()) + " times instead of "
                             + std::to_string(answers)};
    return took;
  }

  static std::expected<seconds, std::string> first(std::expected<std::vector<seconds>, std::string> took) {
    if (!took)
      return std::unexpected{std::move(took).error()};
    return took->front();
  }

  process node_;
};

std::expected<std::unique_ptr<near_end>, std::string> connect_erlang(const std::string& address) {
  auto node = start_node("near");
  if (!node)
    return std::unexpected{std::move(node).error()};
  auto near = std::make_unique<erlang_near_end>(*std::move(node));
  if (auto connected = near->connect(address); !connected)
    return std::unexpected{std::move(connected).error()};
  return near;
}

} // namespace

subject erlang_tcp() {
  return {"erlang-tcp", serve_erlang, connect_erlang};
}

} // namespace bench
