// A member's figures about its cluster and its own part in it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe {

/// Requests of one kind to a directory, so far.
struct request_counts {
  std::uint64_t answered = 0; // Also commits whose conditions did not hold.
  std::uint64_t failed = 0;
};

/// The requests of one member to its directory (directory.hpp), by kind.
struct directory_requests {
  request_counts list = {};
  request_counts grant = {};
  request_counts keep_alive = {};
  request_counts revoke = {};
  request_counts commit = {};
  request_counts watch = {}; // Watches that were begun.
};

struct cluster_stats {
  // In the cluster, as this member knows it.
  std::size_t members = 0;
  std::size_t members_draining = 0;
  std::size_t names = 0;
  std::size_t singletons = 0;
  std::size_t shards = 0;

  // This member's own part, as the directory shows it.
  std::size_t names_published = 0;
  std::size_t singletons_owned = 0;
  std::size_t shards_owned = 0;
  bool is_draining = false;

  /// False while the directory does not answer.
  bool directory_is_up = false;
  /// For how long the directory is sure to keep this member's entries; 0 if it may have removed them.
  std::chrono::milliseconds lease_left{0};
  directory_requests requests = {};
  /// The number of texts that cluster::problems() has.
  std::size_t problems = 0;
};

} // namespace troupe
