#include <troupe/framework/internal/net/loopback_ends.hpp>

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

#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/words/failing.hpp>

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

/// The form in /proc/net/tcp6, of which /proc/net/tcp has a suffix: words as they lie in memory, then the port.
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

/// Empty for other addresses than IPv4.
std::string in_tables_of_v4(const stream_endpoint& of) {
  const auto whole = in_tables_of_v6(of);
  constexpr std::string_view mapped = "0000000000000000FFFF0000";
  static_assert(std::endian::native == std::endian::little);
  return whole.starts_with(mapped) ? whole.substr(mapped.size()) : std::string{};
}

/// The owner in a row of a table; nullopt if the socket has no owner any more, or not yet.
using socket_row = std::optional<uid_t>;

/// The row of the socket with that local and remote address, both in the form of the table.
std::optional<socket_row> row_in(std::string_view table, const std::string& local, const std::string& remote) {
  if (local.empty() || remote.empty())
    return std::nullopt;
  const auto both = ' ' + local + ' ' + remote + ' ';
  const auto found = table.find(both);
  if (found == std::string_view::npos)
    return std::nullopt;
  auto line = table.substr(found + both.size());
  line = line.substr(0, line.find('\n'));
  std::istringstream rest{std::string{line}};
  std::string state, queues, timer, retransmissions, timeout;
  uid_t owner = 0;
  std::uint64_t inode = 0;
  std::optional<socket_row> row{std::in_place}; // Not copied: g++ 12 would warn that the owner is uninitialized.
  // Without an inode the owner is shown as root.
  if (rest >> state >> queues >> timer >> retransmissions >> owner >> timeout >> inode && inode != 0)
    *row = owner;
  return row;
}

/// An IPv6 socket may have an IPv4 connection.
std::optional<socket_row> row_of(const stream_endpoint& local, const stream_endpoint& remote, std::string_view tcp,
                                 std::string_view tcp6) {
  const auto found = row_in(tcp6, in_tables_of_v6(local), in_tables_of_v6(remote));
  return found ? found : row_in(tcp, in_tables_of_v4(local), in_tables_of_v4(remote));
}

std::string whole_text_of(const char* path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string raw_text_of(const char* path) {
  std::ifstream file{path};
  std::string text;
  std::getline(file, text);
  return text;
}

} // namespace

std::optional<loopback_ends> loopback_ends::between(const stream_endpoint& mine, const stream_endpoint& theirs) {
  if (mine.data()->sa_family != AF_INET && mine.data()->sa_family != AF_INET6)
    return std::nullopt;
  if (!is_on_loopback(mine) || !is_on_loopback(theirs))
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

std::expected<std::optional<uid_t>, node_error> loopback_ends::peer_owner() const {
  // A row may be missed if other rows change while the table is read, but not several times in a row.
  constexpr int looks = 3;
  auto owner = std::expected<std::optional<uid_t>, node_error>{std::nullopt};
  for (int look = 0; look < looks && owner && !*owner; ++look)
    owner = peer_owner(whole_text_of("/proc/self/net/tcp"), whole_text_of("/proc/self/net/tcp6"));
  return owner;
}

std::expected<std::optional<uid_t>, node_error> loopback_ends::peer_owner(std::string_view tcp,
                                                                          std::string_view tcp6) const {
  const auto theirs = row_of(theirs_, mine_, tcp, tcp6); // The peer's row has the addresses the other way round.
  if (theirs && *theirs)
    return **theirs;
  if (theirs)
    return fail(node_errc::refused, "the socket at the other end of this connection has no owner");
  if (!row_of(mine_, theirs_, tcp, tcp6)) // If even this end is missing, the table is incomplete.
    return fail(node_errc::refused,
                "the system does not tell the owner of the socket at the other end of this connection");
  return std::nullopt;
}

std::expected<void, node_error> check_forwarder(const loopback_ends& ends) {
  const auto refused = [](const std::string& why) {
    return fail(
        node_errc::refused,
        "another process forwards this connection: the peer sees a different connection within its host, and " + why
            + "; remove the forwarder, dial the address at which the node itself listens, or use unix:// or tls://");
  };
  const auto owner = ends.peer_owner();
  if (!owner)
    return refused(owner.error().message());
  if (*owner && **owner != 0 && !is_this_user(**owner))
    return refused("the other end of this connection belongs to user " + std::to_string(**owner)
                   + ", this node runs as user " + std::to_string(::geteuid()));
  return {};
}

} // namespace troupe::internal
