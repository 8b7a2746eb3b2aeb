// What a client says through a WebSocket.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <troupe/framework/gateway/internal/words/refusal.hpp>
#include <troupe/serializers/limits.hpp>

namespace troupe::web {

/// One text of a client: a token, a request with an id, a plain message, or the answer to a request of the program.
struct socket_word {
  std::string token;               ///< Empty: none.
  std::optional<std::uint64_t> id; ///< Of a request; the answer carries it.
  std::string_view message;        ///< Views the text; empty: none.
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::uint64_t> answer; ///< The number of the program's request.
  std::optional<std::string> error;    ///< Why the client does not answer it.
};

/// Reads one of these texts, and refuses other fields:
/// - `{"token": TEXT}`
/// - `{"id": NUMBER, "timeout_ms": NUMBER, "message": ...}`, where "id" and "timeout_ms" may be missing
/// - `{"answer": NUMBER, "message": ...}` or `{"answer": NUMBER, "error": TEXT}`
[[nodiscard]] std::expected<socket_word, refusal> read_socket_word(std::string_view text, const limits& bounds);

} // namespace troupe::web
