// The amount of memory that a store may take, and where.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

struct statvfs;

namespace troupe::store::internal {

inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// Memory of this host and of the process's container, in bytes.
struct memory_facts {
  std::uint64_t total = 0;             // Of the host.
  std::uint64_t free_in_directory = 0; // no_limit if the file system has no limit.
  std::uint64_t cgroup_limit = no_limit;
  std::uint64_t cgroup_used = 0; // Excludes memory that the system can reclaim at once.
};

/// Free bytes of a file system for this user; no_limit if it has no limit.
[[nodiscard]] std::uint64_t bytes_free(const struct ::statvfs& of);

[[nodiscard]] memory_facts memory_facts_of(const std::filesystem::path& directory);

/// The smallest of 30 % of the memory, 90 % of the free space in the directory and half of what the container may still
/// take. Whole pages, at least one.
[[nodiscard]] std::uint64_t default_capacity(const memory_facts& facts);

} // namespace troupe::store::internal
