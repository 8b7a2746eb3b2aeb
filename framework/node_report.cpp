#include <troupe/framework/node_report.hpp>

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <map>
#include <span>

#include <troupe/framework/internal/net/local_query_name.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>

namespace troupe {

namespace internal {

std::string local_query_prefix() {
  return "troupe-inspection-" + std::to_string(::geteuid()) + '-';
}

std::string fresh_local_query_address() {
  return "unix://@" + local_query_prefix() + std::to_string(::getpid()) + '-' + std::to_string(random_number());
}

} // namespace internal

std::expected<std::vector<local_node>, node_error> local_nodes() {
  std::ifstream sockets{"/proc/net/unix"};
  if (!sockets)
    return std::unexpected{node_error{node_errc::unsupported, "/proc/net/unix cannot be read, which lists the sockets "
                                                              "of this host; name the nodes by their addresses"}};
  const auto beginning = '@' + internal::local_query_prefix();
  std::map<std::string, std::uint32_t> found; // The file lists a name once for each connection as well.
  for (std::string line; std::getline(sockets, line);) {
    const auto at = line.rfind(' ');
    if (at == std::string::npos || line.compare(at + 1, beginning.size(), beginning) != 0)
      continue;
    auto name = line.substr(at + 1);
    std::uint32_t process = 0;
    const auto* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + beginning.size(), end, process);
    if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '-')
      found.emplace("unix://" + std::move(name), process);
  }
  std::vector<local_node> result;
  for (const auto& [address, process] : found)
    result.push_back({address, process});
  return result;
}

} // namespace troupe
