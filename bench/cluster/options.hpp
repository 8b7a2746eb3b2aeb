// The benchmark's command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace bench {

struct cluster_bench_options {
  int rounds = 0; // 0: each question has its own number.
  std::vector<std::string> questions;
  std::vector<std::string> directories; // "host" and "etcd".
  std::chrono::seconds lease{3};        // Whole seconds, since etcd rounds up to them.
  std::uint64_t requests = 40'000;      // Of each kind of handle in a round.
  std::uint64_t nodes = 100;
  std::uint64_t processes = 10; // That the nodes are in.
  std::uint64_t members = 200;
  std::uint64_t names = 2'000;
  std::uint64_t entities = 100'000;
  std::uint64_t leases_at_rest = 10; // Duration of a measurement at rest, in leases.
  std::string etcd_program;
  std::string json_file; // Empty for no file.
  bool is_quick = false;
  bool has_to_meet_limits = false;   // Otherwise the limits are only shown.
  std::chrono::seconds deadline{60}; // For each step of a process.

  // In measured processes. `role` is empty in the measuring process.
  std::string role;
  std::string directory;
  std::uint64_t number = 0;
};

/// If the program has to end, fails with its exit status: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<cluster_bench_options, int>
read_cluster_bench_options(int argument_count, const char* const* arguments, const std::vector<std::string>& questions,
                           const std::vector<std::string>& roles);

} // namespace bench
