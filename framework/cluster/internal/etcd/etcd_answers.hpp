// Answers of etcd's gateway.
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cluster_directories {

/// What most answers begin with.
struct etcd_head {
  std::uint64_t cluster_id = 0;
  std::uint64_t revision = 0;
};

struct etcd_status {
  etcd_head head;
  std::string version; // As in "3.4.23".
};

struct etcd_range {
  etcd_head head;
  std::vector<directory_entry> entries; // With the prefix removed from their keys.
  bool has_more = false;
};

struct etcd_txn {
  etcd_head head;
  bool is_applied = false;
  std::vector<directory_entry> found;
};

struct etcd_lease {
  etcd_head head;
  std::uint64_t id = 0;
  std::chrono::seconds time{}; // 0 in the answer to a keep-alive of a lease that is gone.
};

struct etcd_revocation {
  etcd_head head;
};

/// One message of a watch.
struct etcd_watch_message {
  etcd_head head;
  std::vector<directory_change> changes;
  bool is_created = false;
  bool is_fragment = false; // More changes of the last revision may follow in the next message.
  bool is_cancelled = false;
  std::string reason;                   // If it is cancelled.
  std::uint64_t compacted_revision = 0; // If not 0: changes before it are gone.
};

/// A failure that etcd reports.
struct etcd_refusal {
  int code = 0; // gRPC's.
  std::string text;
};

/// Fails with what is wrong with the answer, in words that end a sentence.
template <class Answer>
using read_result = std::expected<Answer, std::string>;

/// The most that an answer nests, and the most values that it has; more is refused before it is read.
constexpr std::size_t answer_depth_max = 16;
constexpr std::size_t answer_values_max = 2'000'000;

[[nodiscard]] read_result<etcd_status> read_status(std::string_view body);
/// Each key must begin with `prefix`. Keys must rise.
[[nodiscard]] read_result<etcd_range> read_range(std::string_view body, std::string_view prefix);
[[nodiscard]] read_result<etcd_txn> read_txn(std::string_view body, std::string_view prefix);
[[nodiscard]] read_result<etcd_lease> read_grant(std::string_view body);
[[nodiscard]] read_result<etcd_lease> read_keep_alive(std::string_view body);
[[nodiscard]] read_result<etcd_revocation> read_revocation(std::string_view body);
[[nodiscard]] read_result<std::string> read_token(std::string_view body);
[[nodiscard]] read_result<etcd_watch_message> read_watch_message(std::string_view line, std::string_view prefix);
/// Of an answer or a message of a stream that reports a failure.
[[nodiscard]] read_result<etcd_refusal> read_refusal(std::string_view body);

} // namespace troupe::cluster_directories
