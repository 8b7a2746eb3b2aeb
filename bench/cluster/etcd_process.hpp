// An etcd of its own for a run, and what it counts.
#pragma once

#include "peers/own_folder.hpp"

#include <troupe/processes/process.hpp>

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace bench {

/// Requests that etcd has taken, by the names of gRPC's services and methods, such as "Lease/LeaseKeepAlive". A stream
/// counts as often as messages have come on it, at least once.
using etcd_requests = std::map<std::string, std::uint64_t>;

/// What has come between two counts. Methods without requests are left out.
[[nodiscard]] etcd_requests operator-(const etcd_requests& later, const etcd_requests& earlier);

/// "Lease/LeaseKeepAlive 90, KV/Txn 3", or "none".
[[nodiscard]] std::string text_of(const etcd_requests& counted);

/// Reads these counts from etcd's text of metrics.
[[nodiscard]] etcd_requests read_etcd_requests(const std::string& metrics);

/// Keys that etcd has written and removed.
struct etcd_writes {
  std::uint64_t puts = 0;
  std::uint64_t removals = 0;

  bool operator==(const etcd_writes&) const = default;
};

/// Reads these counts from etcd's text of metrics. Fails with a text if they are not in it.
[[nodiscard]] std::expected<etcd_writes, std::string> read_etcd_writes(const std::string& metrics);

/// One etcd with default times, on loopback ports that were free, with its data in a temporary folder. It ends with
/// this object, and if the thread that made it ends.
class etcd_process {
public:
  /// Waits until it answers. Fails with a text.
  [[nodiscard]] static std::expected<std::unique_ptr<etcd_process>, std::string> start(const std::string& program);

  /// The address of a directory below `prefix`.
  [[nodiscard]] std::string address(const std::string& prefix) const;
  [[nodiscard]] std::expected<etcd_requests, std::string> requests() const;
  [[nodiscard]] std::expected<etcd_writes, std::string> writes() const;

private:
  etcd_process() : folder_("troupe-bench-etcd") {}

  own_folder folder_; // Removed after the end of the process.
  std::uint16_t port_ = 0;
  std::optional<troupe::processes::process> process_;
};

} // namespace bench
