#include "peers/troupe_process.hpp"

#include <cstdlib>
#include <random>
#include <utility>

#include <troupe/framework/log.hpp>

#include <unistd.h>

namespace bench {

namespace {

/// The secret is in the environment, because other users can read arguments but not the environment.
constexpr const char* secret_variable = "TROUPE_BENCH_SECRET";

troupe::link_options link_of_this_run(const troupe_process& process) {
  troupe::link_options options;
  options.wait = process.wait;
  options.credentials.tls = process.tls;
  if (const auto* secret = std::getenv(secret_variable))
    options.credentials.secret = secret;
  return options;
}

} // namespace

void make_secret_of_this_run() {
  std::random_device random; // Reads the system's own source of randomness.
  std::string secret;
  for (int i = 0; i < 8; ++i)
    secret += std::to_string(random());
  ::setenv(secret_variable, secret.c_str(), 1);
}

std::string unix_address() {
  return "unix://@troupe-bench-" + std::to_string(::getpid());
}

std::string shm_address() {
  return "shm://@troupe-bench-" + std::to_string(::getpid());
}

std::string tcp_address() {
  return "tcp://127.0.0.1:0";
}

std::expected<void, std::string> troupe_process::open(std::vector<std::string> listen,
                                                      std::optional<troupe::store::options> store) {
  if (what == seeing::all)
    troupe::set_log_sink([](troupe::log_level, std::string_view) {}); // Messages are formatted but not shown.
  if (what != seeing::as_users_get_it)
    troupe::set_log_threshold(what == seeing::all ? troupe::log_level::debug : troupe::log_level::off);
  auto opened = troupe::node::open(system, types, families,
                                   {.name = "bench",
                                    .listen = std::move(listen),
                                    .accepted_links = link_of_this_run(*this),
                                    .store = std::move(store),
                                    .io_threads = io_threads,
                                    .detailed_stats = what != seeing::nothing});
  if (!opened)
    return std::unexpected{opened.error().message()};
  node.emplace(*std::move(opened));
  return {};
}

std::expected<troupe::link, std::string> troupe_process::dial(const std::string& address) {
  auto options = link_of_this_run(*this);
  options.recording.file = tape;
  options.recording.file_bytes = 16ULL << 30; // More than a run records.
  auto link = node->connect(address, options);
  if (!link)
    return std::unexpected{link.error().message()};
  return *std::move(link);
}

std::expected<troupe::link, std::string> troupe_process::connect(const std::string& address,
                                                                 std::vector<std::string> listen) {
  if (auto opened = open(std::move(listen)); !opened)
    return std::unexpected{std::move(opened).error()};
  return dial(address);
}

} // namespace bench
