#include <troupe/framework/cluster/internal/host/lock_holders.hpp>

#include <troupe/base/text.hpp>
#include <troupe/framework/cluster/internal/host/process_identity.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace troupe::cluster_directories {

namespace {

struct held_lock {
  std::uint64_t process = 0;
  std::uint64_t inode = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Reads a line such as "1: POSIX  ADVISORY  WRITE 4711 fe:00:12345 120 120". Returns a lock of process 0 for others.
/// The device is not compared, since some file systems show another one there than stat() does.
held_lock read_line_of_locks(const std::string& line) {
  std::istringstream words{line};
  std::string number, kind, strictness, mode, file, end;
  held_lock lock;
  words >> number >> kind >> strictness >> mode >> lock.process >> file >> lock.first >> end;
  const auto inode_at = file.rfind(':');
  if (!words || kind != "POSIX" || inode_at == std::string::npos)
    return {};
  lock.inode = std::strtoull(file.c_str() + inode_at + 1, nullptr, 10);
  lock.last = end == "EOF" ? UINT64_MAX : std::strtoull(end.c_str(), nullptr, 10);
  return lock;
}

std::string shown_process(std::uint64_t number) {
  std::string name;
  std::getline(std::ifstream{"/proc/" + std::to_string(number) + "/comm"}, name);
  auto shown = "process " + std::to_string(number);
  if (!name.empty())
    shown += " (\"" + one_line(name, 32) + "\")";
  return state_of_process(number).letter == 'T' ? shown + ", which is stopped" : shown;
}

} // namespace

std::string lock_holders_of(const std::string& path, std::uint64_t first_byte, std::uint64_t last_byte) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return {};
  std::vector<std::uint64_t> holders;
  std::ifstream locks{"/proc/locks"};
  for (std::string line; std::getline(locks, line);) {
    const auto lock = read_line_of_locks(line);
    if (lock.process != 0 && lock.inode == status.st_ino && lock.first <= last_byte && lock.last >= first_byte
        && lock.process != static_cast<std::uint64_t>(::getpid())
        && std::ranges::find(holders, lock.process) == holders.end())
      holders.push_back(lock.process);
  }
  std::string shown;
  for (const auto holder : holders)
    shown += (shown.empty() ? "" : " and ") + shown_process(holder);
  return shown;
}

} // namespace troupe::cluster_directories
