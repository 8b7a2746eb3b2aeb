// How the command reaches a cluster's directory.
#pragma once

#include <troupe/framework/cluster/cluster_observer.hpp>
#include <troupe/framework/cluster/directory.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <ostream>
#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace troupe::tools {

struct directory_access {
  std::string address;
  directory_options options;
  std::string password_file;
  double timeout_seconds = 5;

  [[nodiscard]] std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds{static_cast<std::int64_t>(timeout_seconds * 1000)};
  }
};

/// Adds --directory, --timeout, and the options that an etcd may need.
void add_directory_access(CLI::App& command, directory_access& by);

/// Opens the directory. Fails also if there is no address, or the password cannot be read.
[[nodiscard]] std::expected<std::shared_ptr<directory>, directory_error> open_directory_by(const directory_access& by);

/// Opens the directory, and follows it.
[[nodiscard]] std::expected<cluster_observer, directory_error> observe(const directory_access& by,
                                                                       cluster_observer::event_handler on_event = {});

/// Streams for the results and the errors, and the exit status.
struct cluster_answer {
  std::ostream& out;
  std::ostream& err;
  int& status;

  void fail(const std::string& why, int with = 1) const;
  /// The directory cannot be asked.
  void fail(const directory_access& by, const directory_error& why) const;
};

} // namespace troupe::tools
