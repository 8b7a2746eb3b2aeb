#include "cluster/options.hpp"

#include "harness/command_line.hpp"

#include <algorithm>

namespace bench {

std::expected<cluster_bench_options, int> read_cluster_bench_options(int argument_count, const char* const* arguments,
                                                                     const std::vector<std::string>& questions,
                                                                     const std::vector<std::string>& roles) {
  cluster_bench_options read{.etcd_program = TROUPE_BENCH_ETCD};
  command_line line{"Measures clusters: how soon a loss is noticed, what a service handle costs, joining, memory, the "
                    "requests to etcd, and many entities",
                    "cluster"};
  line.app()
      .add_option("--rounds", read.rounds,
                  "Rounds of each question. Default: 10 of failover, 15 of service, 3 of join, memory and "
                  "entities, 1 of rest")
      ->check(CLI::Range(1, 1000));
  line.add_choice("--questions", read.questions, questions);
  line.add_choice("--directories", read.directories, {"host", "etcd"});
  line.add_seconds("--lease", read.lease, CLI::Range(2, 60),
                   "Lease of the members of failover, rest and entities, in seconds", std::chrono::seconds{2});
  line.add_number("--requests", read.requests, CLI::Range(1'000, 100'000'000),
                  "Number of requests of each kind of handle in a round", 1'000);
  line.add_number("--nodes", read.nodes, CLI::Range(1, 1'000), "Number of nodes that join at once", 6);
  line.add_number("--processes", read.processes, CLI::Range(1, 1'000),
                  "Number of processes that these nodes are in, at most one for each", 2);
  line.add_number("--members", read.members, CLI::Range(20, 10'000),
                  "Number of members with which memory is measured, beside 10");
  line.add_number("--names", read.names, CLI::Range(20, 100'000),
                  "Number of names with which memory is measured, beside 10", 200);
  line.add_number("--entities", read.entities, CLI::Range(20, 1'000'000), "Number of entities on two members", 200);
  line.add_number("--leases-at-rest", read.leases_at_rest, CLI::Range(1, 1'000),
                  "Duration of each measurement of rest, in leases", 2);
  line.app()
      .add_option("--etcd", read.etcd_program, "The program etcd, as cmake/unpack-etcd leaves it")
      ->capture_default_str();
  line.add_json(read.json_file);
  line.add_quick(read.is_quick, "One small round: shows whether it works, not how fast it is");
  line.add_floors(read.has_to_meet_limits);
  line.add_deadline(read.deadline, "Seconds after which a step that has not finished is abandoned");
  line.add_hidden("--be", read.role)->check(CLI::IsMember(roles));
  line.add_hidden("--directory", read.directory);
  line.add_hidden("--number", read.number);
  if (const auto done = line.read(argument_count, arguments); !done)
    return std::unexpected{done.error()};
  if (read.is_quick && read.rounds == 0)
    read.rounds = 1;
  read.processes = std::min(read.processes, read.nodes);
  return read;
}

} // namespace bench
