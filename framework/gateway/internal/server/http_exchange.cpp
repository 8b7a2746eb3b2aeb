#include <troupe/framework/gateway/internal/server/http_exchange.hpp>

#include <troupe/framework/gateway/internal/server/request_head.hpp>
#include <troupe/framework/gateway/internal/server/run_on.hpp>

namespace troupe::web {

text_response json_response(unsigned status, std::string json) {
  text_response made;
  made.result(status);
  made.set(http::field::content_type, "application/json");
  made.set(http::field::cache_control, "no-store");
  made.body() = std::move(json);
  return made;
}

text_response response_of(const refusal& why) {
  auto made = json_response(why.status, json_of(why));
  if (why.status == 401)
    made.set(http::field::www_authenticate, "Bearer");
  if (why.retry_after_seconds > 0)
    made.set(http::field::retry_after, std::to_string(why.retry_after_seconds));
  return made;
}

net::awaitable<void> run_on(net::thread_pool& threads, http_exchange& exchange, std::function<void()> work) {
  exchange.suspend_limits();
  return run_on(threads, std::move(work));
}

std::expected<void, refusal> check_json(const http_exchange& exchange, std::size_t bytes_max) {
  auto type = value_of(exchange.head(), http::field::content_type);
  type = type.substr(0, type.find(';'));
  type = type.substr(0, type.find_last_not_of(' ') + 1);
  if (!is_same_word(type, "application/json"))
    return http_refusal(415, "wrong_type", "Content-Type must be application/json");
  if (!value_of(exchange.head(), http::field::content_encoding).empty())
    return http_refusal(415, "wrong_type", "the body must not be compressed");
  if (const auto bytes = exchange.body_bytes().value_or(0); bytes > bytes_max)
    return http_refusal(413, "too_large",
                        "body of " + std::to_string(bytes) + " bytes, limit " + std::to_string(bytes_max));
  return {};
}

} // namespace troupe::web
