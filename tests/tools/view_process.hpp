// `troupe view` as a process, and a client of its page.
#pragma once

#include "../eventually.hpp"
#include "../gateway/raw_client.hpp"
#include "command_support.hpp"

#include <charconv>
#include <csignal>
#include <string>
#include <vector>

namespace troupe::tests {

/// The name of a node of this process: other tests have nodes on this host, too.
[[nodiscard]] inline std::string named(const std::string& name) {
  return name + '-' + std::to_string(::getpid());
}

[[nodiscard]] inline node_options own_options(const std::string& name) {
  auto options = options_of(name);
  options.name = named(name);
  return options;
}

/// The command, until it is told to end.
class view_process {
public:
  explicit view_process(std::vector<std::string> arguments = {})
      : process_([&] {
          arguments.insert(arguments.begin(), {"troupe", "view"});
          return processes::process::start(
                     {.program = TROUPE_PROGRAM, .words = arguments, .output = processes::lines{}})
              .value();
        }()) {
    for (auto line = process_.channel().read_line(20s); line; line = process_.channel().read_line(20s)) {
      text_ += *line + '\n';
      if (line->starts_with("view "))
        url_ = line->substr(7);
      if (line->starts_with("token "))
        token_ = line->substr(7);
      if (line->starts_with("Open "))
        break;
    }
    const auto port = url_.substr(url_.rfind(':') + 1);
    std::from_chars(port.data(), port.data() + port.size(), port_);
  }

  [[nodiscard]] http_answer get(const std::string& target, const std::string& token) const {
    raw_client client{port_};
    client.send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_)
                + (token.empty() ? "" : "\r\nAuthorization: Bearer " + token) + "\r\n\r\n");
    return client.answer();
  }
  [[nodiscard]] http_answer post(const std::string& target, const std::string& body) const {
    raw_client client{port_};
    client.send("POST " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_)
                + "\r\nAuthorization: Bearer " + token_ + "\r\nContent-Type: application/json\r\nContent-Length: "
                + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.answer();
  }
  [[nodiscard]] nlohmann::json document(const std::string& target) const {
    return nlohmann::json::parse(get(target, token_).body);
  }
  /// The node of that name, or null if it does not answer within 20 s.
  [[nodiscard]] nlohmann::json node(const std::string& name) const {
    nlohmann::json found;
    static_cast<void>(eventually([&] {
      const auto state = document("/view/state");
      for (const auto& each : state["nodes"])
        if (each["name"] == name)
          found = each;
      return !found.is_null();
    }));
    return found;
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] int end() {
    process_.signal(SIGTERM);
    return process_.ended_within(20s).value().status();
  }

private:
  processes::process process_;
  std::string text_;
  std::string url_;
  std::string token_;
  std::uint16_t port_ = 0;
};

} // namespace troupe::tests
