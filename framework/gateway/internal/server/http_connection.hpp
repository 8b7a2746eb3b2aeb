// The bytes of a connection of HTTP.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <troupe/framework/gateway/internal/server/chunk_extras.hpp>
#include <troupe/framework/gateway/internal/server/http_exchange.hpp>
#include <troupe/framework/gateway/internal/server/request_head.hpp>

namespace troupe::web {

/// What a connection is told about its gateway, and tells it.
struct connection_terms {
  const gateway_options& options;
  /// Called for each answer, with its status.
  std::function<void(unsigned status)> note_answer;
  /// Called with true when a request is awaited, and with false when one has come.
  std::function<void(bool is_idle)> set_idle;
  /// Whether the gateway ends its work, so that each connection ends after its answer.
  std::function<bool()> is_ending;
  /// Called before an answer of `bytes` is written. If it returns false, the answer is refused.
  std::function<bool(std::size_t bytes)> add_unread;
  /// Called with the same number once the client has read them.
  std::function<void(std::size_t bytes)> subtract_unread;
};

/// Reads requests from a stream and writes their answers, within the gateway's limits of sizes and times.
///
/// Threads: those of the stream's executor, one at a time.
template <class Stream>
class http_connection final : public http_exchange {
public:
  http_connection(Stream stream, connection_terms terms) : terms_(std::move(terms)), stream_(std::move(stream)) {}

  /// Begins a connection with TLS. Returns false if the client does not.
  [[nodiscard]] net::awaitable<bool> shake_hands() {
    beast::error_code failure;
    if constexpr (std::is_same_v<Stream, tls_stream>) {
      lowest().expires_after(options().header_timeout);
      co_await stream_.async_handshake(net::ssl::stream_base::server, into(failure));
      if (failure.category() == net::error::get_ssl_category()
          && ERR_GET_REASON(static_cast<unsigned long>(failure.value())) == SSL_R_HTTP_REQUEST)
        co_await explain_tls();
    }
    co_return !failure;
  }

  /// Receives the head of the next request. Returns false if there is none: the client has been told, or is gone.
  [[nodiscard]] net::awaitable<bool> receive() {
    is_known_ = false;
    origin_.clear();
    if (!co_await receive_whole_head())
      co_return false;
    parser_.emplace();
    parser_->header_limit(head_bytes_max);
    parser_->body_limit(std::max<std::uint64_t>(options().body_bytes_max, options().object_bytes_max));
    beast::error_code failure;
    co_await http::async_read_header(stream_, buffer_, *parser_, into(failure));
    if (failure) {
      co_await refuse_unread(failure);
      co_return false;
    }
    set_idle(false);
    goes_on_ = parser_->get().keep_alive();
    is_head_ = parser_->get().method() == http::verb::head;
    is_unread_ = parser_->chunked() || parser_->content_length().value_or(0) != 0;
    co_return true;
  }
  /// Whether the connection may be used for another request.
  [[nodiscard]] bool goes_on() const noexcept { return goes_on_; }

  /// Requires: the head has been received, and not the body.
  [[nodiscard]] const http::request<http::empty_body>& request() const { return parser_->get(); }
  [[nodiscard]] std::chrono::steady_clock::time_point head_began() const noexcept { return head_began_; }
  /// Whether bytes have come behind those of the request.
  [[nodiscard]] bool has_more() const { return buffer_.size() != 0; }
  /// Lets this page read the answer.
  void set_origin(std::string origin) { origin_ = std::move(origin); }
  /// The request's token is known. Connections whose requests are refused for want of one end after some.
  void set_known() noexcept {
    is_known_ = true;
    refused_in_a_row_ = 0;
  }

  /// The stream goes on as something else. Requires: the head has been received. Nothing may be called afterwards.
  [[nodiscard]] std::pair<Stream, http::request<http::empty_body>> release() {
    goes_on_ = false;
    return {std::move(stream_), parser_->release()};
  }

