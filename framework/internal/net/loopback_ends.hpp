// Detects a third party between the two ends of a TCP connection within one host.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/types.h>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// The addresses of a TCP connection within one host, as one end sees them. Any user of the host may listen at a free
/// port and forward what arrives. The two ends then see different connections.
class loopback_ends {
public:
  loopback_ends(stream_endpoint mine, stream_endpoint theirs) : mine_(std::move(mine)), theirs_(std::move(theirs)) {}

  /// Returns nullopt for a unix socket, and if an end is not at a loopback address.
  template <class Socket>
  [[nodiscard]] static std::optional<loopback_ends> of(const Socket& socket) {
    std::error_code failed;
    const auto mine = socket.local_endpoint(failed);
    if (failed)
      return std::nullopt;
    const auto theirs = socket.remote_endpoint(failed);
    return failed ? std::nullopt : between(mine, theirs);
  }

  /// Returns 32 bytes for which only the two ends of this connection compute the same value: the SHA-256 of the host's
  /// boot, its network namespace and both addresses. Empty if the system does not tell these.
  [[nodiscard]] byte_vector sum(link_side mine) const;

  /// Returns the user whose process owns the other end's socket. Nullopt if no process of this network namespace owns
  /// it; then the kernel forwards the connection, which only root can configure. If the system does not tell, fails
  /// with `refused` and the reason. Requires: bytes have arrived over the connection, because before that it may not be
  /// accepted yet.
  [[nodiscard]] std::expected<std::optional<uid_t>, node_error> peer_owner() const;

  /// Like peer_owner(), from the text of /proc/net/tcp and tcp6. Pure.
  [[nodiscard]] std::expected<std::optional<uid_t>, node_error> peer_owner(std::string_view tcp,
                                                                           std::string_view tcp6) const;

private:
  [[nodiscard]] static std::optional<loopback_ends> between(const stream_endpoint& mine, const stream_endpoint& theirs);

  stream_endpoint mine_;
  stream_endpoint theirs_;
};

/// Checks whether the owner of the other end's socket may forward the connection. This user may, by forwarding a port.
/// Root may, by a process or by the kernel's address translation, because root can do anything anyway. Otherwise fails
/// with `refused`, naming the user.
[[nodiscard]] std::expected<void, node_error> check_forwarder(const loopback_ends& ends);

} // namespace troupe::internal
