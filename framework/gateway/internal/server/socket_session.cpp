#include <troupe/framework/gateway/internal/server/socket_session.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <troupe/framework/gateway/internal/messages/open_questions.hpp>
#include <troupe/framework/gateway/internal/messages/socket_words.hpp>
#include <troupe/framework/gateway/internal/server/client_state.hpp>
#include <troupe/framework/gateway/internal/server/run_on.hpp>
#include <troupe/framework/outside_actor.hpp>

namespace troupe::web {

namespace {

namespace websocket = beast::websocket;
using std::chrono::steady_clock;

constexpr std::size_t token_text_bytes_max = 4096;
constexpr std::chrono::milliseconds closing_time{2'000}; // For a client to read a close frame and to answer it.
constexpr std::size_t error_text_bytes_max = 4096;       // Of a client that does not answer.
constexpr std::chrono::milliseconds stuck_time{1'000};   // Without a message consumed, while the program waits, too.
constexpr std::chrono::milliseconds farewell_time{200};  // For a client without a token to read why its socket ends.

/// One WebSocket. A coroutine reads and one writes; both end soon after end() or a failure. The place in the table of
/// connections is free as soon as the connection is closed, whatever the client has under way.
///
/// Threads: those of the connection's executor, one at a time, except push() and the functions that actors call.
template <class Stream>
class socket_session : public std::enable_shared_from_this<socket_session<Stream>> {
public:
  socket_session(gateway_core& core, Stream stream, socket_opening opening)
      : core_(core),
        opening_(std::move(opening)),
        socket_(std::move(stream)),
        questions_(core.options().socket_questions_max),
        question_limit_(socket_.get_executor()),
        can_write_(socket_.get_executor()),
        can_read_(socket_.get_executor()),
        write_limit_(socket_.get_executor()),
        token_limit_(socket_.get_executor()) {}
  ~socket_session() {
    if (is_counted_)
      core_.note_socket(false);
  }

  [[nodiscard]] net::any_io_executor executor() { return socket_.get_executor(); }

  net::awaitable<void> run(http::request<http::empty_body> request) {
    auto self = this->shared_from_this(); // Keeps the session while this coroutine waits.
    beast::error_code failure;
    prepare();
    make_room_on_demand();
    unread_ = core_.unread().open(told_action(core_.door(), weak(), [](socket_session& session) {
      session.drop_outbox();
      session.close();
    }));
    if (!opening_.rights)
      limit_token();
    co_await socket_.async_accept(request, into(failure));
    if (failure)
      co_return;
    begin();
    end_if_drained();
    const bool is_gone = co_await read_all();
    end(websocket::close_code::none, {node_errc::link_down, "the client has closed the WebSocket"});
    // If the client is to be told why, the writing coroutine does so and closes the connection then.
    if (is_gone || close_code_ == websocket::close_code::none)
      close();
    actor_.reset(); // Actors that monitor the handle are told, and nothing refers to this session any more.
  }

private:
  /// Something that a client has sent and that is not done: its message is not consumed, or its request not answered.
  struct unfinished {
    unfinished(std::shared_ptr<loop_door> door, std::weak_ptr<socket_session> of,
               std::shared_ptr<message_quota::claim> memory)
        : claim(std::move(memory)), door_(std::move(door)), session_(std::move(of)) {}
    unfinished(const unfinished&) = delete;
    unfinished& operator=(const unfinished&) = delete;
    ~unfinished() {
      door_->enter([&] {
        if (auto session = session_.lock()) {
          auto executor = session->socket_.get_executor();
          net::post(executor, [session = std::move(session)] { session->note_finished(); });
        }
      });
    }

    const std::shared_ptr<message_quota::claim> claim;

  private:
    const std::shared_ptr<loop_door> door_;
    const std::weak_ptr<socket_session> session_;
  };

  [[nodiscard]] std::weak_ptr<socket_session> weak() { return this->weak_from_this(); }

  void prepare() {
    const auto& options = core_.options();
    beast::get_lowest_layer(socket_).expires_never(); // The WebSocket has time limits of its own.
    websocket::stream_base::timeout limits{};
    limits.handshake_timeout = options.header_timeout;
    limits.idle_timeout = options.idle_timeout;
    limits.keep_alive_pings = true;
    socket_.set_option(limits);
    socket_.read_message_max(opening_.rights ? options.body_bytes_max : token_text_bytes_max);
    socket_.auto_fragment(true);
    socket_.text(true);
    if (!opening_.protocol.empty())
      socket_.set_option(
          websocket::stream_base::decorator([protocol = opening_.protocol](websocket::response_type& to) {
            to.set(http::field::sec_websocket_protocol, protocol);
          }));
  }

  void begin() {
    core_.note_socket(true);
    is_counted_ = true;
    actor_.emplace(core_.home().system(), [door = core_.door(), to = weak()](relayed_message message) {
      door->enter([&] {
        if (const auto session = to.lock())
          session->take(std::move(message));
      });
    });
    net::co_spawn(
        socket_.get_executor(),
        [self = this->shared_from_this()]() -> net::awaitable<void> { co_await self->write_all(); }, net::detached);
  }

  /// Until the token comes, and once it is ending, the socket makes room for other connections. It ends once nothing is
  /// under way if the gateway ends its work.
  void make_room_on_demand() {
    opening_.place->set_close(told_action(core_.door(), weak(), [](socket_session& session) {
      if (!session.opening_.rights || session.is_ending_)
        session.close();
      else
        session.end_if_drained();
    }));
    opening_.place->set_idle(!opening_.rights);
  }

  /// Without a token, the connection ends at this time, whatever it waits for then.
  void limit_token() {
    token_limit_.expires_at(opening_.token_limit);
    token_limit_.async_wait([to = weak()](beast::error_code failure) {
      const auto session = to.lock();
      if (!failure && session && !session->opening_.rights)
        session->end(websocket::close_code::policy_error, {node_errc::refused, "no token came in time"});
    });
  }

  /// A client without a token gets a close frame, but no time to answer it.
  void close_soon() {
    token_limit_.expires_after(farewell_time);
    token_limit_.async_wait([to = weak()](beast::error_code failure) {
      if (const auto session = to.lock(); !failure && session)
        session->close();
    });
  }

  // Reading.

  /// The result is whether nothing can be read any more, because the client has closed the connection or is gone.
  net::awaitable<bool> read_all() {
    beast::flat_buffer buffer;
    beast::error_code failure;
    while (!is_ending_) {
      co_await wait_for_room();
      if (is_ending_)
        break;
      co_await socket_.async_read(buffer, into(failure));
      if (failure)
        co_return true;
      if (is_ending_) // Meanwhile the other coroutine has failed: nothing may begin any more.
        break;
      if (!socket_.got_text()) {
        end(websocket::close_code::unknown_data, {node_errc::refused, "the client sent binary data"});
        break;
      }
      co_await handle({static_cast<const char*>(buffer.data().data()), buffer.size()});
      buffer.consume(buffer.size());
    }
    co_return false;
  }

  [[nodiscard]] bool has_room() const {
    return outbox_bytes_.load(std::memory_order_relaxed) <= core_.options().socket_outbox_bytes / 2
           && (has_room_for_messages() || is_stuck());
  }
  [[nodiscard]] bool has_room_for_messages() const { return unfinished_ < core_.options().socket_requests_max; }
  /// Perhaps an actor waits for the client's answer before it goes on. Then the answer must be read.
  [[nodiscard]] bool is_stuck() const {
    return questions_.count() > 0 && steady_clock::now() - last_finished_ >= stuck_time;
  }

  /// Does not read while the client has enough under way, or has not read enough. Then its sends wait. A client that
  /// vanishes meanwhile is noticed although nothing is read.
  net::awaitable<void> wait_for_room() {
    const auto limit = steady_clock::now() + core_.options().idle_timeout;
    beast::error_code failure;
    while (!has_room() && !is_ending_) {
      if (steady_clock::now() >= limit)
        co_return end(websocket::close_code::try_again_later,
                      {node_errc::link_busy, "the client's messages were not handled in time"});
      can_read_.expires_at(std::min(limit, steady_clock::now() + look_interval));
      co_await can_read_.async_wait(into(failure));
      if (!std::exchange(failure, {}) && !is_ending_)
        look_at_client();
    }
  }

  void look_at_client() {
    const auto state = look_at(beast::get_lowest_layer(socket_).socket());
    if (state == client_state::gone)
      return end(websocket::close_code::none, {node_errc::link_down, "the client has vanished"});
    if (state == client_state::present || std::exchange(is_pinging_, true))
      return;
    socket_.async_ping({}, [self = this->shared_from_this()](beast::error_code) { self->is_pinging_ = false; });
  }

  void note_finished() {
    --unfinished_;
    last_finished_ = steady_clock::now();
    can_read_.cancel();
    end_if_drained();
  }

  void end_if_drained() {
    if (core_.is_draining() && unfinished_ == 0)
      end(websocket::close_code::going_away, {node_errc::link_down, "the gateway ends its work"});
  }

  net::awaitable<void> handle(std::string_view text) {
    auto word = read_socket_word(text, core_.messages().bounds());
    if (!word)
      co_return refuse(std::nullopt, word.error());
    if (!opening_.rights)
      co_return recognize(*word);
    if (!word->token.empty())
      co_return refuse(word->id, {.status = 400, .code = "malformed", .text = "the token is known already"});
    if (auto counted = core_.doorkeeper().count(*opening_.rights); !counted)
      co_return refuse(word->id, counted.error());
    if (word->answer)
      co_return co_await answer_program(*word);
    if (!has_room_for_messages())
      co_return refuse(word->id, {.status = 503,
                                  .code = "link_busy",
                                  .text = "messages that are not consumed: " + std::to_string(unfinished_)
                                          + "; the program waits for an answer of this client"});
    if (auto sent = co_await send(*word); !sent && !is_ending_)
      refuse(word->id, sent.error());
  }

  /// Reads a message, on another thread if it is long. `actor`: null if any message may be read.
  net::awaitable<std::expected<caf::message, refusal>> read(std::string_view text, const exposed_actor* actor,
                                                            std::shared_ptr<message_quota::claim> claim,
                                                            std::shared_ptr<const void> keeps) {
    std::expected<caf::message, refusal> message = caf::message();
    const auto decode = [&] {
      const auto values = core_.messages().cut(text);
      if (!values)
        return static_cast<void>(message = std::unexpected{values.error()});
      if (auto checked = actor != nullptr ? actor->check(*values) : std::expected<void, refusal>(); !checked)
        return static_cast<void>(message = std::unexpected{checked.error()});
      message = core_.messages().decode(*values, *claim, keeps);
    };
    if (text.size() > long_text_bytes)
      co_await run_on(core_.readers(), decode);
    else
      decode();
    co_return message;
  }

  void recognize(const socket_word& word) {
    auto rights = core_.doorkeeper().recognize(word.token, opening_.address);
    if (rights && !(*rights)->calls.covers(opening_.actor))
      rights =
          std::unexpected{refusal{.status = 403, .code = "not_allowed", .text = "this token may not use this actor"}};
    if (!rights) {
      refuse(word.id, rights.error());
      return end(websocket::close_code::policy_error, {node_errc::refused, rights.error().text});
    }
    opening_.rights = *std::move(rights);
    token_limit_.cancel();
    socket_.read_message_max(core_.options().body_bytes_max);
    opening_.place->set_idle(false);
  }

  net::awaitable<std::expected<void, refusal>> send(const socket_word& word) {
    const auto target = core_.actors().find(opening_.actor);
    if (!target)
      co_return std::unexpected{target.error()};
    if (word.id && under_way_.contains(*word.id))
      co_return std::unexpected{
          refusal{.status = 400,
                  .code = "malformed",
                  .text = "a request with the id " + std::to_string(*word.id) + " waits for its answer already"}};
    if (++unfinished_ == 1)
      last_finished_ = steady_clock::now();
    const auto mark =
        std::make_shared<const unfinished>(core_.door(), weak(), core_.unconsumed().begin(opening_.rights->name));
    auto message = co_await read(word.message, target->get(), mark->claim, mark);
    if (!message)
      co_return std::unexpected{message.error()};
    if (is_ending_)
      co_return std::expected<void, refusal>();
    if (!word.id)
      actor_->tell((*target)->actor, *std::move(message));
    else
      ask((*target)->actor, *std::move(message), word, mark);
    co_return std::expected<void, refusal>();
  }

  void ask(const caf::actor& target, caf::message message, const socket_word& word,
           const std::shared_ptr<const unfinished>& mark) {
    const auto id = *word.id;
    const auto timeout =
        std::min(word.timeout.value_or(core_.options().answer_timeout), core_.options().answer_timeout_max);
    const auto request =
        actor_->ask(target, std::move(message), timeout,
                    [door = core_.door(), to = weak(), id, mark](std::expected<caf::message, node_error> answer) {
                      door->enter([&] {
                        if (const auto session = to.lock())
                          session->push_answer(id, answer);
                      });
                    });
    auto& limit = under_way_.try_emplace(id, executor(), timeout).first->second;
    limit.async_wait([to = weak(), request, id, timeout](beast::error_code failure) {
      const auto session = to.lock(); // A request that waits keeps no session.
      if (!failure && session && session->actor_ && session->actor_->give_up(request))
        session->push_answer(id, with_id(id, {.status = 504,
                                              .code = "timed_out",
                                              .text = "no answer within " + std::to_string(timeout.count()) + " ms"}));
    });
  }

  /// The client answers a request of the program.
  net::awaitable<void> answer_program(const socket_word& word) {
    const auto number = *word.answer;
    const auto state = questions_.state_of(number);
    if (state == question_state::over)
      co_return;
    if (state == question_state::unknown)
      co_return refuse(std::nullopt, {.status = 404,
                                      .code = "not_found",
                                      .text = "no request " + std::to_string(number) + " waits for an answer"});
    std::expected<caf::message, refusal> answer = caf::message();
    if (!word.error) {
      auto claim = core_.unconsumed().begin(opening_.rights->name);
      answer = co_await read(word.message, nullptr, claim, claim);
    }
    if (!answer) // The client may answer once more.
      co_return refuse(std::nullopt, answer.error());
    auto question = questions_.take(number);
    if (!question)
      co_return;
    if (word.error)
      std::move(*question).fail({node_errc::task_failed, shortened(*word.error, error_text_bytes_max)});
    else
      std::move(*question).answer(*std::move(answer));
  }

  /// Fails the program's requests that the client has not answered in time. They need no thread of their own.
  void watch_questions() {
    const auto next = questions_.expire(steady_clock::now());
    if (!next)
      return static_cast<void>(question_limit_.cancel());
    question_limit_.expires_at(*next);
    question_limit_.async_wait([to = weak()](beast::error_code failure) {
      if (const auto session = to.lock(); !failure && session)
        session->watch_questions();
    });
  }

  // Writing. Called by any thread.

  void take(relayed_message message) {
    auto text = core_.messages().encode(message.content(), text_bytes_max());
    if (message.is_request())
      return ask_client(std::move(message), text);
    push(text ? "{\"message\":" + *text + "}" : json_of(text.error()));
  }

  void ask_client(relayed_message request, const std::expected<std::string, refusal>& text) {
    if (!text)
      return std::move(request).fail(
          {node_errc::unsupported, "a WebSocket cannot be asked this: " + text.error().text});
    request.set_content({}); // It is consumed: only its text waits.
    const auto longest = steady_clock::now() + core_.options().answer_timeout_max;
    const auto limit = std::min(longest, request.deadline().value_or(longest));
    const auto number = questions_.add(std::move(request), limit);
    if (!number)
      return;
    push("{\"request\":" + std::to_string(*number) + ",\"message\":" + *text + "}");
    net::post(executor(), [self = this->shared_from_this()] {
      self->watch_questions();
      self->can_read_.cancel(); // Its answer may have to be read.
    });
  }

  void push_answer(std::uint64_t id, const std::expected<caf::message, node_error>& answer) {
    auto text = answer ? core_.messages().encode(*answer, text_bytes_max())
                       : std::expected<std::string, refusal>(std::unexpected{refusal_of(answer.error())});
    push_answer(id, text ? "{\"id\":" + std::to_string(id) + ",\"answer\":" + *text + "}" : with_id(id, text.error()));
  }

  static std::string with_id(std::uint64_t id, const refusal& why) {
    return "{\"id\":" + std::to_string(id) + "," + json_of(why).substr(1);
  }

  [[nodiscard]] std::size_t text_bytes_max() const {
    return std::min(core_.options().answer_bytes_max, core_.options().socket_outbox_bytes / 2);
  }

  void refuse(std::optional<std::uint64_t> id, const refusal& why) { push(id ? with_id(*id, why) : json_of(why)); }
  /// The answer to the request of that id.
  void push_answer(std::uint64_t id, std::string text) {
    net::post(executor(), [self = this->shared_from_this(), id] { self->under_way_.erase(id); });
    push(std::move(text));
  }

  /// Each text takes memory besides its bytes.
  static std::size_t weight_of(const std::string& text) { return text.size() + 128; }

  /// Counts `bytes` as unread. If that exceeds a bound, returns false and counts nothing.
  [[nodiscard]] bool add_unread(std::size_t bytes) {
    const auto before = outbox_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (before + bytes <= core_.options().socket_outbox_bytes && unread_->add(bytes))
      return true;
    outbox_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  void subtract_unread(std::size_t bytes) {
    outbox_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    unread_->subtract(bytes);
  }

  void drop_outbox() {
    has_overflown_ = true;
    outbox_.clear();
    end(websocket::close_code::try_again_later, {node_errc::link_busy, "the client does not read"});
  }

  void push(std::string text) {
    if (!add_unread(weight_of(text))) {
      if (!has_overflown_.exchange(true))
        net::post(executor(), [self = this->shared_from_this()] { self->drop_outbox(); });
      return;
    }
    net::post(executor(), [self = this->shared_from_this(), text = std::move(text)]() mutable {
      self->outbox_.push_back(std::move(text));
      self->can_write_.cancel();
    });
  }

  net::awaitable<void> write_all() {
    beast::error_code failure;
    while (!failure && !(is_ending_ && (outbox_.empty() || has_overflown_))) {
      if (outbox_.empty()) {
        can_write_.expires_at(steady_clock::time_point::max());
        co_await can_write_.async_wait(into(failure));
        failure = {};
        continue;
      }
      const auto text = std::move(outbox_.front());
      outbox_.pop_front();
      limit_writing(core_.options().write_timeout);
      co_await socket_.async_write(net::buffer(text), into(failure));
      write_limit_.cancel();
      subtract_unread(weight_of(text));
      can_read_.cancel();
    }
    end(websocket::close_code::none, {node_errc::link_down, "the WebSocket is broken"});
    if (!failure && close_code_ != websocket::close_code::none) {
      // Beast's own time limit must not end a read that waits for the close frame: Beast asserts that it does not.
      websocket::stream_base::timeout none{};
      none.handshake_timeout = none.idle_timeout = websocket::stream_base::none();
      socket_.set_option(none);
      limit_writing(std::min(core_.options().write_timeout, closing_time));
      co_await socket_.async_close(websocket::close_reason(close_code_, close_text_), into(failure));
      write_limit_.cancel();
    }
    close();
  }

  void limit_writing(std::chrono::milliseconds time) {
    if (!opening_.rights)
      return; // Its time runs already.
    write_limit_.expires_after(time);
    write_limit_.async_wait([to = weak()](beast::error_code failure) {
      if (const auto session = to.lock(); !failure && session)
        session->close();
    });
  }

  /// The connection, and with it its place, is gone when this returns. May be called again.
  void close() {
    end(websocket::close_code::none, {node_errc::link_down, "the WebSocket is broken"});
    beast::get_lowest_layer(socket_).close();
    opening_.place.reset();
  }

  /// The first call counts. Both coroutines end soon.
  void end(websocket::close_code code, const node_error& why) {
    if (std::exchange(is_ending_, true))
      return;
    close_code_ = code;
    close_text_ = why.message().substr(0, 120); // A close frame has room for 123 bytes.
    if (actor_)
      actor_->end(why);
    questions_.end(why);
    question_limit_.cancel();
    under_way_.clear();
    can_read_.cancel();
    can_write_.cancel();
    if (opening_.place)
      opening_.place->set_idle(true);
    if (!opening_.rights)
      close_soon();
  }

  gateway_core& core_;
  socket_opening opening_;
  websocket::stream<Stream> socket_;
  open_questions questions_; // Of the program to the client.
  net::steady_timer question_limit_;
  std::optional<outside_actor> actor_; // Set by begin().
  bool is_counted_ = false;
  bool is_ending_ = false;
  bool is_pinging_ = false;
  websocket::close_code close_code_ = websocket::close_code::none;
  std::string close_text_;

  std::size_t unfinished_ = 0;
  steady_clock::time_point last_finished_{}; // When one was done, or the only one came.
  std::deque<std::string> outbox_;
  std::map<std::uint64_t, net::steady_timer> under_way_; // The time limits of requests that wait for their answers.
  net::steady_timer can_write_;
  net::steady_timer can_read_;
  net::steady_timer write_limit_;
  net::steady_timer token_limit_; // While there is no token: when the connection ends.

  // Any thread.
  std::atomic<std::size_t> outbox_bytes_{0}; // Of texts in the outbox or on their way there.
  std::atomic<bool> has_overflown_{false};
  std::unique_ptr<unread_ledger::account> unread_; // Set by run(), before anything can be pushed.
};

} // namespace

template <class Stream>
net::awaitable<void> serve_socket(gateway_core& core, Stream stream, socket_opening opening,
                                  http::request<http::empty_body> request) {
  auto session = std::make_shared<socket_session<Stream>>(core, std::move(stream), std::move(opening));
  co_await session->run(std::move(request));
}

template net::awaitable<void> serve_socket(gateway_core&, plain_stream, socket_opening,
                                           http::request<http::empty_body>);
template net::awaitable<void> serve_socket(gateway_core&, tls_stream, socket_opening, http::request<http::empty_body>);

} // namespace troupe::web
