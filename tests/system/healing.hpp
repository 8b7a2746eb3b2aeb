// What the tests of healing share with their processes.
#pragma once

#include <charconv>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <sys/un.h>

namespace troupe::tests {

/// Cuts this process's connections over unix sockets, as if the other ends had crashed. If `below` is not empty, cuts
/// only those to addresses that begin with it. Returns how many were cut.
inline std::size_t cut_sockets(const std::string& below) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    const auto name = entry.path().filename().string();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    sockaddr_un peer{};
    socklen_t size = sizeof peer;
    if (number <= 2 || ::getpeername(number, reinterpret_cast<sockaddr*>(&peer), &size) != 0
        || peer.sun_family != AF_UNIX)
      continue;
    const auto known = size > sizeof(sa_family_t) ? std::string_view{peer.sun_path} : std::string_view{};
    if (known.starts_with(below) && ::shutdown(number, SHUT_RDWR) == 0)
      ++count;
  }
  return count;
}

} // namespace troupe::tests
