// Requests to etcd's gateway.
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace troupe::cluster_directories {

/// A POST to the gateway.
struct etcd_request {
  std::string_view path; // Without the leading "/v3/". A literal.
  std::string body;      // JSON.
  /// Whether sending it a second time does no harm, even if the first one is still to be applied.
  bool is_repeatable = true;
};

/// The first key after all that begin with `prefix`; "\0", which etcd takes for the end of all keys, if there is none.
[[nodiscard]] std::string end_of_prefix(std::string_view prefix);

/// At most `limit` keys from `from` on, before `end`. `revision` 0 is the newest one.
[[nodiscard]] etcd_request range_request(std::string_view from, std::string_view end, std::size_t limit,
                                         std::uint64_t revision);

/// Each key of `conditions` and `writes` gets `prefix` in front.
/// Requires: leases of at most INT64_MAX.
[[nodiscard]] etcd_request txn_request(std::string_view prefix, std::span<const directory_condition> conditions,
                                       std::span<const directory_write> writes);

/// Requires: `id` is not 0. It makes the request repeatable.
[[nodiscard]] etcd_request grant_request(std::uint64_t id, std::chrono::seconds time);
[[nodiscard]] etcd_request keep_alive_request(std::uint64_t lease);
[[nodiscard]] etcd_request revoke_request(std::uint64_t lease);

/// Every change to keys that begin with `prefix`, from `first_revision` on.
[[nodiscard]] etcd_request watch_request(std::string_view prefix, std::uint64_t first_revision);

[[nodiscard]] etcd_request authenticate_request(std::string_view user, std::string_view password);
[[nodiscard]] etcd_request status_request();

} // namespace troupe::cluster_directories
