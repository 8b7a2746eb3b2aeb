#include <troupe/framework/gateway/internal/server/http_session.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <troupe/framework/gateway/internal/messages/schema.hpp>
#include <troupe/framework/gateway/internal/server/actor_caller.hpp>
#include <troupe/framework/gateway/internal/server/http_connection.hpp>
#include <troupe/framework/gateway/internal/server/object_requests.hpp>
#include <troupe/framework/gateway/internal/server/socket_session.hpp>
#include <troupe/framework/gateway/internal/server/view_requests.hpp>
#include <troupe/framework/gateway/internal/words/routes.hpp>

namespace troupe::web {

namespace {

constexpr std::size_t socket_key_characters = 24; // 16 bytes as base64.

/// Serves the requests of one connection. It recognizes the token of each request and passes the request to its action.
///
/// Threads: those of the connection's executor, one at a time.
template <class Stream>
class http_session : public std::enable_shared_from_this<http_session<Stream>> {
public:
  http_session(gateway_core& core, Stream stream, const net::any_io_executor& executor, std::string address)
      : core_(core),
        executor_(executor),
        address_(std::move(address)),
        connection_(std::move(stream), {.options = core.options(),
                                        .note_answer = [&core](unsigned status) { core.note_answer(status); },
                                        .set_idle = [this](bool is_idle) { place_->set_idle(is_idle); },
                                        .is_ending = [&core] { return core.is_draining(); },
                                        .add_unread = [this](std::size_t bytes) { return unread_->add(bytes); },
                                        .subtract_unread = [this](std::size_t bytes) { unread_->subtract(bytes); }}),
        caller_(std::make_shared<actor_caller>(core, executor)) {}

  /// False if there is no room for the connection.
  [[nodiscard]] bool enter() {
    unread_ = core_.unread().open(told_action(core_.door(), this->weak_from_this(), [](http_session& session) {
      if (!session.is_socket_)
        session.connection_.close();
    }));
    place_ = core_.connections().admit(address_,
                                       told_action(core_.door(), this->weak_from_this(), [](http_session& session) {
                                         if (!session.is_socket_) // A request that has begun meanwhile is answered.
                                           session.connection_.close_if_idle();
                                       }));
    return place_ != nullptr;
  }

  [[nodiscard]] const net::any_io_executor& executor() const noexcept { return executor_; }

  net::awaitable<void> run() {
    const auto self = this->shared_from_this(); // Keeps the session while this coroutine waits.
    if (!co_await connection_.shake_hands())
      co_return;
    do {
      if (!co_await connection_.receive())
        break;
      co_await serve();
    } while (connection_.goes_on() && !core_.is_draining());
    caller_->end();
    if (!is_socket_)
      co_await connection_.linger();
  }

private:
  net::awaitable<void> serve() {
    const auto& head = connection_.request();
    if (auto checked = check_head(head, core_.sites()); !checked) {
      connection_.end_after_answer();
      co_return co_await connection_.refuse(checked.error());
    }
    if (const auto origin = value_of(head, http::field::origin); core_.sites().is_named(origin))
      connection_.set_origin(std::string(origin));
    const bool is_upgrade = beast::websocket::is_upgrade(head);
    const auto method = head.method_string();
    const auto target = head.target();
    auto found = find_route({method.data(), method.size()}, {target.data(), target.size()}, is_upgrade);
    if (!found)
      co_return co_await connection_.refuse(found.error());
    if (found->what == action::ask_leave)
      co_return co_await give_leave();
    if (found->what == action::show_page)
      co_return co_await show_page(core_, connection_, std::move(found->name));
    const auto token = found->what == action::open_socket ? token_for_socket(head)
                                                          : bearer_token(value_of(head, http::field::authorization));
    if (found->what == action::open_socket && token.empty()) // It comes in the first message.
      co_return co_await open_socket(std::move(found->name), nullptr);
    auto rights = core_.doorkeeper().recognize(token, address_);
    if (!rights) {
      connection_.end_after_answer(); // A connection that guesses ends.
      co_return co_await connection_.refuse(rights.error());
    }
    connection_.set_known();
    if (auto counted = core_.doorkeeper().count(**rights); !counted)
      co_return co_await connection_.refuse(counted.error());
    co_await serve(*std::move(found), *std::move(rights));
  }

  net::awaitable<void> serve(route wanted, std::shared_ptr<const token_rights> by) {
    switch (wanted.what) {
    case action::call_actor:
      return caller_->serve(connection_, std::move(wanted.name), std::move(by));
    case action::open_socket:
      return open_socket(std::move(wanted.name), std::move(by));
    case action::show_schema:
      return show_schema(std::move(by));
    case action::read_object:
      return read_object(core_, connection_, std::move(wanted.name), std::move(by));
    case action::make_object:
      return make_object(core_, connection_, std::move(by));
    case action::delete_object:
      return delete_object(core_, connection_, std::move(wanted.name), std::move(by));
    case action::view_act:
      return act_on_view(core_, connection_, std::move(by));
    default:
      return show_view(core_, connection_, std::move(wanted), std::move(by));
    }
  }

