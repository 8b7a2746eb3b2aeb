// The reference for many bytes through a socket: a plain writer and a plain reader of equally large messages, over the
// same kinds of socket.
#pragma once

#include "peers/small_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

namespace bench {

enum class socket_kind : std::uint8_t { unix_socket, tcp };

/// For the far process; see subject::serve.
[[nodiscard]] std::expected<void, std::string> serve_raw(socket_kind kind, const ready_report& ready);

/// The driving end. Its calls block.
class raw_near_end {
public:
  [[nodiscard]] static std::expected<std::unique_ptr<raw_near_end>, std::string> connect(socket_kind kind,
                                                                                         const std::string& address);
  raw_near_end(const raw_near_end&) = delete;
  raw_near_end& operator=(const raw_near_end&) = delete;
  ~raw_near_end();

  /// Writes `messages` messages of `message_bytes`, all from one buffer and into one. Returns the time until the far
  /// end has read them all.
  [[nodiscard]] std::expected<seconds, std::string> send_bulk(std::uint64_t messages, std::size_t message_bytes) const;

private:
  explicit raw_near_end(int socket) : socket_(socket) {}
  int socket_;
};

} // namespace bench
