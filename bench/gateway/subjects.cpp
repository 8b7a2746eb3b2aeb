#include "gateway/subjects.hpp"

#include "gateway/beast_echo.hpp"
#include "harness/statistics.hpp"
#include "peers/small_messages.hpp"
#include "peers/troupe_process.hpp"

#include <troupe/framework/gateway/gateway.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <caf/all.hpp>

namespace bench {

namespace {

using std::chrono::steady_clock;

// The far process is the only one that the gateway admits strangers to, for the time of the measurement.
constexpr std::string_view token = "0123456789abcdef0123456789abcdef";
constexpr std::string_view body = R"({"type":"str","value":"0123456789abcdef0123456789abcdef"})";

std::string request_text() {
  return "POST /actors/echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + std::string(token)
         + "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n"
         + std::string(body);
}

/// One connection that waits for each answer.
class http_caller {
public:
  explicit http_caller(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int yes = 1;
    const ::timeval patience{.tv_sec = 20, .tv_usec = 0};
    is_open_ = ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0
               && ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0
               && ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0;
  }
  http_caller(const http_caller&) = delete;
  http_caller& operator=(const http_caller&) = delete;
  ~http_caller() { ::close(descriptor_); }

  /// False unless the answer is the request's body.
  [[nodiscard]] bool call(const std::string& request) {
    if (!is_open_ || ::send(descriptor_, request.data(), request.size(), MSG_NOSIGNAL) < 0)
      return is_open_ = false;
    std::string answer;
    char piece[4096];
    while (!answer.ends_with(body)) {
      const auto got = ::recv(descriptor_, piece, sizeof piece, 0);
      if (got <= 0 || answer.size() > sizeof piece)
        return is_open_ = false;
      answer.append(piece, static_cast<std::size_t>(got));
    }
    return answer.starts_with("HTTP/1.1 200");
  }

private:
  const int descriptor_;
  bool is_open_ = false;
};

/// The times of the requests of one connection, in microseconds. Empty if one fails.
std::vector<double> call_until(steady_clock::time_point end, std::uint16_t port) {
  std::vector<double> times;
  const auto request = request_text();
  http_caller caller{port};
  auto now = steady_clock::now();
  do { // At least one, also if this thread begins late.
    if (!caller.call(request))
      return {};
    const auto after = steady_clock::now();
    times.push_back(std::chrono::duration<double, std::micro>(after - now).count());
    now = after;
  } while (now < end);
  return times;
}

caf::behavior echo() {
  return {[](std::string& text) { return std::move(text); }};
}

std::expected<void, std::string> serve_troupe(const std::function<void(const std::string&)>& ready) {
  troupe_process process;
  if (auto opened = process.open({}); !opened)
    return opened;
  const auto file = std::filesystem::temp_directory_path() / ("troupe-bench-gateway-" + std::to_string(::getpid()));
  std::ofstream(file).close();
  std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::ofstream(file) << "bench " << token << " call:echo\n";
  auto gateway = troupe::gateway::open(*process.node, {.token_file = file.string(),
                                                       .hosts = {"localhost:80", "localhost"},
                                                       .requests_per_second = 1e9,
                                                       .requests_burst = 1e9});
  std::filesystem::remove(file);
  if (!gateway)
    return std::unexpected{gateway.error().message()};
  if (auto exposed = gateway->expose("echo", process.system.spawn(echo)); !exposed)
    return std::unexpected{exposed.error().message()};
  ready(std::to_string(gateway->port()));
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actors.
}

} // namespace

const std::vector<gateway_subject>& gateway_subjects() {
  static const std::vector<gateway_subject> all{
      {"beast-1", false, 1}, {"gateway-1", true, 1}, {"beast-16", false, 16}, {"gateway-16", true, 16}};
  return all;
}

const gateway_subject* find_gateway_subject(const std::string& name) {
  const auto found = std::ranges::find(gateway_subjects(), name, &gateway_subject::name);
  return found == gateway_subjects().end() ? nullptr : &*found;
}

std::expected<void, std::string> serve_gateway(const gateway_subject& what,
                                               const std::function<void(const std::string&)>& ready) {
  if (what.is_gateway)
    return serve_troupe(ready);
  const beast_echo server;
  ready(std::to_string(server.port()));
  wait_for_end_of_input();
  return {};
}

std::expected<step_taker, std::string> connect_gateway(const gateway_subject& what, const std::string& address) {
  std::uint16_t port = 0;
  std::from_chars(address.data(), address.data() + address.size(), port);
  return [port, connections = what.connections](const step& next) -> std::expected<numbers, std::string> {
    const auto begin = steady_clock::now();
    const auto end = begin + std::chrono::milliseconds(next.count);
    std::vector<std::vector<double>> times(static_cast<std::size_t>(connections));
    {
      std::vector<std::jthread> threads;
      for (auto& each : times)
        threads.emplace_back([&each, end, port] { each = call_until(end, port); });
    }
    const std::chrono::duration<double> took = steady_clock::now() - begin;
    std::vector<double> all;
    for (const auto& each : times) {
      if (each.empty())
        return std::unexpected{"a request was not answered with its body"};
      all.insert(all.end(), each.begin(), each.end());
    }
    const auto count = static_cast<double>(all.size());
    return numbers{count / took.count(), percentile(all, 50), percentile(all, 99)};
  };
}

} // namespace bench
