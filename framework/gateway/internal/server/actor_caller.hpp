// Requests to actors on behalf of a client of HTTP.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include <troupe/framework/gateway/internal/access/token_rights.hpp>
#include <troupe/framework/gateway/internal/server/gateway_core.hpp>
#include <troupe/framework/gateway/internal/server/http_exchange.hpp>
#include <troupe/framework/outside_actor.hpp>

namespace troupe::web {

/// Sends the requests of one connection to actors, one at a time.
///
/// Threads: those of the connection's executor, one at a time, except the functions that actors call.
class actor_caller : public std::enable_shared_from_this<actor_caller> {
public:
  actor_caller(gateway_core& core, const net::any_io_executor& executor)
      : core_(core), executor_(executor), can_go_on_(executor) {}

  /// Serves POST /actors/NAME.
  [[nodiscard]] net::awaitable<void> serve(http_exchange& exchange, std::string name,
                                           std::shared_ptr<const token_rights> by);
  /// The connection ends: nothing is asked any more.
  void end() { actor_.reset(); }

private:
  using answer_text = std::expected<std::string, refusal>;

  [[nodiscard]] outside_actor& actor();
  [[nodiscard]] net::awaitable<answer_text> ask(http_exchange& exchange, std::shared_ptr<const exposed_actor> target,
                                                std::string body, std::chrono::milliseconds timeout,
                                                std::shared_ptr<const token_rights> by);
  [[nodiscard]] std::expected<caf::message, refusal> read(const exposed_actor& target, std::string_view body,
                                                          const token_rights& by) const;
  /// The result is whether the client left before. A client that has closed its side has most likely closed the
  /// connection, and must not keep its place until then.
  [[nodiscard]] net::awaitable<bool> wait_for_result(http_exchange& exchange, std::chrono::milliseconds timeout);
  /// Called by the answering actor's thread, which encodes the answer.
  void take_answer(std::uint64_t number, const std::expected<caf::message, node_error>& answer);

  gateway_core& core_;
  const net::any_io_executor executor_;
  std::optional<outside_actor> actor_; // Made by the first request.
  net::steady_timer can_go_on_;
  std::uint64_t question_ = 0; // The number of the request whose answer is awaited.
  std::optional<answer_text> result_;
};

} // namespace troupe::web
