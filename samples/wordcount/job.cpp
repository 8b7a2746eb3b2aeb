#include "job.hpp"

#include "console.hpp"
#include "coordinator.hpp"
#include "output_file.hpp"
#include "report.hpp"
#include "stop_signals.hpp"
#include "text_reader.hpp"
#include "worker_processes.hpp"

#include <troupe/troupe.hpp>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <expected>
#include <iterator>
#include <random>
#include <thread>
#include <utility>

namespace wordcount {

using namespace std::chrono_literals;

namespace {

constexpr auto worker_end_patience = 2s;
constexpr auto store_settle_patience = 2s;

int fail(const std::string& why) {
  std::fprintf(stderr, "wordcount: %s\n", why.c_str());
  return 1;
}

int end_by(int signal) {
  std::fprintf(stderr, "wordcount: ended by signal %d (%s)\n", signal, ::strsignal(signal));
  return 128 + signal; // As shells report it.
}

/// Raises the limit of open files to the maximum, because the walk keeps each folder on the way down open.
void allow_many_open_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0)
    return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

/// Families for the coordinator's end of all links: the general ones first, then those of single workers.
std::vector<std::string> families_of_all(const options& with) {
  auto families = with.families;
  for (const auto& [worker, others] : with.worker_families)
    std::ranges::copy_if(others, std::back_inserter(families),
                         [&](const auto& one) { return std::ranges::find(families, one) == families.end(); });
  return families;
}

std::vector<std::vector<std::string>> arguments_for_all(const options& with, const std::string& store_name) {
  std::vector<std::vector<std::string>> arguments;
  for (std::size_t number = 1; number <= with.workers; ++number)
    arguments.push_back(worker_arguments(with, {number, store_name}));
  return arguments;
}

/// 256 random bits.
std::string random_secret() {
  std::random_device random;
  std::string secret;
  for (int i = 0; i < 8; ++i)
    secret += fmt::format("{:08x}", random());
  return secret;
}

/// The address to listen at, and the workers' credentials. Over TCP the system chooses the port.
invitation plan_invitation(transport over, const std::string& name_of_run) {
  if (over == transport::tcp)
    return {.address = "tcp://127.0.0.1:0", .secret = random_secret()};
  return {.address = "unix://@troupe-" + name_of_run, .secret = {}};
}

/// Runs the coordinator, the reader and the workers until the job is over. When it returns, the actors, the node and
/// the links are gone.
job_result_ptr run_actors(const options& with, caf::actor_system& system, troupe::node node, invitation told,
                          worker_processes& workers, block_reader files, console& shown, const stop_signals& signals) {
  caf::scoped_actor self{system};
  const auto reader = system.spawn<text_reader, caf::detached>(node, std::move(files));
  const auto chief =
      system.spawn<coordinator>(coordinator::settings{with.workers, with.start_timeout}, reader, node, shown);
  [[maybe_unused]] const auto published = node.publish(coordinator_name, chief); // Cannot fail: the name is unused.
  auto asked = self->request(chief, caf::infinite, start_job{});
  told.address = node.addresses().front(); // Now with a port.
  workers.begin(told, [chief](std::size_t number, const std::string& how) {
    caf::anon_send(chief, worker_ended{number, how});
  });
  const signal_watch watch{signals, [chief](int signal) { caf::anon_send(chief, interrupted{signal}); }};

  job_result_ptr result;
  asked.receive([&](job_result_ptr& done) { result = std::move(done); },
                [&](const caf::error& why) { // The coordinator itself died unexpectedly.
                  auto failed = std::make_shared<job_result>();
                  failed->failure = "the coordinator ended: " + troupe::text_of(why);
                  result = std::move(failed);
                });
  self->send_exit(reader, caf::exit_reason::user_shutdown);
  self->wait_for(chief, reader);
  return result;
}

/// The result of a run and the state of the store after it.
struct outcome {
  job_result_ptr result;
  store_usage store;
};

/// The store's state. Waits a moment for objects that other processes are releasing.
store_usage usage_of(troupe::store::object_store& store) {
  const auto deadline = std::chrono::steady_clock::now() + store_settle_patience;
  for (;;) {
    const auto summary = store.summary();
    if (!summary)
      return {.name = summary.error().message(), .high_water_bytes = 0, .objects_left = 0};
    if (summary->objects == 0 || std::chrono::steady_clock::now() > deadline)
      return {summary->name, summary->high_water_bytes, summary->objects};
    std::this_thread::sleep_for(1ms);
  }
}

/// Runs the whole job. When it returns, the store and the socket are gone, whatever happens to this process later.
/// Fails with a text if the node cannot be opened.
std::expected<outcome, std::string> count(const options& with, const troupe::family_set& families, block_reader files,
                                          console& shown, const stop_signals& signals) {
  troupe::type_registry types;
  add_message_types(types);
  troupe::system_config config;
  caf::actor_system system{config};
  // The store and the socket are for this run only. The socket's name is not in the file system.
  const auto name = fmt::format("wordcount-{}-{:08x}", ::getpid(), std::random_device{}());
  const auto planned = plan_invitation(with.over, name);
  const troupe::store::options store_options{.name = name, .capacity_bytes = with.store_bytes};
  worker_processes workers{arguments_for_all(with, name)};
  auto node = troupe::node::open(system, types, families,
                                 {.name = "coordinator",
                                  .listen = {planned.address},
                                  .accepted_links = link_policy(families_of_all(with), planned.secret),
                                  .store = store_options});
  if (!node)
    return std::unexpected{node.error().message()};
  outcome over;
  {
    auto store = *node->store();
    over.result = run_actors(with, system, *std::move(node), planned, workers, std::move(files), shown, signals);
    over.store = usage_of(store);
  }
  // A worker that was killed while closing the store could not clean up. Opening the store again cleans up, and closing
  // it removes it.
  if (!workers.end(worker_end_patience)) {
    [[maybe_unused]] const auto cleared = troupe::store::object_store::open(store_options);
  }
  return over;
}

} // namespace

int run_job(const options& with, const troupe::family_set& families) {
  const stop_signals signals;
  std::signal(SIGPIPE, SIG_IGN); // A pipe whose reader is gone must not prevent the cleanup.
  allow_many_open_files();
  console shown;
  auto walk = folder_walk::open(with.folder, [&shown](const std::string& problem) { shown.note(problem); });
  if (!walk)
    return fail(walk.error());
  const auto over = count(with, families, block_reader{*std::move(walk), with.block_bytes}, shown, signals);
  if (!over)
    return fail(over.error());
  const auto& [result, store] = *over;
  if (result->signal != 0)
    return end_by(result->signal);
  if (!result->failure.empty())
    return fail(result->failure);
  if (const auto starved = result->problems.starved; starved > 0)
    return fail(fmt::format("{} files or folders were not read for lack of descriptors or memory, so that the counts "
                            "would be wrong; raise the limit (ulimit -n)",
                            starved));

  // Everything is cleaned up. From here on, Control-C ends the process even if it waits, for example for a pipe's
  // reader.
  std::signal(SIGPIPE, SIG_DFL);
  signals.end_process();
  if (with.output)
    if (const auto written = write_output(*with.output, result->totals); !written)
      return fail(written.error());
  const auto text = report(*result, with, store);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return fail(std::string{"cannot write the report: "} + std::strerror(errno));
  return 0;
}

} // namespace wordcount