  /// Closes the connection unless it is serving a request.
  void close_if_idle() {
    if (is_idle_)
      lowest().close();
  }
  /// Closes the connection, also while it serves a request.
  void close() { lowest().close(); }
  /// Reads a little of what the client still sends, then closes the connection. If a socket is closed with unread
  /// bytes, the client may lose the answer that it has been sent.
  [[nodiscard]] net::awaitable<void> linger() {
    beast::error_code failure;
    lowest().expires_after(linger_time);
    if constexpr (std::is_same_v<Stream, tls_stream>) {
      co_await stream_.async_shutdown(into(failure)); // Else clients cannot tell the end from an attack.
      failure = {};
    }
    lowest().socket().shutdown(net::ip::tcp::socket::shutdown_send, failure);
    for (std::size_t left = linger_bytes_max; !failure && left > 0;) {
      buffer_.clear();
      const auto count =
          co_await lowest().async_read_some(buffer_.prepare(std::min(left, buffer_bytes_max)), into(failure));
      left -= count;
    }
    lowest().close();
  }

  // http_exchange.

  const http::fields& head() const override { return parser_->get(); }
  std::optional<std::uint64_t> body_bytes() const override {
    const auto length = parser_->content_length();
    return length && !parser_->chunked() ? std::optional<std::uint64_t>(*length) : std::nullopt;
  }
  bool has_unread_body() const override { return is_unread_; }

  net::awaitable<std::optional<std::string>> receive_text() override {
    if (!co_await invite_body())
      co_return std::nullopt;
    http::request_parser<http::string_body> body{std::move(*parser_)};
    body.body_limit(options().body_bytes_max);
    chunk_extras extras{chunk_extras_bytes_max};
    auto check = [&](std::uint64_t size, beast::string_view extension, beast::error_code& failed) {
      failed = error_of_extras(extras.note(size == 0, {extension.data(), extension.size()}, buffered()));
    };
    body.on_chunk_header(check);
    if (!co_await receive_all(body))
      co_return std::nullopt;
    co_return std::move(body.get().body());
  }

  net::awaitable<bool> receive_into(std::span<std::byte> target) override {
    if (!co_await invite_body())
      co_return false;
    http::request_parser<http::buffer_body> body{std::move(*parser_)};
    body.body_limit(target.size());
    body.get().body().data = target.data();
    body.get().body().size = target.size();
    body.get().body().more = true;
    co_return co_await receive_all(body);
  }

  net::awaitable<void> respond(text_response answer) override {
    const auto unread = answer.body().size() >= small_answer_bytes && !is_head_ ? answer.body().size() : 0;
    if (unread > 0 && !terms_.add_unread(unread))
      co_return co_await refuse(refusal_of_unread(unread));
    begin_answer(answer);
    if (is_head_) { // The length is that of the answer to GET.
      const auto bytes = answer.body().size();
      answer.body().clear();
      answer.content_length(bytes);
    } else {
      answer.prepare_payload();
    }
    beast::error_code failure;
    co_await http::async_write(stream_, answer, into(failure));
    if (unread > 0)
      terms_.subtract_unread(unread);
    goes_on_ = goes_on_ && !failure;
  }

  net::awaitable<void> respond(head_response answer, const object_page& page, byte_range part) override {
    answer.content_length(part.size_bytes);
    begin_answer(answer);
    beast::error_code failure;
    http::response_serializer<http::empty_body> head{answer};
    co_await http::async_write_header(stream_, head, into(failure));
    auto first = part.first;
    auto left = is_head_ ? 0 : part.size_bytes;
    while (!failure && left > 0) { // Pieces, so that the client has the time for each of them.
      const bool in_head = first < page.head.size();
      const auto* const from =
          in_head ? page.head.data() + first
                  : reinterpret_cast<const char*>(page.bytes.bytes().data()) + first - page.head.size();
      const auto here = in_head ? page.head.size() - first : page.head.size() + page.bytes.size_bytes() - first;
      const auto count = std::min({left, static_cast<std::uint64_t>(here), std::uint64_t{piece_bytes}});
      lowest().expires_after(options().write_timeout);
      co_await net::async_write(stream_, net::buffer(from, count), into(failure));
      first += count;
      left -= count;
    }
    goes_on_ = goes_on_ && !failure;
  }

