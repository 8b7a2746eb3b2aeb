// The part of `troupe bench` that serves and offers load: --serve, --to and `merge`.
#pragma once

#include "bench/answer.hpp"
#include "bench/request.hpp"

#include <memory>
#include <string>
#include <vector>

#include <troupe/framework/link_options.hpp>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace troupe::tools {

/// The options as the user wrote them. Those that the closed loop also has are in bench_request.
struct load_arguments {
  std::vector<std::string> serve;
  std::vector<std::string> to;
  struct credentials known_by = {};
  double timeout_seconds = 5;
  std::size_t io_threads = 1;

  std::vector<std::string> families{"typed", "msgpack", "json"};
  std::string stall;

  std::string rate = "1k";
  std::string arrivals = "poisson";
  double seconds = 0; // 0: not given.
  double warm_up_seconds = 1;
  std::size_t connections = 1;
  std::size_t outstanding = 100'000;
  std::string sizes_file;
  std::uint64_t seed = 1;
  bool is_late_allowed = false;
  bool finds_knee = false;
  std::string limit = "10ms";
  std::string hgrm_file;

  [[nodiscard]] bool is_given() const { return !serve.empty() || !to.empty(); }
};

/// Adds the options to the command of the closed loop. Call it after that has its own options.
void add_load_options(CLI::App& command, load_arguments& asked);

/// Adds `merge` to the command.
void add_merge_command(CLI::App& command, const answer_to& to);

/// Serves or offers load. `shared` has the options of the closed loop, of which `command` knows whether they were
/// given. Requires: asked.is_given().
void run_load(const load_arguments& asked, const bench_request& shared, const CLI::App& command, const answer_to& to);

} // namespace troupe::tools
