// A server that answers like a gateway of etcd, or unlike one, as a test says.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::tests {

/// Threads: any.
class fake_gateway {
public:
  /// The bytes of an answer. After them, `repeated` is sent again and again until the client goes away.
  struct reply {
    std::string bytes;
    std::string repeated;
    bool is_held_open = false; // Or else the connection is closed after the answer.
  };
  using answer = std::function<reply(const std::string& path, const std::string& body)>;

  explicit fake_gateway(answer how) : answer_(std::move(how)) {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::bind(listening_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 || ::listen(listening_, 8) != 0
        || ::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
      throw std::runtime_error("no port for the gateway");
    port_ = ntohs(at.sin_port);
    accepting_ = std::jthread{[this](const std::stop_token& stop) { accept_until(stop); }};
  }
  fake_gateway(const fake_gateway&) = delete;
  fake_gateway& operator=(const fake_gateway&) = delete;
  ~fake_gateway() {
    accepting_ = {};
    serving_.clear();
    ::close(listening_);
  }

  [[nodiscard]] std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string address() const { return "etcd://" + endpoint() + "/shop"; }
  [[nodiscard]] int requests() const { return requests_; }
  /// Of requests to this path.
  [[nodiscard]] int requests(const std::string& path) const {
    const std::lock_guard guard{mutex_};
    const auto found = requests_of_.find(path);
    return found == requests_of_.end() ? 0 : found->second;
  }

  [[nodiscard]] static reply of_status(const std::string& status, const std::string& body) {
    return {"HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size())
                + "\r\nConnection: close\r\n\r\n" + body,
            "", false};
  }
  [[nodiscard]] static reply of(const std::string& body) { return of_status("200 OK", body); }
  /// An answer without an end.
  [[nodiscard]] static reply stream_of(const std::string& start, const std::string& repeated = "") {
    return {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + start, repeated, true};
  }

private:
  void accept_until(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd listening{.fd = listening_, .events = POLLIN, .revents = 0};
      if (::poll(&listening, 1, 10) <= 0)
        continue;
      const auto connection = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection >= 0)
        serving_.emplace_back([this, connection](const std::stop_token& ending) {
          serve(connection, ending);
          ::close(connection);
        });
    }
  }

  void serve(int connection, const std::stop_token& stop) {
    std::string request;
    std::size_t size = std::string::npos;
    while (request.size() < size) {
      if (!wait_for(connection, POLLIN, stop))
        return;
      char bytes[4'096];
      const auto count = ::recv(connection, bytes, sizeof bytes, 0);
      if (count <= 0)
        return;
      request.append(bytes, static_cast<std::size_t>(count));
      if (const auto head_end = request.find("\r\n\r\n"); size == std::string::npos && head_end != std::string::npos) {
        const auto field = request.find("Content-Length: ");
        size = head_end + 4 + (field < head_end ? std::stoul(request.substr(field + 16)) : 0);
      }
    }
    const auto path_begin = request.find("/v3/") + 4;
    const auto path = request.substr(path_begin, request.find(' ', path_begin) - path_begin);
    ++requests_;
    {
      const std::lock_guard guard{mutex_};
      ++requests_of_[path];
    }
    const auto how = answer_(path, request.substr(request.find("\r\n\r\n") + 4));
    if (!send_all(connection, how.bytes, stop))
      return;
    while (!how.repeated.empty())
      if (!send_all(connection, how.repeated, stop))
        return;
    while (how.is_held_open && wait_for(connection, POLLIN, stop))
      if (char byte = 0; ::recv(connection, &byte, 1, 0) <= 0)
        return;
  }

  [[nodiscard]] static bool wait_for(int connection, short what, const std::stop_token& stop) {
    pollfd waiting{.fd = connection, .events = what, .revents = 0};
    while (::poll(&waiting, 1, 10) == 0)
      if (stop.stop_requested())
        return false;
    return !stop.stop_requested();
  }

  [[nodiscard]] static bool send_all(int connection, std::string_view bytes, const std::stop_token& stop) {
    while (!bytes.empty()) {
      if (!wait_for(connection, POLLOUT, stop))
        return false;
      const auto count = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count <= 0)
        return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  const answer answer_;
  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> requests_{0};
  mutable std::mutex mutex_;
  std::map<std::string, int> requests_of_; // Guarded by mutex_.
  std::list<std::jthread> serving_;        // Of the accepting thread, until that has ended.
  std::jthread accepting_;
};

} // namespace troupe::tests
