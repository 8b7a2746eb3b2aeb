// The head of a request: what is checked before anything else of it is read.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <troupe/framework/gateway/internal/access/site_check.hpp>
#include <troupe/framework/gateway/internal/server/boost_net.hpp>
#include <troupe/framework/gateway/internal/words/refusal.hpp>

namespace troupe::web {

enum class head_state : std::uint8_t { unfinished, complete, malformed, folded, too_long };

/// Whether the bytes that have come contain the whole head of a request, which may have `bytes_max` bytes. A head that
/// has lines without CR, or control characters, is malformed. A line that begins with a blank or tab is folded: it
/// would continue the line before it, but not every reader agrees. Beast bounds single lines only, and accepts folded
/// ones.
[[nodiscard]] head_state state_of_head(std::string_view bytes, std::size_t bytes_max);

/// Checks the parts of a head that decide how the request is framed and for whom it is: one Host that is this
/// gateway's, an Origin that may use it, a length that two readers cannot understand differently. Fails with 400, 403
/// or 421; after 400 the connection must not be used any more.
[[nodiscard]] std::expected<void, refusal> check_head(const http::fields& head, const site_check& sites);

/// The header's value; empty if there is none.
[[nodiscard]] std::string_view value_of(const http::fields& head, http::field name);

/// The token that a browser has put among the subprotocols of a WebSocket: "troupe.token.TOKEN". Empty if there is
/// none.
[[nodiscard]] std::string_view token_of_protocols(std::string_view protocols);
/// Whether the client offers the subprotocol "troupe.1".
[[nodiscard]] bool offers_protocol(std::string_view protocols);
inline constexpr std::string_view socket_protocol = "troupe.1";

/// The header Troupe-Timeout-Ms. Fails with 400 if it is no natural number. Nullopt if there is none.
[[nodiscard]] std::expected<std::optional<std::chrono::milliseconds>, refusal> timeout_of(const http::fields& head);

} // namespace troupe::web
