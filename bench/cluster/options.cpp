#include "cluster/options.hpp"

#include <CLI/CLI.hpp>

namespace bench {

namespace {

constexpr int bad_cluster_arguments = 2;

} // namespace

std::expected<cluster_bench_options, int> read_cluster_bench_options(int argument_count, const char* const* arguments,
                                                                     const std::vector<std::string>& questions,
                                                                     const std::vector<std::string>& roles) {
  const std::vector<std::string> directories{"host", "etcd"};
  cluster_bench_options read{.etcd_program = TROUPE_BENCH_ETCD};
  CLI::App app{"Measures clusters: how soon a loss is noticed, what a service handle costs, joining, memory, the "
               "requests to etcd, and many entities",
               "cluster"};
  app.add_option("--rounds", read.rounds,
                 "Rounds of each question. Default: 10 of failover, 15 of service, 3 of join, memory and "
                 "entities, 1 of rest")
      ->check(CLI::Range(1, 1000));
  app.add_option("--questions", read.questions,
                 "Only these, separated by commas: " + CLI::detail::join(questions, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(questions));
  app.add_option("--directories", read.directories, "Only these, separated by commas: host, etcd")
      ->delimiter(',')
      ->check(CLI::IsMember(directories));
  std::int64_t lease = read.lease.count();
  auto* lease_option =
      app.add_option("--lease", lease, "Lease of the members of failover, rest and entities, in seconds")
          ->check(CLI::Range(2, 60))
          ->capture_default_str();
  auto* requests = app.add_option("--requests", read.requests, "Number of requests of each kind of handle in a round")
                       ->check(CLI::Range(1'000, 100'000'000))
                       ->capture_default_str();
  auto* nodes = app.add_option("--nodes", read.nodes, "Number of nodes that join at once")
                    ->check(CLI::Range(1, 1'000))
                    ->capture_default_str();
  auto* processes =
      app.add_option("--processes", read.processes, "Number of processes that these nodes are in, at most one for each")
          ->check(CLI::Range(1, 1'000))
          ->capture_default_str();
  app.add_option("--members", read.members, "Number of members with which memory is measured, beside 10")
      ->check(CLI::Range(20, 10'000))
      ->capture_default_str();
  auto* names = app.add_option("--names", read.names, "Number of names with which memory is measured, beside 10")
                    ->check(CLI::Range(20, 100'000))
                    ->capture_default_str();
  auto* entities = app.add_option("--entities", read.entities, "Number of entities on two members")
                       ->check(CLI::Range(20, 1'000'000))
                       ->capture_default_str();
  auto* rest =
      app.add_option("--leases-at-rest", read.leases_at_rest, "Duration of each measurement of rest, in leases")
          ->check(CLI::Range(1, 1'000))
          ->capture_default_str();
  app.add_option("--etcd", read.etcd_program, "The program etcd, as cmake/unpack-etcd leaves it")
      ->capture_default_str();
  app.add_option("--json", read.json_file, "Also writes the results to this file, one JSON object per line");
  app.add_flag("--quick", read.is_quick, "One small round: shows whether it works, not how fast it is");
  app.add_flag("--floors", read.has_to_meet_limits, "Status 1 if a limit is missed");
  std::int64_t deadline = read.deadline.count();
  app.add_option("--deadline", deadline, "Seconds after which a step that has not finished is abandoned")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  // For processes that the program starts itself.
  app.add_option("--be", read.role)->group("")->check(CLI::IsMember(roles));
  app.add_option("--directory", read.directory)->group("");
  app.add_option("--number", read.number)->group("");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return std::unexpected{app.exit(error) == 0 ? 0 : bad_cluster_arguments};
  }
  if (read.is_quick) {
    if (read.rounds == 0)
      read.rounds = 1;
    if (!*lease_option)
      lease = 2;
    if (!*requests)
      read.requests = 1'000;
    if (!*nodes)
      read.nodes = 6;
    if (!*processes)
      read.processes = 2;
    if (!*names)
      read.names = 200;
    if (!*entities)
      read.entities = 200;
    if (!*rest)
      read.leases_at_rest = 2;
  }
  read.lease = std::chrono::seconds{lease};
  read.deadline = std::chrono::seconds{deadline};
  read.processes = std::min(read.processes, read.nodes);
  if (read.questions.empty())
    read.questions = questions;
  if (read.directories.empty())
    read.directories = directories;
  return read;
}

} // namespace bench