  net::awaitable<void> refuse(const refusal& why) override {
    if (!is_known_ && ++refused_in_a_row_ >= refused_in_a_row_max)
      goes_on_ = false;
    co_await respond(response_of(why));
  }

  void end_after_answer() noexcept override { goes_on_ = false; }
  void suspend_limits() override { lowest().expires_never(); }
  client_state look_at_client() override { return look_at(lowest().socket()); }

private:
  static constexpr std::uint32_t head_bytes_max = 16 * 1024;
  static constexpr std::size_t buffer_bytes_max = 64 * 1024;
  static constexpr std::size_t piece_bytes = 256 * 1024;
  static constexpr std::size_t small_answer_bytes = 4 * 1024; // The system's buffers take it.
  static constexpr std::size_t chunk_extras_bytes_max = 64 * 1024;
  static constexpr std::size_t refused_in_a_row_max = 16; // Requests without a token that is known.
  static constexpr std::size_t linger_bytes_max = 1024 * 1024;
  static constexpr std::chrono::milliseconds linger_time{2'000};

  [[nodiscard]] const gateway_options& options() const { return terms_.options; }
  [[nodiscard]] beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }
  [[nodiscard]] std::string_view buffered() const {
    return {static_cast<const char*>(buffer_.data().data()), buffer_.size()};
  }
  void set_idle(bool is_idle) {
    is_idle_ = is_idle;
    terms_.set_idle(is_idle);
  }

  /// Tells a client that speaks HTTP without TLS what it should do.
  net::awaitable<void> explain_tls() {
    auto answer = response_of(refused_with(400, "needs_tls", "this gateway speaks TLS: use https:// or wss://"));
    begin_answer(answer);
    answer.keep_alive(false);
    answer.prepare_payload();
    beast::error_code failure;
    co_await http::async_write(lowest(), answer, into(failure));
    lowest().close();
  }

  /// Reads until the buffer has a whole head. Until its first byte comes, the connection is idle.
  net::awaitable<bool> receive_whole_head() {
    lowest().expires_after(is_new_ ? options().header_timeout : options().idle_timeout);
    set_idle(true);
    head_began_ = std::chrono::steady_clock::now();
    bool has_begun = false;
    for (;;) {
      const auto bytes = buffered();
      const auto state = state_of_head(bytes, head_bytes_max);
      if (state == head_state::complete)
        co_return true;
      if (state != head_state::unfinished) {
        co_await refuse_unread(refusal_of_head(state));
        co_return false;
      }
      if (!bytes.empty() && !std::exchange(has_begun, true)) {
        lowest().expires_after(options().header_timeout);
        head_began_ = std::chrono::steady_clock::now();
      }
      beast::error_code failure;
      const auto count = co_await stream_.async_read_some(buffer_.prepare(4096), into(failure));
      if (failure)
        co_return false;
      is_new_ = false;
      buffer_.commit(count);
    }
  }

  static refusal refusal_of_head(head_state state) {
    if (state == head_state::too_long)
      return refused_with(431, "bad_head", "the head of a request has more than 16 KiB");
    return refused_with(400, "bad_head",
                        state == head_state::folded ? "a line of the head begins with a blank: no header is continued"
                                                    : "this is no request of HTTP");
  }

  refusal refusal_of_unread(std::size_t bytes) const {
    auto why =
        refused_with(503, "unread",
                     "answer of " + std::to_string(bytes) + " bytes: clients have not read the answers of "
                         + std::to_string(options().unread_bytes_max) + " bytes that this gateway keeps for them");
    why.retry_after_seconds = 1;
    return why;
  }

