#include "cluster/etcd_process.hpp"

#include "peers/own_server.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <utility>

#include <troupe/processes/descriptor.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace bench {

namespace {

using troupe::processes::descriptor;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return place;
}

/// Two ports that nobody listens at, or zeros. Another process may take one before it is used.
std::array<std::uint16_t, 2> two_free_ports() {
  std::array<descriptor, 2> sockets; // Both open at once, so that the ports differ.
  std::array<std::uint16_t, 2> ports{};
  for (std::size_t i = 0; i < ports.size(); ++i) {
    sockets[i] = descriptor{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    auto place = loopback(0);
    socklen_t size = sizeof place;
    auto* const raw = reinterpret_cast<sockaddr*>(&place);
    if (::bind(sockets[i].number(), raw, size) == 0 && ::getsockname(sockets[i].number(), raw, &size) == 0)
      ports[i] = ntohs(place.sin_port);
  }
  return ports;
}

/// The answer to a GET by HTTP/1.0, which ends with the connection. Empty if none comes within two seconds.
std::string http_answer(std::uint16_t port, const std::string& path) {
  const descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  ::setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const auto place = loopback(port);
  const auto request = "GET " + path + " HTTP/1.0\r\n\r\n";
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0
      || ::send(socket.number(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
    return {};
  std::string answer;
  std::array<char, 65'536> part{};
  ssize_t size = 0;
  while ((size = ::recv(socket.number(), part.data(), part.size(), 0)) > 0)
    answer.append(part.data(), static_cast<std::size_t>(size));
  return size == 0 ? answer : std::string{};
}

/// The value of a label in a line of metrics, or an empty text.
std::string label_in(const std::string& line, const std::string& name) {
  const auto begin = line.find(name + "=\"");
  if (begin == std::string::npos)
    return {};
  const auto from = begin + name.size() + 2;
  return line.substr(from, line.find('"', from) - from);
}

/// The number at the end of a line of metrics, such as 7 or 1e+06.
std::uint64_t value_in(const std::string& line) {
  return static_cast<std::uint64_t>(std::llround(std::strtod(line.c_str() + line.rfind(' ') + 1, nullptr)));
}

} // namespace

etcd_requests operator-(const etcd_requests& later, const etcd_requests& earlier) {
  etcd_requests difference;
  for (const auto& [method, count] : later) {
    const auto before = earlier.find(method);
    const auto came = count - (before == earlier.end() ? 0 : before->second);
    if (came > 0)
      difference[method] = came;
  }
  return difference;
}

std::string text_of(const etcd_requests& counted) {
  std::string text;
  for (const auto& [method, count] : counted)
    text += (text.empty() ? "" : ", ") + method + ' ' + std::to_string(count);
  return text.empty() ? "none" : text;
}

etcd_requests read_etcd_requests(const std::string& metrics) {
  etcd_requests started, received;
  std::istringstream lines{metrics};
  for (std::string line; std::getline(lines, line);) {
    const auto is_start = line.starts_with("grpc_server_started_total{");
    if (!is_start && !line.starts_with("grpc_server_msg_received_total{"))
      continue;
    const auto service = label_in(line, "grpc_service");
    (is_start ? started : received)[service.substr(service.rfind('.') + 1) + '/' + label_in(line, "grpc_method")] +=
        value_in(line);
  }
  for (const auto& [method, count] : started)
    received[method] = std::max(received[method], count);
  return received;
}

std::expected<etcd_writes, std::string> read_etcd_writes(const std::string& metrics) {
  std::optional<std::uint64_t> puts, removals;
  std::istringstream lines{metrics};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("etcd_mvcc_put_total "))
      puts = value_in(line);
    else if (line.starts_with("etcd_mvcc_delete_total "))
      removals = value_in(line);
  if (!puts || !removals)
    return std::unexpected{std::string{"etcd does not count its writes"}};
  return etcd_writes{.puts = *puts, .removals = *removals};
}

std::expected<std::unique_ptr<etcd_process>, std::string> etcd_process::start(const std::string& program) {
  if (::access(program.c_str(), X_OK) != 0)
    return std::unexpected{"there is no " + program + ": run cmake/unpack-etcd"};
  std::unique_ptr<etcd_process> made{new etcd_process};
  const auto [client, peer] = two_free_ports();
  made->port_ = client;
  const auto client_url = "http://127.0.0.1:" + std::to_string(client);
  const auto peer_url = "http://127.0.0.1:" + std::to_string(peer);
  auto started =
      start_server(program,
                   {"etcd", "--name", "bench", "--data-dir", (made->folder_.path() / "data").string(),
                    "--listen-client-urls", client_url, "--advertise-client-urls", client_url, "--listen-peer-urls",
                    peer_url, "--initial-advertise-peer-urls", peer_url, "--initial-cluster", "bench=" + peer_url},
                   [&] { return http_answer(client, "/health").contains(R"("health":"true")"); });
  if (!started)
    return std::unexpected{std::move(started).error()};
  made->process_.emplace(*std::move(started));
  return made;
}

std::string etcd_process::address(const std::string& prefix) const {
  return "etcd://127.0.0.1:" + std::to_string(port_) + '/' + prefix;
}

std::expected<etcd_requests, std::string> etcd_process::requests() const {
  auto counted = read_etcd_requests(http_answer(port_, "/metrics"));
  if (counted.empty())
    return std::unexpected{std::string{"etcd does not give its metrics"}};
  return counted;
}

std::expected<etcd_writes, std::string> etcd_process::writes() const {
  return read_etcd_writes(http_answer(port_, "/metrics"));
}

} // namespace bench
