#include "bench/workspace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>
#include <random>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/certificates/certificates.hpp>
#include <troupe/store/survey.hpp>

#include <sys/stat.h>
#include <unistd.h>

namespace troupe::tools {

namespace {

namespace files = std::filesystem;

[[nodiscard]] std::string prefix() {
  return fmt::format("troupe-bench-{}-", ::getuid());
}

/// Whether the folder belongs to a run of this user whose process has ended.
[[nodiscard]] bool is_left_over(const files::path& folder) {
  const auto name = folder.filename().string();
  if (!name.starts_with(prefix()))
    return false;
  pid_t process = 0;
  const auto* const end = name.data() + name.size();
  if (const auto read = std::from_chars(name.data() + prefix().size(), end, process); read.ptr != end || process <= 0)
    return false;
  struct stat seen {};
  return ::lstat(folder.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode) && seen.st_uid == ::getuid()
         && ::kill(process, 0) != 0 && errno == ESRCH;
}

void remove_left_over(const files::path& directory) {
  std::error_code ignored;
  std::vector<files::path> found;
  for (const auto& each : files::directory_iterator{directory, ignored})
    if (is_left_over(each.path()))
      found.push_back(each.path());
  for (const auto& each : found)
    files::remove_all(each, ignored);
}

/// The first number after `name` in a file of such lines.
[[nodiscard]] std::optional<std::size_t> number_in(const char* file, const std::string& name) {
  std::ifstream lines{file};
  std::string word;
  while (lines >> word)
    if (std::size_t value = 0; word == name && lines >> value)
      return value;
  return std::nullopt;
}

/// Memory left in the control group, counting reclaimable file cache as free; nullopt if there is no limit.
[[nodiscard]] std::optional<std::size_t> left_of_group() {
  struct group {
    const char* limit;
    const char* usage;
    const char* details;
    const char* reclaimable;
  };
  for (const auto& [limit, usage, details, reclaimable] :
       {group{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat",
              "inactive_file"},
        group{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
              "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"}}) {
    std::size_t most = 0;
    std::size_t used = 0;
    if (std::ifstream{limit} >> most && std::ifstream{usage} >> used) {
      used -= std::min(used, number_in(details, reclaimable).value_or(0));
      return most > used ? most - used : 0;
    }
  }
  return std::nullopt;
}

} // namespace

std::expected<workspace, std::string> workspace::make(const files::path& directory) {
  remove_left_over(directory);
  auto folder = directory / (prefix() + std::to_string(::getpid()));
  if (::mkdir(folder.c_str(), 0700) != 0)
    return std::unexpected{fmt::format("cannot make {}: {}", folder.string(), std::generic_category().message(errno))};
  workspace made{folder};
  std::random_device random; // Reads the system's own source of randomness.
  std::ofstream secret{folder / "secret"};
  for (int i = 0; i < 8; ++i)
    secret << fmt::format("{:08x}", random());
  secret.close();
  if (!secret || ::chmod((folder / "secret").c_str(), 0600) != 0)
    return std::unexpected{fmt::format("cannot write to {}", folder.string())};
  return made;
}

workspace::workspace(workspace&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}

workspace::~workspace() {
  std::error_code ignored;
  if (!folder_.empty())
    files::remove_all(folder_, ignored);
}

std::expected<void, std::string> workspace::make_certificate() const {
  using namespace std::chrono_literals;
  return certificates::make_self_signed(
      {.certificate = folder_ / "certificate.pem", .key = folder_ / "key.pem"},
      {.name = "troupe bench", .names = "IP:127.0.0.1", .is_authority = true, .since = 24h, .until = 24h});
}

std::expected<std::unique_ptr<new_store>, std::string> new_store::make(measurement& what) {
  std::unique_ptr<new_store> made{new new_store};
  if (!what.shares_store())
    return made;
  static int number = 0;
  what.store = fmt::format("bench-{}", number++);
  made->name_ = what.store;
  made->folder_ = what.folder;
  constexpr std::size_t least_bytes = 64_MiB;
  auto opened = store::object_store::open({.name = what.store,
                                           .capacity_bytes = what.store_bytes() + least_bytes,
                                           .objects_max = 65'536,
                                           .directory = what.folder});
  if (!opened)
    return std::unexpected{opened.error().message()};
  made->kept_open_.emplace(*std::move(opened));
  return made;
}

new_store::~new_store() {
  if (!kept_open_)
    return;
  kept_open_.reset();
  static_cast<void>(store::clean(name_, folder_)); // Finds nothing if all processes closed the store properly.
}

std::size_t free_memory_bytes() {
  const auto of_host = number_in("/proc/meminfo", "MemAvailable:").value_or(0) * 1024;
  return std::min(of_host, left_of_group().value_or(of_host));
}

std::string no_room_for(const measurement& what, const files::path& directory) {
  // Leave a tenth for everything else.
  const auto part = [](std::size_t all) { return all / 10 * 9; };
  const auto needed = what.memory_bytes();
  if (const auto free = free_memory_bytes(); needed > part(free))
    return fmt::format("{} needs about {} of memory, and {} are available; ask for smaller sizes{}", label_of(what),
                       text_of_size(needed), text_of_size(free),
                       what.far_ends() * what.near_ends() > 1 ? " or fewer --peers" : "");
  std::error_code error;
  const auto room = files::space(directory, error);
  if (error)
    return fmt::format("cannot use {}: {}", directory.string(), error.message());
  if (what.store_bytes() > part(room.available))
    return fmt::format("{} needs {} in {}, and {} are free there; ask for smaller sizes, another --directory, or "
                       "--spill never, by which everything goes through the socket",
                       label_of(what), text_of_size(what.store_bytes()), directory.string(),
                       text_of_size(room.available));
  return {};
}

} // namespace troupe::tools