  static beast::error_code error_of_extras(head_state state) {
    switch (state) {
    case head_state::complete:
      return {};
    case head_state::too_long:
      return http::error::header_limit;
    case head_state::folded:
      return http::error::bad_obs_fold;
    default:
      return http::error::bad_line_ending;
    }
  }

  /// Answers a request that could not be read. The connection serves no further one.
  net::awaitable<void> refuse_unread(beast::error_code failure) {
    goes_on_ = false;
    refusal why{.status = 400, .code = "bad_head", .text = "this is no request: " + failure.message()};
    if (failure == http::error::end_of_stream || failure == beast::error::timeout
        || failure.category() != make_error_code(http::error::end_of_stream).category())
      co_return;
    if (failure == http::error::header_limit || failure == http::error::buffer_overflow)
      why = {.status = 431,
             .code = "too_large",
             .text = "the extensions and trailers of a chunked body have more than 64 KiB together"};
    if (failure == http::error::body_limit)
      why = {.status = 413, .code = "too_large", .text = "the body is larger than this gateway accepts"};
    co_await refuse_unread(why);
  }
  net::awaitable<void> refuse_unread(refusal why) {
    goes_on_ = false;
    co_await refuse(why);
  }

  /// Receives a body. The client has `body_timeout`, and 1 s more for each 32 KiB that have come. Returns false if that
  /// has failed: the client has been told, or is gone.
  template <class Parser>
  net::awaitable<bool> receive_all(Parser& body) {
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t bytes = 0;
    beast::error_code failure;
    while (!body.is_done() && !failure) {
      lowest().expires_at(begin + options().body_timeout + std::chrono::seconds(bytes / (32 * 1024)));
      bytes += co_await http::async_read_some(stream_, buffer_, body, into(failure));
      if (failure == http::error::need_buffer)
        failure = {};
    }
    if (failure)
      co_await refuse_unread(failure);
    else
      is_unread_ = false;
    co_return !failure;
  }

  /// A client that asks whether it should send a large body is told to go on.
  net::awaitable<bool> invite_body() {
    if (!is_same_word(value_of(head(), http::field::expect), "100-continue"))
      co_return true;
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    beast::error_code failure;
    lowest().expires_after(options().write_timeout);
    co_await net::async_write(stream_, net::buffer(go_on.data(), go_on.size()), into(failure));
    goes_on_ = goes_on_ && !failure;
    co_return !failure;
  }

  /// Completes the head of an answer. The client has the time for writing from now on.
  template <class Answer>
  void begin_answer(Answer& answer) {
    goes_on_ = goes_on_ && !is_unread_ && !terms_.is_ending();
    answer.version(11);
    answer.set("X-Content-Type-Options", "nosniff");
    if (!origin_.empty()) {
      answer.set(http::field::access_control_allow_origin, origin_);
      answer.set(http::field::access_control_expose_headers, "ETag, Location, Retry-After");
      answer.set(http::field::vary, "Origin");
    }
    answer.keep_alive(goes_on_);
    terms_.note_answer(answer.result_int());
    lowest().expires_after(options().write_timeout);
  }

  const connection_terms terms_;
  Stream stream_;
  beast::flat_buffer buffer_{buffer_bytes_max};
  bool is_new_ = true;
  bool is_idle_ = true;
  std::chrono::steady_clock::time_point head_began_; // When the first byte of the request came.
  std::size_t refused_in_a_row_ = 0;

  // Of the request that is being served.
  std::optional<http::request_parser<http::empty_body>> parser_; // Empty of use once the body is received.
  bool goes_on_ = true;
  bool is_head_ = false;
  bool is_unread_ = false; // It has a body that has not been received.
  bool is_known_ = false;  // Its token has been recognized.
  std::string origin_;     // Of a page that the program has named; else empty.
};

} // namespace troupe::web
