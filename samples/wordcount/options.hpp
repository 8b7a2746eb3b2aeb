// The command line.
#pragma once

#include "fault.hpp"

#include <troupe/serializers/family.hpp>

#include <chrono>
#include <cstddef>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wordcount {

/// The transport of the workers' links.
enum class transport { unix_socket, tcp };

/// The name on the command line and in the report.
[[nodiscard]] std::string to_string(transport of);

/// The arguments of a worker that are known before there is a store or an address to dial.
struct worker_assignment {
  std::size_t number = 0; // Starts at 1.
  std::string store;      // The name of the store that will hold the text.
};

struct options {
  std::string folder = "/usr/include";
  std::size_t workers = 1;
  std::vector<std::string> families = {"typed", "msgpack"};             // For links without an entry below.
  std::map<std::size_t, std::vector<std::string>> worker_families = {}; // By worker number.
  transport over = transport::unix_socket;
  std::size_t top = 20;
  std::optional<std::string> output = {};

  // Hidden from the help.
  std::size_t block_bytes = 4 << 20;
  std::size_t store_bytes = 0; // 0 means the store's own default.
  std::chrono::seconds start_timeout{10};
  std::map<std::size_t, fault> faults = {};         // By worker number.
  std::optional<worker_assignment> assignment = {}; // Set in worker processes only.

  [[nodiscard]] const std::vector<std::string>& families_of(std::size_t worker) const;
};

/// Reads the command line. If there is nothing to run, shows help or the mistake and returns the exit status as the
/// error.
[[nodiscard]] std::expected<options, int> read_options(int argc, const char* const* argv,
                                                       const troupe::family_set& known_families);

/// The arguments with which the coordinator starts a worker. read_options() turns them into an assignment again. All
/// users of the host can read them.
[[nodiscard]] std::vector<std::string> worker_arguments(const options& job, const worker_assignment& assignment);

} // namespace wordcount
