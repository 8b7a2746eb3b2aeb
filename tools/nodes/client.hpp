// The links of the command to the nodes that it asks.
#pragma once

#include <troupe/framework/node.hpp>
#include <troupe/framework/node_report.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace troupe::tools {

/// Credentials and timeout for links to nodes.
struct access {
  credentials known_by;
  double timeout_seconds = 5;

  [[nodiscard]] std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds{static_cast<std::int64_t>(timeout_seconds * 1000)};
  }
};

/// Adds the options that TCP and TLS need.
void add_credentials(CLI::App& command, credentials& known);
/// Adds --timeout, and the same options.
void add_access(CLI::App& command, access& by);

/// The name of this command's own node, unique on this host.
[[nodiscard]] std::string observer_name();

/// Opens links from its own node. Threads: any. Lifetime: the links end with this object.
class client {
public:
  explicit client(const access& by);

  /// With an `identity`, the node there must prove it (link_options::peer_identity). Fails as node::connect() does, or
  /// with the reason why there is no node.
  [[nodiscard]] std::expected<link, node_error> connect(const std::string& address, const std::string& identity = {});
  [[nodiscard]] std::chrono::milliseconds timeout() const { return terms_.connect_timeout; }
  /// The command's own node. Fails with the reason why there is none.
  [[nodiscard]] std::expected<std::reference_wrapper<node>, node_error> own();

private:
  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  link_options terms_;
  std::optional<node> node_;
  std::string problem_;
};

/// The given addresses; if there are none, all of this user's nodes on this host. Fails as local_nodes() does.
[[nodiscard]] std::expected<std::vector<local_node>, node_error> nodes_at(const std::vector<std::string>& addresses);

/// Whether a node that was found on this host need not be reported: a process of another user made the socket of that
/// name, or the node has ended since it was found.
[[nodiscard]] bool is_none_of_ours(const local_node& node, const node_error& why_not);

/// The process, such as "1234", or the address if the process is unknown.
[[nodiscard]] std::string name_of(const local_node& node);

/// Calls `ask(i)` for each index below `count`, on up to 16 threads, so that an unresponsive node does not delay the
/// others. If the system refuses threads, uses fewer, or the caller's thread if there are none.
template <class Ask>
void ask_each(std::size_t count, Ask ask) {
  std::atomic<std::size_t> next{0};
  constexpr std::size_t askers_max = 16;
  const auto ask_some = [&] {
    for (auto mine = next++; mine < count; mine = next++)
      ask(mine);
  };
  std::vector<std::jthread> askers;
  try {
    for (std::size_t i = 0; i < std::min(askers_max, count); ++i)
      askers.emplace_back(ask_some);
  } catch (const std::system_error&) {
    if (askers.empty())
      ask_some();
  }
}

} // namespace troupe::tools
