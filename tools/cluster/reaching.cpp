#include "cluster/reaching.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::tools {

namespace {

using namespace std::chrono_literals;

// A member takes up to 6 s to dial the others.
constexpr std::chrono::milliseconds account_time_min = 8s;

/// "10.0.0.1" and "4000" of "tls://10.0.0.1:4000"; without the brackets of IPv6.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> host_and_port(std::string_view address) {
  address.remove_prefix(address.find("://") + 3);
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return std::nullopt;
  auto host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return std::pair{std::string{host}, std::string{address.substr(colon + 1)}};
}

/// Waits until the socket is connected. Returns the error number.
[[nodiscard]] int finish_connecting(int socket, std::chrono::milliseconds patience) {
  pollfd one{socket, POLLOUT, 0};
  if (::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(patience.count(), 3'600'000))) == 0)
    return ETIMEDOUT;
  auto failure = 0;
  socklen_t size = sizeof failure;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 ? failure : errno;
}

/// Makes a TCP connection, and closes it. Returns why that failed; empty if it did not.
[[nodiscard]] std::string failure_to_connect(std::string_view address, std::chrono::milliseconds patience) {
  const auto parts = host_and_port(address);
  if (!parts)
    return "it has no host and port";
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const auto failure = ::getaddrinfo(parts->first.c_str(), parts->second.c_str(), &hints, &found); failure != 0)
    return std::string{"the host cannot be found: "} + ::gai_strerror(failure);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned{found, ::freeaddrinfo};
  auto failure = EADDRNOTAVAIL;
  for (const auto* each = found; each != nullptr && failure != 0; each = each->ai_next) {
    const auto socket = ::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) {
      failure = errno;
      continue;
    }
    failure = ::connect(socket, each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
    if (failure == EINPROGRESS)
      failure = finish_connecting(socket, patience);
    ::close(socket);
  }
  return failure == 0 ? std::string{} : std::system_category().message(failure);
}

[[nodiscard]] bool is_of_network(std::string_view address) {
  return address.starts_with("tcp://") || address.starts_with("tls://");
}

/// What a failed link says about the address.
[[nodiscard]] tried_address explained(const std::string& address, const node_error& why, bool is_known,
                                      std::chrono::milliseconds patience) {
  using enum tried_address::outcome;
  tried_address tried{.address = address, .what = failed, .text = why.message()};
  const auto may_be_ours = why.code() == node_errc::refused || why.code() == node_errc::bad_option
                           || why.code() == node_errc::link_down || why.code() == node_errc::protocol_violation;
  if (is_known || !may_be_ours || !is_of_network(address))
    return tried;
  // Without credentials, a refusal says nothing about the member.
  if (auto failure = failure_to_connect(address, patience); !failure.empty())
    tried.text = std::move(failure);
  else
    tried = {.address = address,
             .what = reachable,
             .text = "its identity was not checked, which needs --secret-file or --tls-ca"};
  return tried;
}

void ask_for_account(link& over, std::chrono::milliseconds timeout, examined_member& of) {
  auto account = troupe::ask_for_account(over, std::max(timeout, account_time_min));
  if (!account)
    of.no_account = account.error().message();
  else if (!of.member.incarnation.empty() && account->member != of.member.name) // Addresses are no names.
    of.no_account = "the node gives the account of the member " + account->member
                    + ", as which it has joined first, in this cluster or another one";
  else
    of.account = *std::move(account);
}

} // namespace

bool is_within_host(std::string_view address) {
  const auto host = address.substr(std::min(address.size(), address.find("://") + 3));
  return address.starts_with("unix://") || address.starts_with("shm://") || host.starts_with("127.")
         || host.starts_with("localhost:") || host.starts_with("[::1]:");
}

examined_member examine(client& by, const cluster_member& member, bool is_known) {
  using enum tried_address::outcome;
  examined_member examined{.member = member, .addresses = {}};
  const auto is_elsewhere = !member.host.empty() && member.host != host_of_this_process();
  for (const auto& address : member.addresses) {
    auto& tried = examined.addresses.emplace_back(tried_address{.address = address});
    if (address.find("://") == std::string::npos) {
      tried.text = "it is no address";
      continue;
    }
    if (is_elsewhere && is_within_host(address)) {
      tried.what = elsewhere;
      continue;
    }
    const auto begun = std::chrono::steady_clock::now();
    auto link = by.connect(address, member.incarnation);
    if (!link) {
      tried = explained(address, link.error(), is_known, by.timeout());
      continue;
    }
    tried.time = std::chrono::steady_clock::now() - begun;
    tried.what = member.incarnation.empty() ? reachable : proven;
    if (!examined.account && examined.no_account.empty())
      ask_for_account(*link, by.timeout(), examined);
    link->close();
  }
  return examined;
}

} // namespace troupe::tools
