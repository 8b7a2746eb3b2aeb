// How much memory a store may take, and where.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

struct statvfs;

namespace troupe::store::internal {

inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// What is known of this host and of the container that the process runs in. Bytes.
struct memory_facts {
  std::uint64_t total = 0;             // Of the host.
  std::uint64_t free_in_directory = 0; // no_limit: its file system has no limit.
  std::uint64_t cgroup_limit = no_limit;
  std::uint64_t cgroup_used = 0; // Without what the system could drop at once.
};

/// What a file system has left for this user; no_limit: it has none.
[[nodiscard]] std::uint64_t bytes_free(const struct ::statvfs& of);

[[nodiscard]] memory_facts memory_facts_of(const std::filesystem::path& directory);

/// The least of 30 % of the memory, 90 % of what is free in the directory, and half of what the container may still
/// take: whole pages, at least one.
[[nodiscard]] std::uint64_t default_capacity(const memory_facts& facts);

} // namespace troupe::store::internal
