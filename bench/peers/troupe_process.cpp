#include "peers/troupe_process.hpp"

#include <cstdlib>
#include <random>
#include <utility>

#include <unistd.h>

namespace bench {

namespace {

/// In the environment, where other users cannot read it, as they can arguments.
constexpr const char* secret_variable = "TROUPE_BENCH_SECRET";

troupe::link_options link_of_this_run() {
  troupe::link_options options;
  if (const auto* secret = std::getenv(secret_variable))
    options.credentials.secret = secret;
  return options;
}

} // namespace

void make_secret_of_this_run() {
  std::random_device random; // The system's own source of randomness.
  std::string secret;
  for (int i = 0; i < 8; ++i)
    secret += std::to_string(random());
  ::setenv(secret_variable, secret.c_str(), 1);
}

std::string unix_address() {
  return "unix://@troupe-bench-" + std::to_string(::getpid());
}

std::string tcp_address() {
  return "tcp://127.0.0.1:0";
}

std::expected<void, std::string> troupe_process::open(std::vector<std::string> listen) {
  auto opened = troupe::node::open(
      system, types, families,
      {.name = "bench", .listen = std::move(listen), .accepted_links = link_of_this_run(), .store = std::nullopt});
  if (!opened)
    return std::unexpected{opened.error().message()};
  node.emplace(*std::move(opened));
  return {};
}

std::expected<troupe::link, std::string> troupe_process::connect(const std::string& address) {
  if (auto opened = open({}); !opened)
    return std::unexpected{std::move(opened).error()};
  auto link = node->connect(address, link_of_this_run());
  if (!link)
    return std::unexpected{link.error().message()};
  return *std::move(link);
}

} // namespace bench
