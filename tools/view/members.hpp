// The members of a cluster, for `troupe view`.
#pragma once

#include "view/watched_nodes.hpp"

#include <troupe/framework/gateway/view.hpp>

#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace troupe::tools {

/// Which directory, and how it is asked.
struct directory_choice {
  std::string address; // Empty: no cluster is shown.
  std::string user;
  std::string password_file;
  std::string authority_file;
  std::string certificate_file;
  std::string key_file;
};

/// Adds --directory and the options that an etcd may need.
void add_directory_choice(CLI::App& command, directory_choice& by);

/// Follows the directory of a cluster.
///
/// Threads: any.
class members {
public:
  /// Fails with the reason why the directory cannot be asked.
  [[nodiscard]] static std::expected<std::shared_ptr<members>, std::string> open(const directory_choice& by);
  members() = default;
  members(const members&) = delete;
  members& operator=(const members&) = delete;
  virtual ~members() = default;

  /// What the directory says now.
  [[nodiscard]] virtual viewed_cluster now() const = 0;
  /// An address of each member that this host can reach: the first one that is not another process here. now() has the
  /// reason for each member that has none.
  [[nodiscard]] virtual std::vector<watched_address> addresses() const = 0;
};

} // namespace troupe::tools
