#include <troupe/framework/internal/workers/memory_group.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

constexpr std::string_view group_prefix = "troupe-worker-";

std::string text_of_error(int error) {
  return std::generic_category().message(error);
}

std::string text_in(const std::string& path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool has_word(const std::string& text, std::string_view wanted) {
  std::istringstream words{text};
  for (std::string word; words >> word;)
    if (word == wanted)
      return true;
  return false;
}

/// Writes as one write, which these files need. Returns the error, or 0.
int write_to(const std::string& path, std::string_view text) {
  const auto file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return errno;
  const auto error = ::write(file, text.data(), text.size()) < 0 ? errno : 0;
  ::close(file);
  return error;
}

/// The value behind `key` in a file of lines "key value".
std::uint64_t value_in(const std::string& path, std::string_view key) {
  std::ifstream file{path};
  std::string word;
  for (std::uint64_t value = 0; file >> word >> value;)
    if (word == key)
      return value;
  return 0;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// This process's path within the hierarchy of `controller`; "" is that of v2. nullptr-like empty result: none.
std::string path_within(std::string_view groups, std::string_view controller) {
  for (const auto& line : split(groups, '\n')) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    const auto controllers = split(std::string_view{line}.substr(first + 1, second - first - 1), ',');
    if (std::ranges::find(controllers, controller) != controllers.end())
      return line.substr(second + 1);
  }
  return {};
}

/// The folder of the group `path` in the mounted hierarchy; empty if that is not mounted.
std::string mounted_folder(std::string_view mounts, std::string_view type, std::string_view option,
                           const std::string& path) {
  for (const auto& line : split(mounts, '\n')) {
    const auto words = split(line, ' '); // proc(5): root and mount point are the fourth and fifth word.
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 5 || words.end() - dash < 4 || dash[1] != type)
      continue;
    const auto options = split(dash[3], ',');
    if (!option.empty() && std::ranges::find(options, option) == options.end())
      continue;
    const auto& root = words[3];
    if (root == "/")
      return words[4] + (path == "/" ? "" : path);
    if (path == root || path.starts_with(root + '/')) // In a container that shows only a part of the hierarchy.
      return words[4] + path.substr(root.size());
    return words[4];
  }
  return {};
}

/// Removes the groups whose owners have died.
void sweep(const std::string& parent) {
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator{parent, ignored}) {
    const auto path = each.path().string();
    if (!each.path().filename().string().starts_with(group_prefix))
      continue;
    const auto folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
      continue;
    if (::flock(folder, LOCK_EX | LOCK_NB) == 0)
      ::rmdir(path.c_str()); // Fails while processes live in it.
    ::close(folder);
  }
}

/// Whether the open folder still has that path.
bool is_there(const std::string& path, int folder) {
  struct stat named {};
  struct stat open {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(folder, &open) == 0 && named.st_ino == open.st_ino
         && named.st_dev == open.st_dev;
}

std::unexpected<node_error> no_group(std::uint64_t bytes_max, const std::string& why) {
  return fail(node_errc::unsupported,
              "memory_bytes of a worker is " + grouped(bytes_max) + ", but the system cannot limit it: " + why);
}

std::string fresh_group_name() {
  static std::atomic<std::uint64_t> next{0};
  return std::string{group_prefix} + std::to_string(::getpid()) + '-' + std::to_string(++next);
}

} // namespace

std::expected<group_folder, std::string> own_memory_group(std::string_view groups, std::string_view mounts) {
  if (const auto path = path_within(groups, "memory"); !path.empty()) {
    if (auto folder = mounted_folder(mounts, "cgroup", "memory", path); !folder.empty())
      return group_folder{std::move(folder), false};
    return std::unexpected{"this process is in the memory group " + path + " (cgroup v1), which is not mounted"};
  }
  const auto path = path_within(groups, "");
  if (path.empty())
    return std::unexpected{std::string{"this process is in no control group"}};
  if (auto folder = mounted_folder(mounts, "cgroup2", "", path); !folder.empty())
    return group_folder{std::move(folder), true};
  return std::unexpected{"this process is in the control group " + path + ", which is not mounted"};
}

