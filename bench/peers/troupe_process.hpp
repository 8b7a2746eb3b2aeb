// A process with a Troupe node, as the benchmarks open one.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <caf/actor_system.hpp>
#include <troupe/framework/node.hpp>

namespace bench {

/// In the process that measures, before it starts others: the two ends of a TCP link know each other by a secret of
/// this run, which they inherit. Without it they would share the user's cookie file, and leave one where there was
/// none.
void make_secret_of_this_run();

/// Where a node of this run listens, over unix sockets or on a TCP port that the system chooses.
[[nodiscard]] std::string unix_address();
[[nodiscard]] std::string tcp_address();
/// The same over unix sockets, with links through rings.
[[nodiscard]] std::string shm_address();

/// Whether a node counts and logs all that it can, or nothing.
enum class seeing { as_users_get_it, all, nothing };

/// All that one process needs, declared in the order that node.hpp asks for.
struct troupe_process {
  /// Without a store, unless told otherwise: what is measured goes through the socket, and a process may be killed
  /// without leaving a store behind. Requires: the message types are added.
  [[nodiscard]] std::expected<void, std::string> open(std::vector<std::string> listen,
                                                      std::optional<troupe::store::options> store = std::nullopt);

  /// Requires: open.
  [[nodiscard]] std::expected<troupe::link, std::string> dial(const std::string& address);

  /// Opens, and dials.
  [[nodiscard]] std::expected<troupe::link, std::string> connect(const std::string& address,
                                                                 std::vector<std::string> listen = {});

  seeing what = seeing::as_users_get_it;
  troupe::wait_mode wait = troupe::wait_mode::adaptive;
  std::size_t io_threads = 1;
  troupe::tls_options tls; // For addresses that begin with "tls://".

  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  std::optional<troupe::node> node;
};

} // namespace bench
