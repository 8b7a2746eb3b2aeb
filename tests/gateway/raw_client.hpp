// A client of HTTP and WebSocket that sends exactly the bytes that a test wants.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::tests {

struct http_answer {
  int status = 0;                          ///< 0: the connection ended, or nothing came in time.
  std::map<std::string, std::string> head; ///< Names in small letters.
  std::string body;
};

struct socket_frame {
  int opcode = -1; ///< -1: the connection ended, or nothing came in time.
  std::string payload;
};

/// A frame of a WebSocket, masked as clients must.
[[nodiscard]] std::string frame_of(std::string_view payload, int opcode = 1, bool is_final = true);

/// One connection to 127.0.0.1. Reads with a deadline of 20 s.
class raw_client {
public:
  explicit raw_client(std::uint16_t port);
  ~raw_client();
  raw_client(const raw_client&) = delete;
  raw_client& operator=(const raw_client&) = delete;

  /// Returns false if the connection does not take all of it, within the deadline.
  bool send(std::string_view bytes);
  /// Ends the connection at once (RST), without telling the other end why. Nothing else may be called any more.
  void vanish();
  /// The next answer. `has_body` is false for answers to HEAD.
  [[nodiscard]] http_answer answer(bool has_body = true);
  /// True if the other end closes the connection within the deadline. Bytes before that are skipped.
  [[nodiscard]] bool is_closed_by_peer();
  /// True if the connection is open, and no bytes have come.
  [[nodiscard]] bool is_quiet() const;

  bool send_frame(int opcode, std::string_view payload, bool is_final = true) {
    return send(frame_of(payload, opcode, is_final));
  }
  bool send_text(std::string_view text) { return send_frame(1, text); }
  /// The next frame that is no ping.
  [[nodiscard]] socket_frame frame();

private:
  [[nodiscard]] bool fill(std::chrono::steady_clock::time_point limit);
  [[nodiscard]] std::optional<std::string> take(std::size_t bytes);

  int descriptor_ = -1;
  std::string buffer_;
};

} // namespace troupe::tests
