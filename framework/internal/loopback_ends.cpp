#include <troupe/framework/internal/loopback_ends.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <troupe/framework/internal/failing.hpp>

namespace troupe::internal {

namespace {

constexpr std::string_view sum_label = "troupe loopback connection";

sockaddr_in v4_of(const stream_endpoint& of) {
  sockaddr_in result{};
  std::memcpy(&result, of.data(), std::min(sizeof(result), of.size()));
  return result;
}

sockaddr_in6 v6_of(const stream_endpoint& of) {
  sockaddr_in6 result{};
  std::memcpy(&result, of.data(), std::min(sizeof(result), of.size()));
  return result;
}

bool is_v4(const stream_endpoint& of) {
  return of.data()->sa_family == AF_INET;
}

bool is_on_loopback(const stream_endpoint& endpoint) {
  if (is_v4(endpoint))
    return is_of_this_host(endpoint);
  const auto address = v6_of(endpoint).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address))
    return address.s6_addr[12] == IN_LOOPBACKNET;
  return IN6_IS_ADDR_LOOPBACK(&address) != 0;
}

/// As /proc/net/tcp6 writes it, or /proc/net/tcp where that is shorter: words as they lie in memory, then the port.
std::string in_tables_of_v6(const stream_endpoint& of) {
  std::array<std::uint32_t, 4> words{0, 0, htonl(0xffff), v4_of(of).sin_addr.s_addr};
  if (!is_v4(of)) {
    const auto address = v6_of(of).sin6_addr;
    std::memcpy(words.data(), &address, sizeof(address));
  }
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3], port_of(of));
  return text.data();
}

/// Empty for what is not IPv4.
std::string in_tables_of_v4(const stream_endpoint& of) {
  const auto whole = in_tables_of_v6(of);
  constexpr std::string_view mapped = "0000000000000000FFFF0000";
  static_assert(std::endian::native == std::endian::little);
  return whole.starts_with(mapped) ? whole.substr(mapped.size()) : std::string{};
}

/// Whose socket has that local and remote address, in the form of the table.
std::optional<uid_t> owner_in(const char* table, const std::string& local, const std::string& remote) {
  std::ifstream file{table};
  const auto both = ' ' + local + ' ' + remote + ' ';
  for (std::string line; std::getline(file, line);) {
    const auto found = line.find(both);
    if (found == std::string::npos)
      continue;
    std::istringstream rest{line.substr(found + both.size())};
    std::string state, queues, timer, retransmissions, timeout;
    uid_t owner = 0;
    std::uint64_t inode = 0;
    // A socket without an inode is nobody's any more, or not yet: then its owner reads as root.
    if (rest >> state >> queues >> timer >> retransmissions >> owner >> timeout >> inode && inode != 0)
      return owner;
  }
  return std::nullopt;
}

std::string raw_text_of(const char* path) {
  std::ifstream file{path};
  std::string text;
  std::getline(file, text);
  return text;
}

} // namespace

std::optional<loopback_ends> loopback_ends::of(const stream_socket& socket) {
  std::error_code failed;
  const auto mine = socket.local_endpoint(failed);
  if (failed || (mine.data()->sa_family != AF_INET && mine.data()->sa_family != AF_INET6))
    return std::nullopt;
  const auto theirs = socket.remote_endpoint(failed);
  if (failed || !is_on_loopback(mine) || !is_on_loopback(theirs))
    return std::nullopt;
  return loopback_ends{mine, theirs};
}

byte_vector loopback_ends::sum(link_side mine) const {
  const auto boot = raw_text_of("/proc/sys/kernel/random/boot_id");
  struct stat network {};
  if (boot.empty() || ::stat("/proc/self/ns/net", &network) != 0)
    return {};
  const auto& dialer = mine == link_side::dialer ? mine_ : theirs_;
  const auto& acceptor = mine == link_side::dialer ? theirs_ : mine_;
  const auto text = std::string{sum_label} + '\n' + boot + '\n' + std::to_string(network.st_dev) + ':'
                    + std::to_string(network.st_ino) + '\n' + in_tables_of_v6(dialer) + '\n'
                    + in_tables_of_v6(acceptor);
  const auto result = sha256(std::as_bytes(std::span{text}));
  return {result.begin(), result.end()};
}

std::expected<uid_t, node_error> loopback_ends::peer_owner() const {
  // Theirs is the local one there. A socket of IPv6 may have an IPv4 connection.
  auto owner = owner_in("/proc/self/net/tcp6", in_tables_of_v6(theirs_), in_tables_of_v6(mine_));
  if (const auto local = in_tables_of_v4(theirs_); !owner && !local.empty())
    owner = owner_in("/proc/self/net/tcp", local, in_tables_of_v4(mine_));
  if (!owner)
    return fail(node_errc::refused, "the system does not say whose socket the other end of this connection is");
  return *owner;
}

std::expected<void, node_error> check_forwarder(const loopback_ends& ends) {
  const auto refused = [](const std::string& why) {
    return fail(node_errc::refused,
                "somebody is in between: what the peer sees is another connection within its host, and " + why
                    + "; let nobody else listen there, dial the address at which the node "
                      "itself listens, or use unix:// or tls://");
  };
  const auto owner = ends.peer_owner();
  if (!owner)
    return refused(owner.error().message());
  if (*owner != 0 && !is_this_user(*owner))
    return refused("the other end of this one belongs to user " + std::to_string(*owner) + ", this node runs as user "
                   + std::to_string(::geteuid()));
  return {};
}

} // namespace troupe::internal
