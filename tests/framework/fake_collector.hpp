// A collector of spans that answers as a test says.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace troupe::tests {

class fake_collector {
public:
  struct answer {
    std::string status = "200 OK";
    std::string fields = {}; // Header lines, each with its line end.
    std::string body = "{}";
    bool is_silent = false; // No answer at all.
  };
  struct request {
    std::string head;
    std::string body;
    std::chrono::steady_clock::time_point at;
  };

  fake_collector() {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::bind(listening_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 || ::listen(listening_, 8) != 0
        || ::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
      throw std::runtime_error("no port for the collector");
    port_ = ntohs(at.sin_port);
    thread_ = std::jthread{[this](const std::stop_token& stop) { serve(stop); }};
  }
  fake_collector(const fake_collector&) = delete;
  fake_collector& operator=(const fake_collector&) = delete;
  ~fake_collector() {
    thread_ = {};
    ::close(listening_);
  }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1/traces"; }
  /// The next requests get these answers, later ones get 200.
  void answer_with(std::deque<answer> answers) {
    const std::lock_guard guard{mutex_};
    answers_ = std::move(answers);
  }
  [[nodiscard]] std::vector<request> requests() const {
    const std::lock_guard guard{mutex_};
    return requests_;
  }
  /// The spans of all requests that were answered with 200, in order.
  [[nodiscard]] std::vector<nlohmann::json> spans() const {
    const std::lock_guard guard{mutex_};
    return spans_;
  }

private:
  void serve(const std::stop_token& stop) {
    std::vector<std::jthread> connections;
    while (!stop.stop_requested()) {
      if (!is_readable(listening_))
        continue;
      const auto connected = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
      connections.emplace_back([this, connected](const std::stop_token& end) {
        while (!end.stop_requested() && serve_one(connected, end)) {
        }
        ::close(connected);
      });
    }
  }

  static bool is_readable(int descriptor) {
    pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, 20) > 0;
  }

  bool serve_one(int connected, const std::stop_token& stop) {
    std::string text;
    std::size_t body_at = std::string::npos;
    std::size_t needed = std::string::npos;
    while (text.size() < needed) {
      if (stop.stop_requested())
        return false;
      if (!is_readable(connected))
        continue;
      char part[4096];
      const auto count = ::recv(connected, part, sizeof part, 0);
      if (count <= 0)
        return false;
      text.append(part, static_cast<std::size_t>(count));
      if (body_at == std::string::npos && text.find("\r\n\r\n") != std::string::npos) {
        body_at = text.find("\r\n\r\n") + 4;
        const auto length = text.find("Content-Length: ");
        needed = body_at + std::stoul(text.substr(length + 16));
      }
    }
    answer given;
    {
      const std::lock_guard guard{mutex_};
      requests_.push_back({text.substr(0, body_at), text.substr(body_at), std::chrono::steady_clock::now()});
      if (!answers_.empty()) {
        given = answers_.front();
        answers_.pop_front();
      }
      if (given.status == "200 OK" && !given.is_silent)
        keep_spans(requests_.back().body);
    }
    if (given.is_silent) {
      while (!stop.stop_requested() && !is_readable(connected)) {
      }
      return false;
    }
    const auto reply = "HTTP/1.1 " + given.status + "\r\n" + given.fields
                       + "Content-Length: " + std::to_string(given.body.size()) + "\r\n\r\n" + given.body;
    return ::send(connected, reply.data(), reply.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(reply.size());
  }

  void keep_spans(const std::string& body) {
    const auto whole = nlohmann::json::parse(body);
    for (const auto& resource : whole.at("resourceSpans"))
      for (const auto& scope : resource.at("scopeSpans"))
        for (const auto& span : scope.at("spans"))
          spans_.push_back(span);
  }

  int listening_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<answer> answers_;
  std::vector<request> requests_;
  std::vector<nlohmann::json> spans_;
  std::jthread thread_; // Last: it uses all other members.
};

} // namespace troupe::tests
