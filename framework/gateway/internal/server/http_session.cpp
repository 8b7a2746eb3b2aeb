#include <troupe/framework/gateway/internal/server/http_session.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <troupe/framework/gateway/internal/messages/schema.hpp>
#include <troupe/framework/gateway/internal/objects/byte_range.hpp>
#include <troupe/framework/gateway/internal/server/chunk_extras.hpp>
#include <troupe/framework/gateway/internal/server/client_state.hpp>
#include <troupe/framework/gateway/internal/server/request_head.hpp>
#include <troupe/framework/gateway/internal/server/socket_session.hpp>
#include <troupe/framework/gateway/internal/view/page_files.hpp>
#include <troupe/framework/gateway/internal/words/routes.hpp>
#include <troupe/framework/outside_actor.hpp>

namespace troupe::web {

namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t head_bytes_max = 16 * 1024;
constexpr std::size_t buffer_bytes_max = 64 * 1024;
constexpr std::size_t socket_key_characters = 24; // 16 bytes as base64.
constexpr std::size_t piece_bytes = 256 * 1024;
constexpr std::size_t chunk_extras_bytes_max = 64 * 1024;
constexpr std::size_t refused_in_a_row_max = 16; // Requests without a token that is known.
constexpr std::size_t linger_bytes_max = 1024 * 1024;
constexpr milliseconds linger_time{2'000};
constexpr milliseconds object_wait{10'000}; // For the bytes of an object on another host.

using empty_parser = http::request_parser<http::empty_body>;
using text_parser = http::request_parser<http::string_body>;
using raw_parser = http::request_parser<http::buffer_body>;
using text_response = http::response<http::string_body>;
using head_response = http::response<http::empty_body>;

refusal refused_with(unsigned status, const char* code, std::string text) {
  return {.status = status, .code = code, .text = std::move(text)};
}

std::unexpected<refusal> http_refusal(unsigned status, const char* code, std::string text) {
  return std::unexpected{refused_with(status, code, std::move(text))};
}

refusal refusal_of_head(head_state state) {
  if (state == head_state::too_long)
    return refused_with(431, "bad_head", "the head of a request has more than 16 KiB");
  return refused_with(400, "bad_head",
                      state == head_state::folded ? "a line of the head begins with a blank: no header is continued"
                                                  : "this is no request of HTTP");
}

beast::error_code error_of_extras(head_state state) {
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

/// One connection. A coroutine serves its requests.
///
/// Threads: those of the connection's executor, one at a time, except the functions that actors call.
template <class Stream>
class http_session : public std::enable_shared_from_this<http_session<Stream>> {
public:
  http_session(gateway_core& core, net::ip::tcp::socket socket, net::ssl::context* tls)
      : core_(core), stream_(made(std::move(socket), tls)), can_go_on_(stream_.get_executor()) {
    beast::error_code failure;
    const auto peer = beast::get_lowest_layer(stream_).socket().remote_endpoint(failure);
    address_ = failure ? std::string() : peer.address().to_string();
  }

  /// False if there is no room for the connection.
  [[nodiscard]] bool enter() {
    place_ = core_.connections().admit(address_, [door = core_.door(), to = this->weak_from_this()] {
      door->enter([&] {
        if (auto session = to.lock()) {
          auto executor = session->stream_.get_executor();
          net::post(executor, [session = std::move(session)] { session->shed(); });
        }
      });
    });
    return place_ != nullptr;
  }

  net::awaitable<void> run() {
    const auto self = this->shared_from_this(); // Keeps the session while this coroutine waits.
    if constexpr (std::is_same_v<Stream, tls_stream>) {
      beast::error_code failure;
      lowest().expires_after(core_.options().header_timeout);
      co_await stream_.async_handshake(net::ssl::stream_base::server, into(failure));
      if (failure)
        co_return;
    }
    while (co_await serve_one()) {
    }
    actor_.reset();
    if (stream_is_gone_)
      co_return;
    co_await linger();
    lowest().close();
  }

private:
  static Stream made(net::ip::tcp::socket socket, [[maybe_unused]] net::ssl::context* tls) {
    if constexpr (std::is_same_v<Stream, tls_stream>)
      return Stream(std::move(socket), *tls);
    else
      return Stream(std::move(socket));
  }
  [[nodiscard]] beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

  /// Reads a little of what the client still sends. If a socket is closed with unread bytes, the client may lose the
  /// answer that it has been sent.
  net::awaitable<void> linger() {
    beast::error_code failure;
    lowest().socket().shutdown(net::ip::tcp::socket::shutdown_send, failure);
    lowest().expires_after(linger_time);
    for (std::size_t left = linger_bytes_max; !failure && left > 0;) {
      buffer_.clear();
      const auto count =
          co_await lowest().async_read_some(buffer_.prepare(std::min(left, buffer_bytes_max)), into(failure));
      left -= count;
    }
  }

  /// Makes room for another connection, unless a request has begun meanwhile.
  void shed() {
    if (is_idle_ && !stream_is_gone_)
      lowest().close();
  }
  void set_idle(bool is_idle) {
    is_idle_ = is_idle;
    place_->set_idle(is_idle);
  }

  /// Serves the next request. The result is whether the connection may be used for another one.
  net::awaitable<bool> serve_one() {
    if (!co_await receive_head())
      co_return false;
    empty_parser parser;
    parser.header_limit(head_bytes_max);
    parser.body_limit(std::max<std::uint64_t>(core_.options().body_bytes_max, core_.options().object_bytes_max));
    beast::error_code failure;
    co_await http::async_read_header(stream_, buffer_, parser, into(failure));
    if (failure)
      co_return co_await refuse_unread(failure);
    set_idle(false);
    const bool goes_on = co_await answer(parser);
    co_return goes_on;
  }

  [[nodiscard]] std::string_view buffered() const {
    return {static_cast<const char*>(buffer_.data().data()), buffer_.size()};
  }

  /// Reads until the buffer has a whole head. Until its first byte comes, the connection is idle.
  net::awaitable<bool> receive_head() {
    lowest().expires_after(is_new_ ? core_.options().header_timeout : core_.options().idle_timeout);
    set_idle(true);
    head_began_ = std::chrono::steady_clock::now();
    bool has_begun = false;
    for (;;) {
      const auto bytes = buffered();
      const auto state = state_of_head(bytes, head_bytes_max);
      if (state == head_state::complete)
        co_return true;
      if (state != head_state::unfinished) {
        static_cast<void>(co_await respond(refusal_of_head(state), false));
        co_return false;
      }
      if (!bytes.empty() && !std::exchange(has_begun, true)) {
        lowest().expires_after(core_.options().header_timeout);
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

  /// Answers a request that could not be read, and ends the connection.
  net::awaitable<bool> refuse_unread(beast::error_code failure) {
    refusal why{.status = 400, .code = "bad_head", .text = "this is no request: " + failure.message()};
    if (failure == http::error::end_of_stream || failure == beast::error::timeout
        || failure.category() != make_error_code(http::error::end_of_stream).category())
      co_return false;
    if (failure == http::error::header_limit || failure == http::error::buffer_overflow)
      why = {.status = 431,
             .code = "too_large",
             .text = "the extensions and trailers of a chunked body have more than 64 KiB together"};
    if (failure == http::error::body_limit)
      why = {.status = 413, .code = "too_large", .text = "the body is larger than this gateway accepts"};
    static_cast<void>(co_await respond(why, false));
    co_return false;
  }

  net::awaitable<bool> answer(empty_parser& parser) {
    const auto& head = parser.get();
    keeps_alive_ = head.keep_alive();
    is_head_ = head.method() == http::verb::head;
    origin_.clear();
    is_known_ = false;
    if (auto checked = check_head(head, core_.sites()); !checked)
      co_return co_await respond(checked.error(), false);
    if (core_.sites().is_named(value_of(head, http::field::origin)))
      origin_ = value_of(head, http::field::origin);
    const bool is_upgrade = beast::websocket::is_upgrade(head);
    const auto method = head.method_string();
    const auto target = head.target();
    auto found = find_route({method.data(), method.size()}, {target.data(), target.size()}, is_upgrade);
    if (!found)
      co_return co_await respond(found.error(), has_no_body(parser));
    if (found->what == action::ask_leave)
      co_return co_await respond_leave(has_no_body(parser));
    if (found->what == action::show_page)
      co_return co_await show_page(parser, found->name);
    const auto token = found->what == action::open_socket ? token_for_socket(head)
                                                          : bearer_token(value_of(head, http::field::authorization));
    std::shared_ptr<const token_rights> rights;
    if (found->what != action::open_socket || !token.empty()) { // Else the token comes in the first message.
      auto recognized = core_.doorkeeper().recognize(token, address_);
      if (!recognized) // A connection that guesses ends.
        co_return co_await respond(recognized.error(), false);
      rights = *std::move(recognized);
      is_known_ = true;
      refused_in_a_row_ = 0;
      if (auto counted = core_.doorkeeper().count(*rights); !counted)
        co_return co_await respond(counted.error(), has_no_body(parser));
    }
    switch (found->what) {
    case action::call_actor:
      co_return co_await call_actor(parser, found->name, *rights);
    case action::open_socket:
      co_return co_await open_socket(parser, found->name, std::move(rights));
    case action::show_schema:
      co_return co_await show_schema(parser, *rights);
    case action::read_object:
      co_return co_await read_object(parser, found->name, *rights);
    case action::make_object:
      co_return co_await make_object(parser, *rights);
    case action::delete_object:
      co_return co_await delete_object(parser, found->name, *rights);
    case action::view_state:
    case action::view_link:
    case action::view_memory:
    case action::view_activity:
      co_return co_await show_view(parser, *found, *rights);
    case action::view_act:
      co_return co_await act_on_view(parser, *rights);
    case action::show_page:
    case action::ask_leave:
      break;
    }
    co_return false;
  }

  /// Whether nothing of the request is left unread, so that another one may follow.
  [[nodiscard]] static bool has_no_body(const empty_parser& parser) {
    return !parser.chunked() && parser.content_length().value_or(0) == 0;
  }

  static std::string_view token_for_socket(const http::fields& head) {
    const auto bearer = bearer_token(value_of(head, http::field::authorization));
    return bearer.empty() ? token_of_protocols(value_of(head, http::field::sec_websocket_protocol)) : bearer;
  }

  // Answers.

  void set_common(http::fields& to) const {
    to.set("X-Content-Type-Options", "nosniff");
    if (!origin_.empty()) {
      to.set(http::field::access_control_allow_origin, origin_);
      to.set(http::field::access_control_expose_headers, "ETag, Location, Retry-After");
      to.set(http::field::vary, "Origin");
    }
  }

  net::awaitable<bool> respond_text(text_response& made, bool goes_on) {
    set_common(made.base());
    made.version(11);
    made.keep_alive(goes_on && keeps_alive_);
    if (is_head_) { // The length is that of the answer to GET.
      const auto bytes = made.body().size();
      made.body().clear();
      made.content_length(bytes);
    } else {
      made.prepare_payload();
    }
    core_.note_answer(made.result_int());
    lowest().expires_after(core_.options().write_timeout);
    beast::error_code failure;
    co_await http::async_write(stream_, made, into(failure));
    co_return !failure && goes_on && keeps_alive_;
  }

  net::awaitable<bool> respond_json(unsigned status, std::string json, bool goes_on) {
    text_response made;
    made.result(status);
    made.set(http::field::content_type, "application/json");
    made.set(http::field::cache_control, "no-store");
    made.body() = std::move(json);
    co_return co_await respond_text(made, goes_on);
  }

  [[nodiscard]] static text_response response_of(const refusal& why) {
    text_response made;
    made.result(why.status);
    made.set(http::field::content_type, "application/json");
    made.set(http::field::cache_control, "no-store");
    if (why.status == 401)
      made.set(http::field::www_authenticate, "Bearer");
    if (why.retry_after_seconds > 0)
      made.set(http::field::retry_after, std::to_string(why.retry_after_seconds));
    made.body() = json_of(why);
    return made;
  }

  /// A client that is refused again and again, and has no token, loses its connection.
  net::awaitable<bool> respond(const refusal& why, bool goes_on) {
    if (!is_known_ && ++refused_in_a_row_ >= refused_in_a_row_max)
      goes_on = false;
    auto made = response_of(why);
    co_return co_await respond_text(made, goes_on);
  }

  /// A browser asks before it sends a page's request. Only the pages that the program has named get leave.
  net::awaitable<bool> respond_leave(bool goes_on) {
    if (origin_.empty()) {
      const refusal why{.status = 403, .code = "wrong_origin", .text = "no page has this gateway's leave by CORS"};
      co_return co_await respond(why, goes_on);
    }
    text_response made;
    made.result(http::status::no_content);
    made.set(http::field::access_control_allow_methods, "GET, HEAD, POST, PUT, DELETE");
    made.set(http::field::access_control_allow_headers,
             "Authorization, Content-Type, Range, If-None-Match, Troupe-Timeout-Ms");
    made.set(http::field::access_control_max_age, "600");
    co_return co_await respond_text(made, goes_on);
  }

  // Bodies.

  [[nodiscard]] milliseconds time_for(std::uint64_t bytes) const {
    return core_.options().body_timeout + std::chrono::seconds(bytes / (32 * 1024));
  }

  /// A client that asks whether it should send a large body is told to go on.
  net::awaitable<bool> invite_body(const empty_parser& parser) {
    if (!is_same_word(value_of(parser.get(), http::field::expect), "100-continue"))
      co_return true;
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    beast::error_code failure;
    lowest().expires_after(core_.options().write_timeout);
    co_await net::async_write(stream_, net::buffer(go_on.data(), go_on.size()), into(failure));
    co_return !failure;
  }

  /// The body of a request. Fails with the result of serve_one(), after the client has been told.
  net::awaitable<std::expected<std::string, bool>> receive_text(empty_parser& parser) {
    if (!co_await invite_body(parser))
      co_return std::unexpected{false};
    lowest().expires_after(time_for(parser.content_length().value_or(core_.options().body_bytes_max)));
    text_parser body{std::move(parser)};
    body.body_limit(core_.options().body_bytes_max);
    chunk_extras extras{chunk_extras_bytes_max};
    auto check = [&](std::uint64_t size, beast::string_view extension, beast::error_code& failed) {
      failed = error_of_extras(extras.note(size == 0, {extension.data(), extension.size()}, buffered()));
    };
    body.on_chunk_header(check);
    beast::error_code failure;
    co_await http::async_read(stream_, buffer_, body, into(failure));
    if (failure)
      co_return std::unexpected{co_await refuse_unread(failure)};
    co_return std::move(body.get().body());
  }

  // Actors.

  net::awaitable<bool> call_actor(empty_parser& parser, const std::string& name, const token_rights& by) {
    if (!by.calls.covers(name))
      co_return co_await respond(refused_with(403, "not_allowed", "this token may not use this actor"),
                                 has_no_body(parser));
    auto target = core_.actors().find(name);
    if (!target)
      co_return co_await respond(target.error(), has_no_body(parser));
    if (auto checked = check_json(parser); !checked)
      co_return co_await respond(checked.error(), false);
    auto timeout = timeout_of(parser.get());
    if (!timeout)
      co_return co_await respond(timeout.error(), false);
    const auto text = co_await receive_text(parser);
    if (!text)
      co_return text.error();
    auto answered =
        co_await ask((*target)->actor, **target, *text,
                     std::min(timeout->value_or(core_.options().answer_timeout), core_.options().answer_timeout_max));
    if (!answered)
      co_return co_await respond(answered.error(), true);
    co_return co_await respond_json(200, *std::move(answered), true);
  }

  std::expected<void, refusal> check_json(const empty_parser& parser) const {
    auto type = value_of(parser.get(), http::field::content_type);
    type = type.substr(0, type.find(';'));
    type = type.substr(0, type.find_last_not_of(' ') + 1);
    if (!is_same_word(type, "application/json"))
      return http_refusal(415, "wrong_type", "Content-Type must be application/json");
    if (!value_of(parser.get(), http::field::content_encoding).empty())
      return http_refusal(415, "wrong_type", "the body must not be compressed");
    if (parser.content_length().value_or(0) > core_.options().body_bytes_max)
      return http_refusal(413, "too_large",
                          "body of " + std::to_string(*parser.content_length()) + " bytes, limit "
                              + std::to_string(core_.options().body_bytes_max));
    return {};
  }

  [[nodiscard]] outside_actor& actor() {
    if (!actor_) // What actors send besides answers has no receiver.
      actor_.emplace(core_.home().system(), [](relayed_message message) {
        std::move(message).fail({node_errc::unsupported, "a client of HTTP takes no messages"});
      });
    return *actor_;
  }

  net::awaitable<std::expected<std::string, refusal>> ask(const caf::actor& target, const exposed_actor& how,
                                                          std::string_view body, milliseconds timeout) {
    const auto values = core_.messages().cut(body);
    if (!values)
      co_return std::unexpected{values.error()};
    if (auto checked = how.check(*values); !checked)
      co_return std::unexpected{checked.error()};
    auto message = core_.messages().decode(*values);
    if (!message)
      co_return std::unexpected{message.error()};
    result_.reset();
    const auto number = ++question_;
    const auto request = actor().ask(
        target, *std::move(message), timeout,
        [door = core_.door(), to = this->weak_from_this(), number](std::expected<caf::message, node_error> answer) {
          door->enter([&] {
            if (auto session = to.lock())
              session->take_answer(session, number, answer);
          });
        });
    lowest().expires_never(); // The client waits for this end now.
    const bool is_gone = co_await wait_for_result(timeout);
    if (result_)
      co_return *std::exchange(result_, std::nullopt);
    ++question_; // An answer that is on its way is too late.
    static_cast<void>(actor().give_up(request));
    keeps_alive_ = keeps_alive_ && !is_gone;
    co_return is_gone ? http_refusal(400, "gone", "the client has closed its side before the answer came")
                      : http_refusal(504, "timed_out", "no answer within " + std::to_string(timeout.count()) + " ms");
  }

  /// The result is whether the client left before. A client that has closed its side has most likely closed the
  /// connection, and must not keep its place until then.
  net::awaitable<bool> wait_for_result(milliseconds timeout) {
    const auto limit = std::chrono::steady_clock::now() + timeout;
    beast::error_code failure;
    while (!result_ && std::chrono::steady_clock::now() < limit) {
      can_go_on_.expires_at(std::min(limit, std::chrono::steady_clock::now() + look_interval));
      co_await can_go_on_.async_wait(into(failure));
      if (!result_ && look_at(lowest().socket()) != client_state::present)
        co_return true;
    }
    co_return false;
  }

  /// Called by the answering actor's thread, which encodes the answer.
  void take_answer(const std::shared_ptr<http_session>& self, std::uint64_t number,
                   const std::expected<caf::message, node_error>& answer) {
    auto text = answer ? core_.messages().encode(*answer, core_.options().answer_bytes_max)
                       : std::expected<std::string, refusal>(std::unexpected{refusal_of(answer.error())});
    auto executor = stream_.get_executor();
    net::post(executor, [self, number, text = std::move(text)]() mutable {
      if (self->question_ != number)
        return;
      self->result_.emplace(std::move(text));
      self->can_go_on_.cancel();
    });
  }

  net::awaitable<bool> open_socket(empty_parser& parser, const std::string& name,
                                   std::shared_ptr<const token_rights> rights) {
    if (rights && !rights->calls.covers(name))
      co_return co_await respond(refused_with(403, "not_allowed", "this token may not use this actor"), false);
    if (rights) // A client without a token does not learn which actors there are.
      if (auto target = core_.actors().find(name); !target)
        co_return co_await respond(target.error(), false);
    if (!has_no_body(parser) || buffer_.size() != 0)
      co_return co_await respond(refused_with(400, "bad_head", "an upgrade has no body"), false);
    if (value_of(parser.get(), http::field::sec_websocket_version) != "13") {
      auto made = response_of(refused_with(426, "wrong_version", "Sec-WebSocket-Version must be 13"));
      made.set(http::field::upgrade, "websocket");
      made.set(http::field::sec_websocket_version, "13");
      co_return co_await respond_text(made, false);
    }
    if (value_of(parser.get(), http::field::sec_websocket_key).size() != socket_key_characters)
      co_return co_await respond(refused_with(400, "bad_head", "Sec-WebSocket-Key must have 24 characters"), false);
    const auto protocols = value_of(parser.get(), http::field::sec_websocket_protocol);
    if (!protocols.empty() && !offers_protocol(protocols))
      co_return co_await respond(refused_with(400, "bad_head", "the subprotocol of this gateway is troupe.1"), false);
    core_.note_answer(101);
    socket_opening opening{.actor = name,
                           .address = address_,
                           .rights = std::move(rights),
                           .token_limit = head_began_ + core_.options().header_timeout,
                           .protocol = std::string(protocols.empty() ? std::string_view() : socket_protocol),
                           .place = std::move(place_)};
    auto request = parser.release();
    stream_is_gone_ = true;
    co_await serve_socket(core_, std::move(stream_), std::move(opening), std::move(request));
    co_return false;
  }

  // The schema.

  net::awaitable<bool> show_schema(empty_parser& parser, const token_rights& by) {
    if (!by.schema)
      co_return co_await respond(refused_with(403, "not_allowed", "this token may not read the schema"),
                                 has_no_body(parser));
    auto text = schema_of(core_.home().types(), core_.actors().all(), by, core_.url());
    co_return co_await respond_json(200, std::move(text), has_no_body(parser));
  }

  // The view.

  net::awaitable<bool> show_page(empty_parser& parser, const std::string& name) {
    const auto* const file = core_.view() ? find_page_file(name) : nullptr;
    if (file == nullptr)
      co_return co_await respond(
          refused_with(404, "not_found", core_.view() ? "the view has no such file" : "this gateway has no view"),
          has_no_body(parser));
    text_response made;
    made.set(http::field::content_type, std::string(file->content_type));
    made.set(http::field::cache_control, "no-store");
    made.set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                                        "img-src 'self' data:; base-uri 'none'; form-action 'none'; "
                                        "frame-ancestors 'none'");
    made.set("Referrer-Policy", "no-referrer");
    made.set("Cross-Origin-Resource-Policy", "same-origin");
    made.body() = file->bytes;
    co_return co_await respond_text(made, has_no_body(parser));
  }

  net::awaitable<bool> show_view(empty_parser& parser, const route& wanted, const token_rights& by) {
    const auto view = core_.view();
    if (!view || !by.view) {
      const auto why = view ? refused_with(403, "not_allowed", "this token may not look at the view")
                            : refused_with(404, "not_found", "this gateway has no view");
      co_return co_await respond(why, has_no_body(parser));
    }
    std::expected<view_desk::text, refusal> shown;
    const auto show = [&] {
      shown = wanted.what == action::view_state      ? view->state()
              : wanted.what == action::view_memory   ? view->memory()
              : wanted.what == action::view_activity ? view->activity()
                                                     : view->link(wanted.name, wanted.number);
    };
    co_await elsewhere(core_.view_thread(), show);
    if (!shown)
      co_return co_await respond(shown.error(), has_no_body(parser));
    text_response made;
    made.set(http::field::content_type, "application/json");
    made.set(http::field::cache_control, "no-store");
    if (by.act) // The page offers orders to these tokens only.
      made.set("Troupe-View-Act", "1");
    made.body() = **shown;
    co_return co_await respond_text(made, has_no_body(parser));
  }

  net::awaitable<bool> act_on_view(empty_parser& parser, const token_rights& by) {
    const auto view = core_.view();
    if (!view || !by.act) {
      const auto why = view ? refused_with(403, "not_allowed", "this token may not give orders")
                            : refused_with(404, "not_found", "this gateway has no view");
      co_return co_await respond(why, has_no_body(parser));
    }
    if (auto checked = check_json(parser); !checked)
      co_return co_await respond(checked.error(), false);
    auto order = co_await receive_text(parser);
    if (!order)
      co_return order.error();
    std::expected<view_desk::text, refusal> done;
    const auto act = [&] { done = view->act(*order, by.name); };
    co_await elsewhere(core_.view_thread(), act);
    if (!done)
      co_return co_await respond(done.error(), true);
    co_return co_await respond_json(200, **done, true);
  }

  // Objects.

  /// Runs what may block on another thread.
  template <class Work>
  net::awaitable<void> elsewhere(Work& work) {
    co_await elsewhere(core_.workers(), work);
  }
  template <class Work>
  net::awaitable<void> elsewhere(net::thread_pool& threads, Work& work) {
    lowest().expires_never();
    co_await net::co_spawn(
        threads.get_executor(),
        [&work]() -> net::awaitable<void> {
          work();
          co_return;
        },
        net::use_awaitable);
  }

  net::awaitable<bool> read_object(empty_parser& parser, const std::string& id, const token_rights& by) {
    if (!has_no_body(parser))
      co_return co_await respond(refused_with(400, "bad_head", "a GET has no body"), false);
    const auto object = core_.objects().find(by, id, object_shelf::clock::now());
    if (!object)
      co_return co_await respond(object.error(), true);
    if (value_of(parser.get(), http::field::if_none_match) == object->tag) {
      text_response same;
      same.result(http::status::not_modified);
      same.set(http::field::etag, object->tag);
      co_return co_await respond_text(same, true);
    }
    std::expected<object_page, node_error> page;
    const auto load = [&] { page = object->load(object_wait); };
    co_await elsewhere(load);
    if (!page)
      co_return co_await respond(refusal_of(page.error()), true);
    const auto if_range = value_of(parser.get(), http::field::if_range);
    const auto range =
        if_range.empty() || if_range == object->tag ? value_of(parser.get(), http::field::range) : std::string_view();
    const auto whole = page->head.size() + page->bytes.size_bytes();
    const auto wanted = read_range(range, whole);
    if (wanted.kind == range_kind::unsatisfiable) {
      auto made = response_of(refused_with(416, "bad_range", "the object has " + std::to_string(whole) + " bytes"));
      made.set(http::field::content_range, "bytes */" + std::to_string(whole));
      co_return co_await respond_text(made, true);
    }
    co_return co_await send_page(*page, wanted, object->tag);
  }

  net::awaitable<bool> send_page(const object_page& page, const wanted_bytes& wanted, const std::string& tag) {
    head_response made;
    made.version(11);
    made.result(wanted.kind == range_kind::part ? http::status::partial_content : http::status::ok);
    made.set(http::field::content_type, page.content_type);
    made.set(http::field::etag, tag);
    made.set(http::field::accept_ranges, "bytes");
    made.set(http::field::cache_control, "private, no-cache");
    made.set(http::field::content_disposition, "attachment"); // A browser must not show it as a page of the gateway's.
    made.set("Content-Security-Policy", "sandbox");
    set_common(made.base());
    if (wanted.kind == range_kind::part)
      made.set(http::field::content_range, "bytes " + std::to_string(wanted.bytes.first) + "-"
                                               + std::to_string(wanted.bytes.first + wanted.bytes.size_bytes - 1) + "/"
                                               + std::to_string(page.head.size() + page.bytes.size_bytes()));
    made.content_length(wanted.bytes.size_bytes);
    made.keep_alive(keeps_alive_);
    core_.note_answer(made.result_int());
    beast::error_code failure;
    lowest().expires_after(core_.options().write_timeout);
    http::response_serializer<http::empty_body> head{made};
    co_await http::async_write_header(stream_, head, into(failure));
    auto first = wanted.bytes.first;
    auto left = is_head_ ? 0 : wanted.bytes.size_bytes;
    while (!failure && left > 0) { // Pieces, so that the client has the time for each of them.
      const bool in_head = first < page.head.size();
      const auto* const from =
          in_head ? page.head.data() + first
                  : reinterpret_cast<const char*>(page.bytes.bytes().data()) + first - page.head.size();
      const auto here = in_head ? page.head.size() - first : page.head.size() + page.bytes.size_bytes() - first;
      const auto count = std::min({left, static_cast<std::uint64_t>(here), std::uint64_t{piece_bytes}});
      lowest().expires_after(core_.options().write_timeout);
      co_await net::async_write(stream_, net::buffer(from, count), into(failure));
      first += count;
      left -= count;
    }
    co_return !failure && keeps_alive_;
  }

  net::awaitable<bool> make_object(empty_parser& parser, const token_rights& by) {
    const auto size_bytes = parser.content_length();
    if (!size_bytes || parser.chunked())
      co_return co_await respond(refused_with(411, "no_length", "an object needs the header Content-Length"), false);
    if (*size_bytes > core_.options().object_bytes_max)
      co_return co_await respond(refused_with(413, "too_large",
                                              "object of " + std::to_string(*size_bytes) + " bytes, limit "
                                                  + std::to_string(core_.options().object_bytes_max)),
                                 false);
    auto room = core_.objects().reserve(by, *size_bytes);
    if (!room)
      co_return co_await respond(room.error(), *size_bytes == 0);
    std::optional<std::expected<array_builder<std::byte>, node_error>> build;
    const auto make = [&] { build.emplace(core_.home().template make_array<std::byte>(*size_bytes)); };
    co_await elsewhere(make);
    if (!*build)
      co_return co_await respond(refusal_of(build->error()), *size_bytes == 0);
    if (!co_await invite_body(parser))
      co_return false;
    lowest().expires_after(time_for(*size_bytes));
    raw_parser body{std::move(parser)};
    body.body_limit(*size_bytes);
    beast::error_code failure;
    const auto target = (*build)->values();
    body.get().body().data = target.data();
    body.get().body().size = target.size();
    body.get().body().more = true;
    while (!body.is_done() && !failure) {
      co_await http::async_read(stream_, buffer_, body, into(failure));
      if (failure == http::error::need_buffer)
        failure = {};
    }
    if (failure)
      co_return co_await refuse_unread(failure);
    std::optional<std::expected<object_ref<array<std::byte>>, node_error>> sealed;
    const auto seal = [&] { sealed.emplace(std::move(**build).seal()); };
    co_await elsewhere(seal);
    if (!*sealed)
      co_return co_await respond(refusal_of(sealed->error()), true);
    auto load = [object = **sealed](milliseconds wait) -> std::expected<object_page, node_error> {
      auto value = object.get(wait);
      if (!value)
        return std::unexpected{value.error()};
      return page_of(*value);
    };
    const auto id = core_.objects().put(by, *std::move(room), std::move(load), object_shelf::clock::now());
    text_response made;
    made.result(http::status::created);
    made.set(http::field::content_type, "application/json");
    made.set(http::field::location, "/objects/" + id);
    made.body() = "{\"id\":" + json_text(id) + ",\"bytes\":" + std::to_string(*size_bytes)
                  + ",\"seconds\":" + std::to_string(core_.options().object_lifetime.count()) + "}";
    co_return co_await respond_text(made, true);
  }

  net::awaitable<bool> delete_object(empty_parser& parser, const std::string& id, const token_rights& by) {
    if (auto removed = core_.objects().remove(by, id, object_shelf::clock::now()); !removed)
      co_return co_await respond(removed.error(), has_no_body(parser));
    text_response made;
    made.result(http::status::no_content);
    co_return co_await respond_text(made, has_no_body(parser));
  }

  gateway_core& core_;
  Stream stream_;
  std::string address_;
  std::unique_ptr<connection_table::place> place_; // Set by enter(); null once the connection is a WebSocket.
  beast::flat_buffer buffer_{buffer_bytes_max};
  bool is_new_ = true;
  bool is_idle_ = true;
  std::chrono::steady_clock::time_point head_began_; // When the first byte of the request came.
  std::size_t refused_in_a_row_ = 0;
  bool stream_is_gone_ = false; // It has become a WebSocket.

  // Of the request that is being served.
  bool keeps_alive_ = false;
  bool is_head_ = false;
  bool is_known_ = false; // Its token has been recognized.
  std::string origin_;    // Of a page that the program has named; else empty.

  // Of the request to an actor.
  std::optional<outside_actor> actor_; // Made by the first request.
  net::steady_timer can_go_on_;
  std::uint64_t question_ = 0;
  std::optional<std::expected<std::string, refusal>> result_;
};

template <class Stream>
void begin_session(gateway_core& core, net::ip::tcp::socket socket, net::ssl::context* tls) {
  auto executor = socket.get_executor();
  auto session = std::make_shared<http_session<Stream>>(core, std::move(socket), tls);
  if (session->enter())
    net::co_spawn(
        executor, [session]() -> net::awaitable<void> { co_await session->run(); }, net::detached);
}

} // namespace

void serve_http(gateway_core& core, net::ip::tcp::socket socket, net::ssl::context* tls) {
  if (tls != nullptr)
    begin_session<tls_stream>(core, std::move(socket), tls);
  else
    begin_session<plain_stream>(core, std::move(socket), tls);
}

} // namespace troupe::web
