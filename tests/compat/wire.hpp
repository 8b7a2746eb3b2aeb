// Sockets that carry packets of protocol 1.
#pragma once

#include <optional>
#include <string>

#include "conversation.hpp"

namespace troupe::tests::compat {

/// A connected socket, at either end of a link.
class wire {
public:
  explicit wire(int connected);
  ~wire();
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;

  [[nodiscard]] int number() const noexcept { return socket_; }
  void write(const bytes& what);
  void write_packet(const packet& what);
  /// Returns false if the peer has closed, or is silent for too long.
  [[nodiscard]] bool read(bytes& into);
  /// Returns nullopt if the peer has closed, or is silent for too long.
  [[nodiscard]] std::optional<packet> read_packet(end from);
  /// Tells the peer that nothing more follows.
  void end_of_writing();

private:
  int socket_;
};

/// Takes one connection at a port of 127.0.0.1.
class entrance {
public:
  entrance();
  ~entrance();
  entrance(const entrance&) = delete;
  entrance& operator=(const entrance&) = delete;

  [[nodiscard]] std::string address() const { return "tcp://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] int accept() const;

private:
  int socket_;
  unsigned port_ = 0;
};

/// Connects to "tcp://127.0.0.1:port".
[[nodiscard]] int dial(const std::string& address);

} // namespace troupe::tests::compat
