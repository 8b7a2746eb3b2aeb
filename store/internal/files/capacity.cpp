#include <troupe/store/internal/files/capacity.hpp>

#include <troupe/store/internal/table/layout.hpp>

#include <sys/statvfs.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace troupe::store::internal {

namespace {

/// The number in a file. Nullopt if there is none ("max"), or if it is so large that it means no limit.
[[nodiscard]] std::optional<std::uint64_t> number_in(const std::filesystem::path& path) {
  auto number = std::uint64_t{0};
  constexpr auto larger_than_any_memory = std::uint64_t{1} << 60;
  if (!(std::ifstream{path} >> number) || number > larger_than_any_memory)
    return std::nullopt;
  return number;
}

/// The value of a line "key value".
[[nodiscard]] std::uint64_t value_in(const std::filesystem::path& path, const std::string& wanted) {
  auto file = std::ifstream{path};
  auto key = std::string{};
  auto value = std::uint64_t{0};
  while (file >> key >> value)
    if (key == wanted)
      return value;
  return 0;
}

/// The folder of this process's control group: "0::/path" in version 2, "5:memory:/path" in version 1.
[[nodiscard]] std::filesystem::path group_path(std::string_view controllers, const std::filesystem::path& mount) {
  auto file = std::ifstream{"/proc/self/cgroup"};
  for (auto line = std::string{}; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == line.npos || std::string_view{line}.substr(first + 1, second - first - 1) != controllers)
      continue;
    auto inside = mount / std::filesystem::path{line.substr(second + 1)}.relative_path();
    auto failure = std::error_code{};
    return std::filesystem::exists(inside, failure) ? inside : mount; // A container sees its own group as the root.
  }
  return {};
}

/// Applies the tightest limit of the groups from `at` up to `root`.
void tighten(memory_facts& facts, std::filesystem::path at, const std::filesystem::path& root, const char* limit_file,
             const char* used_file, const char* reclaimable) {
  for (; !at.empty(); at = at.parent_path()) {
    if (const auto limit = number_in(at / limit_file)) {
      const auto used = number_in(at / used_file).value_or(0);
      const auto dropped = std::min(used, value_in(at / "memory.stat", reclaimable));
      const auto left = *limit - std::min(*limit, used - dropped);
      if (left < facts.cgroup_limit - std::min(facts.cgroup_limit, facts.cgroup_used)) {
        facts.cgroup_limit = *limit;
        facts.cgroup_used = used - dropped;
      }
    }
    if (at == root)
      return;
  }
}

} // namespace

std::uint64_t bytes_free(const struct ::statvfs& of) {
  return of.f_blocks == 0 ? no_limit : std::uint64_t{of.f_bavail} * of.f_frsize;
}

memory_facts memory_facts_of(const std::filesystem::path& directory) {
  auto facts = memory_facts{};
  struct sysinfo memory {};
  struct statvfs space {};
  if (::sysinfo(&memory) == 0)
    facts.total = static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit;
  if (::statvfs(directory.c_str(), &space) == 0)
    facts.free_in_directory = bytes_free(space);
  const auto root = std::filesystem::path{"/sys/fs/cgroup"};
  tighten(facts, group_path("", root), root, "memory.max", "memory.current", "inactive_file");
  tighten(facts, group_path("memory", root / "memory"), root / "memory", "memory.limit_in_bytes",
          "memory.usage_in_bytes", "total_inactive_file");
  return facts;
}

std::uint64_t default_capacity(const memory_facts& facts) {
  auto capacity = facts.total / 10 * 3;
  if (facts.free_in_directory != no_limit)
    capacity = std::min(capacity, facts.free_in_directory / 10 * 9);
  if (facts.cgroup_limit != no_limit)
    capacity = std::min(capacity, (facts.cgroup_limit - std::min(facts.cgroup_limit, facts.cgroup_used)) / 2);
  return std::max<std::uint64_t>(capacity / page_bytes * page_bytes, page_bytes);
}

} // namespace troupe::store::internal
