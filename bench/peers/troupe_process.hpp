// A process with a Troupe node, as the benchmarks open one.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <caf/actor_system.hpp>
#include <troupe/framework/node.hpp>

namespace bench {

/// For the measuring process, before it starts others: makes a secret of this run, which they inherit and by which the
/// two ends of a TCP link recognize each other. Without it, they would use the user's cookie file, and create it if
/// there is none.
void make_secret_of_this_run();

/// Addresses for nodes of this run: over unix sockets, or on a TCP port that the system chooses.
[[nodiscard]] std::string unix_address();
[[nodiscard]] std::string tcp_address();
/// Like unix_address(), with links through rings.
[[nodiscard]] std::string shm_address();

/// How much a node counts and logs.
enum class seeing { as_users_get_it, all, nothing };

/// Everything that a process with a node needs, declared in the order that node.hpp requires.
struct troupe_process {
  /// Opens the node. By default without a store: the measured bytes go through the socket, and a killed process leaves
  /// no store behind. Requires: the message types have been added.
  [[nodiscard]] std::expected<void, std::string> open(std::vector<std::string> listen,
                                                      std::optional<troupe::store::options> store = std::nullopt);

  /// Requires: the node is open.
  [[nodiscard]] std::expected<troupe::link, std::string> dial(const std::string& address);

  /// Opens the node and dials.
  [[nodiscard]] std::expected<troupe::link, std::string> connect(const std::string& address,
                                                                 std::vector<std::string> listen = {});

  seeing what = seeing::as_users_get_it;
  troupe::wait_mode wait = troupe::wait_mode::adaptive;
  std::size_t io_threads = 1;
  std::string tape;        // A file into which dialed links are recorded. Empty: they are not.
  troupe::tls_options tls; // For addresses that begin with "tls://".

  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  std::optional<troupe::node> node;
};

} // namespace bench
