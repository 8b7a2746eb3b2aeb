// Whether somebody is in between the two ends of a TCP connection within one host.
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

/// The addresses of a TCP connection that does not leave its host, as one end sees them. Any user of the host may
/// listen at a port that is free, and pass on what comes: then the two ends see different connections.
class loopback_ends {
public:
  loopback_ends(stream_endpoint mine, stream_endpoint theirs) : mine_(std::move(mine)), theirs_(std::move(theirs)) {}

  /// Nothing for a unix socket, and where one end is not at a loopback address.
  template <class Socket>
  [[nodiscard]] static std::optional<loopback_ends> of(const Socket& socket) {
    std::error_code failed;
    const auto mine = socket.local_endpoint(failed);
    if (failed)
      return std::nullopt;
    const auto theirs = socket.remote_endpoint(failed);
    return failed ? std::nullopt : between(mine, theirs);
  }

  /// 32 bytes that both ends of this connection find, and no two other ends: the SHA-256 of the host's boot, its
  /// network namespace and both addresses. Empty where the system does not say.
  [[nodiscard]] byte_vector sum(link_side mine) const;

  /// The user whose process has the other end's socket; nothing where no process of this network namespace has it, so
  /// that the kernel passes on what comes, as only root can tell it to. Fails with `refused`, saying why, where the
  /// system does not tell. Requires that something has come over the connection: before, nobody may have accepted it.
  [[nodiscard]] std::expected<std::optional<uid_t>, node_error> peer_owner() const;

  /// The same by the text of /proc/net/tcp and tcp6. Pure.
  [[nodiscard]] std::expected<std::optional<uid_t>, node_error> peer_owner(std::string_view tcp,
                                                                           std::string_view tcp6) const;

private:
  [[nodiscard]] static std::optional<loopback_ends> between(const stream_endpoint& mine, const stream_endpoint& theirs);

  stream_endpoint mine_;
  stream_endpoint theirs_;
};

/// Whether who has the other end's socket may stand in between: this user, whose forwarded port it is, or root, himself
/// or by the kernel's address translation, who could do as he likes anyway. Fails with `refused`, naming the user.
[[nodiscard]] std::expected<void, node_error> check_forwarder(const loopback_ends& ends);

} // namespace troupe::internal