std::expected<memory_group, node_error> memory_group::make(std::uint64_t bytes_max) {
  const auto own = own_memory_group(text_in("/proc/self/cgroup"), text_in("/proc/self/mountinfo"));
  if (!own)
    return no_group(bytes_max, own.error());
  if (own->is_v2 && !has_word(text_in(own->path + "/cgroup.subtree_control"), "memory"))
    if (const auto error = write_to(own->path + "/cgroup.subtree_control", "+memory"); error != 0)
      return no_group(bytes_max, "groups below " + own->path + " have no memory limit, because writing \"+memory\" to "
                                     + "its cgroup.subtree_control fails: " + text_of_error(error)
                                     + "; the group must be delegated to this user, and with cgroup v2 only a group "
                                       "without processes of its own can have it");
  sweep(own->path);
  memory_group made{bytes_max};
  if (const auto problem = made.take_fresh_folder(*own); !problem.empty())
    return no_group(bytes_max, problem);
  const auto& path = made.folder_.path;
  const auto limit = path + (own->is_v2 ? "/memory.max" : "/memory.limit_in_bytes");
  if (const auto error = write_to(limit, std::to_string(bytes_max)); error != 0)
    return no_group(bytes_max, limit + " cannot be written: " + text_of_error(error));
  // Without these, the limit moves pages to the swap, or kills only one process of the group. Not all systems have
  // them.
  if (own->is_v2) {
    write_to(path + "/memory.swap.max", "0");
    write_to(path + "/memory.oom.group", "1");
  } else {
    write_to(path + "/memory.memsw.limit_in_bytes", std::to_string(bytes_max));
  }
  made.entry_ = ::open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
  if (made.entry_ < 0)
    return no_group(bytes_max, path + "/cgroup.procs cannot be written: " + text_of_error(errno));
  return made;
}

/// Another process may sweep the new folder before it is locked. Then the next one is tried. Returns the problem, if
/// any.
std::string memory_group::take_fresh_folder(const group_folder& parent) {
  constexpr int tries_max = 20;
  for (int tries = 0; tries < tries_max; ++tries) {
    const auto path = parent.path + '/' + fresh_group_name();
    if (::mkdir(path.c_str(), 0755) != 0)
      return path + " cannot be made: " + text_of_error(errno);
    const auto lock = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0 && is_there(path, lock)) {
      folder_ = {path, parent.is_v2};
      lock_ = lock;
      return {};
    }
    if (lock >= 0)
      ::close(lock);
    ::rmdir(path.c_str());
  }
  return "other processes have removed each group that was made below " + parent.path;
}

memory_group::memory_group(memory_group&& other) noexcept
    : bytes_max_(other.bytes_max_),
      folder_(std::exchange(other.folder_, {})),
      lock_(std::exchange(other.lock_, -1)),
      entry_(std::exchange(other.entry_, -1)) {}

memory_group& memory_group::operator=(memory_group&& other) noexcept {
  std::swap(bytes_max_, other.bytes_max_);
  std::swap(folder_, other.folder_);
  std::swap(lock_, other.lock_);
  std::swap(entry_, other.entry_);
  return *this;
}

memory_group::~memory_group() {
  if (entry_ >= 0)
    ::close(entry_);
  constexpr int tries_max = 50;
  for (int tries = 0; !folder_.path.empty() && tries < tries_max; ++tries) {
    if (::rmdir(folder_.path.c_str()) == 0 || errno != EBUSY)
      break;
    kill_all();
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  if (lock_ >= 0)
    ::close(lock_);
}

std::uint64_t memory_group::killed_for_memory() const {
  return value_in(folder_.path + (folder_.is_v2 ? "/memory.events" : "/memory.oom_control"), "oom_kill");
}

void memory_group::kill_all() const {
  if (folder_.is_v2 && write_to(folder_.path + "/cgroup.kill", "1") == 0) // Since Linux 5.14.
    return;
  std::ifstream members{folder_.path + "/cgroup.procs"};
  for (pid_t each = 0; members >> each;)
    if (each > 0) // 0: a process of another pid namespace.
      ::kill(each, SIGKILL);
}

} // namespace troupe::internal
