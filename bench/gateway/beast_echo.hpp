// The least that a server of HTTP on Boost.Beast does: answers each request with its body.
#pragma once

#include <cstdint>
#include <memory>

namespace bench {

/// Listens at 127.0.0.1 and serves on one thread, until it is destroyed. Throws if it cannot.
class beast_echo {
public:
  beast_echo();
  ~beast_echo();
  beast_echo(const beast_echo&) = delete;
  beast_echo& operator=(const beast_echo&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;

private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

} // namespace bench
