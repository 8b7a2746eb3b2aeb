// A request of HTTP and its answer, as the code sees them that answers requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <troupe/framework/gateway/gateway.hpp>
#include <troupe/framework/gateway/internal/objects/byte_range.hpp>
#include <troupe/framework/gateway/internal/server/boost_net.hpp>
#include <troupe/framework/gateway/internal/server/client_state.hpp>
#include <troupe/framework/gateway/internal/words/refusal.hpp>

namespace troupe::web {

using text_response = http::response<http::string_body>;
using head_response = http::response<http::empty_body>;

/// The request that a connection is serving: its body can be received, and it is answered once.
///
/// Threads: those of the connection's executor, one at a time.
class http_exchange {
public:
  virtual ~http_exchange() = default;

  /// Not to be used once the body is received.
  [[nodiscard]] virtual const http::fields& head() const = 0;
  /// The length of the body that the head announces. Nullopt if it announces none, or a chunked body.
  [[nodiscard]] virtual std::optional<std::uint64_t> body_bytes() const = 0;
  /// Whether the request has a body that has not been received. An answer then ends the connection.
  [[nodiscard]] virtual bool has_unread_body() const = 0;

  /// The body as text. Nullopt if that has failed: the client has been told, or is gone.
  [[nodiscard]] virtual net::awaitable<std::optional<std::string>> receive_text() = 0;
  /// Fills `target` with the body. Returns false if that has failed: the client has been told, or is gone.
  /// Requires: `target` has the size that the head announces.
  [[nodiscard]] virtual net::awaitable<bool> receive_into(std::span<std::byte> target) = 0;

  /// Answers the request.
  virtual net::awaitable<void> respond(text_response answer) = 0;
  /// Answers with a part of a page, or all of it. `answer` is the head.
  virtual net::awaitable<void> respond(head_response answer, const object_page& page, byte_range part) = 0;
  /// Answers with a refusal.
  virtual net::awaitable<void> refuse(const refusal& why) = 0;

  /// The connection serves no further request.
  virtual void end_after_answer() noexcept = 0;
  /// From now on the client waits for this end, so that the connection's limits of time do not hold.
  virtual void suspend_limits() = 0;
  [[nodiscard]] virtual client_state look_at_client() = 0;
};

[[nodiscard]] inline refusal refused_with(unsigned status, const char* code, std::string text) {
  return {.status = status, .code = code, .text = std::move(text)};
}
[[nodiscard]] inline std::unexpected<refusal> http_refusal(unsigned status, const char* code, std::string text) {
  return std::unexpected{refused_with(status, code, std::move(text))};
}

/// The answer to a refused request.
[[nodiscard]] text_response response_of(const refusal& why);
/// An answer of that status with a body of JSON.
[[nodiscard]] text_response json_response(unsigned status, std::string json);

/// Runs what may block on one of these threads, while the client waits. Returns on the caller's executor.
[[nodiscard]] net::awaitable<void> run_on(net::thread_pool& threads, http_exchange& exchange,
                                          std::function<void()> work);

/// Checks what the head says of the body. Fails with 415 if it is not JSON or is compressed, and with 413 if it has
/// more than `bytes_max`.
[[nodiscard]] std::expected<void, refusal> check_json(const http_exchange& exchange, std::size_t bytes_max);

} // namespace troupe::web
