#include <troupe/framework/cluster/internal/host/forking.hpp>

#include <atomic>

#include <unistd.h>

namespace troupe::cluster_directories {

namespace {

// Lock-free, so that a fork finds them usable at any time.
std::atomic<pid_t> counting_process{0};
std::atomic<int> open_databases{0};

} // namespace

open_database_count::open_database_count() {
  counting_process = ::getpid();
  ++open_databases;
}

open_database_count::~open_database_count() {
  --open_databases;
}

std::optional<pid_t> open_database_count::forked_from() {
  const auto process = counting_process.load();
  if (open_databases.load() == 0 || process == ::getpid())
    return std::nullopt;
  return process;
}

} // namespace troupe::cluster_directories