  static std::string_view token_for_socket(const http::fields& head) {
    const auto bearer = bearer_token(value_of(head, http::field::authorization));
    return bearer.empty() ? token_of_protocols(value_of(head, http::field::sec_websocket_protocol)) : bearer;
  }

  /// A browser asks before it sends a page's request. Only the pages that the program has named get leave.
  net::awaitable<void> give_leave() {
    if (!core_.sites().is_named(value_of(connection_.head(), http::field::origin)))
      co_return co_await connection_.refuse(
          refused_with(403, "wrong_origin", "no page has this gateway's leave by CORS"));
    text_response made;
    made.result(http::status::no_content);
    made.set(http::field::access_control_allow_methods, "GET, HEAD, POST, PUT, DELETE");
    made.set(http::field::access_control_allow_headers,
             "Authorization, Content-Type, Range, If-None-Match, Troupe-Timeout-Ms");
    made.set(http::field::access_control_max_age, "600");
    co_await connection_.respond(std::move(made));
  }

  net::awaitable<void> show_schema(std::shared_ptr<const token_rights> by) {
    if (!by->schema)
      co_return co_await connection_.refuse(refused_with(403, "not_allowed", "this token may not read the schema"));
    co_await connection_.respond(
        json_response(200, schema_of(core_.home().types(), core_.actors().all(), *by, core_.url())));
  }

  net::awaitable<void> open_socket(std::string name, std::shared_ptr<const token_rights> by) {
    if (auto why = check_upgrade(name, by.get())) {
      connection_.end_after_answer();
      co_return co_await connection_.respond(*std::move(why));
    }
    core_.note_answer(101);
    const auto protocols = value_of(connection_.head(), http::field::sec_websocket_protocol);
    socket_opening opening{.actor = std::move(name),
                           .address = address_,
                           .rights = std::move(by),
                           .token_limit = connection_.head_began() + core_.options().header_timeout,
                           .protocol = std::string(protocols.empty() ? std::string_view() : socket_protocol),
                           .place = std::move(place_)};
    is_socket_ = true;
    auto [stream, request] = connection_.release();
    co_await serve_socket(core_, std::move(stream), std::move(opening), std::move(request));
  }

  /// The answer, if the request cannot become a WebSocket.
  std::optional<text_response> check_upgrade(const std::string& name, const token_rights* by) {
    if (by != nullptr && !by->calls.covers(name))
      return response_of(refused_with(403, "not_allowed", "this token may not use this actor"));
    if (by != nullptr) // A client without a token does not learn which actors there are.
      if (auto target = core_.actors().find(name); !target)
        return response_of(target.error());
    if (connection_.has_unread_body() || connection_.has_more())
      return response_of(refused_with(400, "bad_head", "an upgrade has no body"));
    const auto& head = connection_.head();
    if (value_of(head, http::field::sec_websocket_version) != "13") {
      auto made = response_of(refused_with(426, "wrong_version", "Sec-WebSocket-Version must be 13"));
      made.set(http::field::upgrade, "websocket");
      made.set(http::field::sec_websocket_version, "13");
      return made;
    }
    if (value_of(head, http::field::sec_websocket_key).size() != socket_key_characters)
      return response_of(refused_with(400, "bad_head", "Sec-WebSocket-Key must have 24 characters"));
    const auto protocols = value_of(head, http::field::sec_websocket_protocol);
    if (!protocols.empty() && !offers_protocol(protocols))
      return response_of(refused_with(400, "bad_head", "the subprotocol of this gateway is troupe.1"));
    return std::nullopt;
  }

  gateway_core& core_;
  const net::any_io_executor executor_;
  const std::string address_;
  std::unique_ptr<unread_ledger::account> unread_; // Set by enter().
  std::unique_ptr<connection_table::place> place_; // Set by enter(); null once the connection is a WebSocket.
  http_connection<Stream> connection_;
  const std::shared_ptr<actor_caller> caller_;
  bool is_socket_ = false; // The connection has become a WebSocket.
};

template <class Stream>
void begin_session(gateway_core& core, Stream stream, const net::any_io_executor& executor, std::string address) {
  auto session = std::make_shared<http_session<Stream>>(core, std::move(stream), executor, std::move(address));
  if (session->enter())
    net::co_spawn(
        executor, [session]() -> net::awaitable<void> { co_await session->run(); }, net::detached);
}

} // namespace

void serve_http(gateway_core& core, net::ip::tcp::socket socket, net::ssl::context* tls) {
  const net::any_io_executor executor = socket.get_executor();
  beast::error_code failure;
  const auto peer = socket.remote_endpoint(failure);
  auto address = failure ? std::string() : peer.address().to_string();
  if (tls != nullptr)
    begin_session<tls_stream>(core, tls_stream(std::move(socket), *tls), executor, std::move(address));
  else
    begin_session<plain_stream>(core, plain_stream(std::move(socket)), executor, std::move(address));
}

} // namespace troupe::web
