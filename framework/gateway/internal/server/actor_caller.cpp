#include <troupe/framework/gateway/internal/server/actor_caller.hpp>

#include <algorithm>
#include <utility>

#include <troupe/framework/gateway/internal/server/request_head.hpp>

namespace troupe::web {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

net::awaitable<void> actor_caller::serve(http_exchange& exchange, std::string name,
                                         std::shared_ptr<const token_rights> by) {
  if (!by->calls.covers(name))
    co_return co_await exchange.refuse(refused_with(403, "not_allowed", "this token may not use this actor"));
  auto target = core_.actors().find(name);
  if (!target)
    co_return co_await exchange.refuse(target.error());
  if (auto checked = check_json(exchange, core_.options().body_bytes_max); !checked)
    co_return co_await exchange.refuse(checked.error());
  const auto timeout = timeout_of(exchange.head());
  if (!timeout)
    co_return co_await exchange.refuse(timeout.error());
  auto text = co_await exchange.receive_text();
  if (!text)
    co_return;
  auto answered =
      co_await ask(exchange, *std::move(target), *std::move(text),
                   std::min(timeout->value_or(core_.options().answer_timeout), core_.options().answer_timeout_max), by);
  if (!answered)
    co_return co_await exchange.refuse(answered.error());
  co_await exchange.respond(json_response(200, *std::move(answered)));
}

outside_actor& actor_caller::actor() {
  if (!actor_) // What actors send besides answers has no receiver.
    actor_.emplace(core_.home().system(), [](relayed_message message) {
      std::move(message).fail({node_errc::unsupported, "a client of HTTP takes no messages"});
    });
  return *actor_;
}

std::expected<caf::message, refusal> actor_caller::read(const exposed_actor& target, std::string_view body,
                                                        const token_rights& by) const {
  const auto values = core_.messages().cut(body);
  if (!values)
    return std::unexpected{values.error()};
  if (auto checked = target.check(*values); !checked)
    return std::unexpected{checked.error()};
  auto claim = core_.unconsumed().begin(by.name);
  return core_.messages().decode(*values, *claim, claim);
}

net::awaitable<actor_caller::answer_text> actor_caller::ask(http_exchange& exchange,
                                                            std::shared_ptr<const exposed_actor> target,
                                                            std::string body, milliseconds timeout,
                                                            std::shared_ptr<const token_rights> by) {
  std::expected<caf::message, refusal> message = caf::message();
  const auto decode = [&] { message = read(*target, body, *by); };
  if (body.size() > long_text_bytes) // Other connections of this thread do not wait for it.
    co_await run_on(core_.readers(), exchange, decode);
  else
    decode();
  if (!message)
    co_return std::unexpected{message.error()};
  result_.reset();
  const auto number = ++question_;
  const auto request =
      actor().ask(target->actor, *std::move(message), timeout,
                  [door = core_.door(), to = weak_from_this(), number](std::expected<caf::message, node_error> answer) {
                    door->enter([&] {
                      if (const auto caller = to.lock())
                        caller->take_answer(number, answer);
                    });
                  });
  exchange.suspend_limits();
  const bool is_gone = co_await wait_for_result(exchange, timeout);
  if (result_)
    co_return *std::exchange(result_, std::nullopt);
  ++question_; // An answer that is on its way is too late.
  static_cast<void>(actor().give_up(request));
  if (!is_gone)
    co_return http_refusal(504, "timed_out", "no answer within " + std::to_string(timeout.count()) + " ms");
  exchange.end_after_answer();
  co_return http_refusal(400, "gone", "the client has closed its side before the answer came");
}

net::awaitable<bool> actor_caller::wait_for_result(http_exchange& exchange, milliseconds timeout) {
  const auto limit = steady_clock::now() + timeout;
  beast::error_code failure;
  while (!result_ && steady_clock::now() < limit) {
    can_go_on_.expires_at(std::min(limit, steady_clock::now() + look_interval));
    co_await can_go_on_.async_wait(into(failure));
    if (!result_ && exchange.look_at_client() != client_state::present)
      co_return true;
  }
  co_return false;
}

void actor_caller::take_answer(std::uint64_t number, const std::expected<caf::message, node_error>& answer) {
  auto text = answer ? core_.messages().encode(*answer, core_.options().answer_bytes_max)
                     : answer_text(std::unexpected{refusal_of(answer.error())});
  net::post(executor_, [self = shared_from_this(), number, text = std::move(text)]() mutable {
    if (self->question_ != number)
      return;
    self->result_.emplace(std::move(text));
    self->can_go_on_.cancel();
  });
}

} // namespace troupe::web
