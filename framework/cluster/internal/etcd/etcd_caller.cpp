#include <troupe/framework/cluster/internal/etcd/etcd_caller.hpp>

#include <troupe/base/longest_wait.hpp>
#include <troupe/framework/cluster/internal/etcd/etcd_answers.hpp>

#include <algorithm>
#include <optional>

namespace troupe::cluster_directories {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using failure_kind = etcd_failure::kind;

/// Between two rounds through all endpoints.
constexpr milliseconds pause_of_a_round{50};

milliseconds time_until(steady_clock::time_point until) {
  return std::chrono::ceil<milliseconds>(until - steady_clock::now());
}

etcd_failure may_be_applied(const etcd_failure& failure) {
  return {failure.what,
          {failure.error.code(), failure.error.message() + "; the commit may have been applied: read its keys"}};
}

} // namespace

etcd_caller::etcd_caller(etcd_settings settings)
    : timeout_(std::max(bounded_wait(settings.timeout), milliseconds{1})),
      endpoints_(std::move(settings.endpoints)),
      account_(std::move(settings.user), std::move(settings.password)),
      pool_(std::move(settings.http)),
      answered_at_((steady_clock::now() - std::chrono::hours{24}).time_since_epoch().count()) {}

etcd_caller::time_point etcd_caller::deadline() const {
  return steady_clock::now() + timeout_;
}

milliseconds etcd_caller::share() const {
  return std::max(timeout_ / static_cast<milliseconds::rep>(endpoints_.count()), milliseconds{1});
}

milliseconds etcd_caller::silence() const {
  return std::chrono::floor<milliseconds>(steady_clock::now().time_since_epoch()
                                          - steady_clock::duration{answered_at_.load()});
}

http_post etcd_caller::post_of(std::size_t endpoint, const etcd_request& request) const {
  return {.url = (http().has_tls ? "https://" : "http://") + name(endpoint) + "/v3/" + std::string{request.path},
          .body = request.body,
          .token = account_.token(),
          .is_sent_once = !request.is_repeatable};
}

std::expected<etcd_answer, etcd_failure> etcd_caller::call(const etcd_request& request, time_point until) {
  std::optional<etcd_failure> last;
  const auto first = endpoints_.current();
  const auto count = endpoints_.count();
  for (std::size_t attempt = 0;; ++attempt) {
    if (attempt > 0 && attempt % count == 0)
      pool_.pause(std::min(pause_of_a_round, time_until(until)));
    if (is_closed())
      return std::unexpected{failure_of_exchange("", {http_failure::kind::stopped, ""})};
    const auto left = time_until(until);
    if (last && left <= milliseconds::zero())
      return std::unexpected{out_of_time(*last)};
    // Each of the endpoints that are left in this round gets the same part of the time.
    const auto endpoint = (first + attempt) % count;
    const auto part = left / static_cast<milliseconds::rep>(count - attempt % count);
    auto answer = send_as_user(endpoint, request, steady_clock::now() + part);
    if (answer) {
      note_answer(endpoint);
      return answer;
    }
    const auto what = answer.error().what;
    if (what != failure_kind::not_applied && what != failure_kind::unknown)
      return answer;
    note_trouble();
    if (what == failure_kind::unknown && !request.is_repeatable) {
      endpoints_.leave(endpoint);
      return std::unexpected{may_be_applied(answer.error())};
    }
    last = std::move(answer).error();
  }
}

std::expected<etcd_answer, etcd_failure> etcd_caller::send(std::size_t endpoint, const http_post& post,
                                                           milliseconds patience) {
  auto answer = pool_.exchange(post, patience);
  if (!answer)
    return std::unexpected{failure_of_exchange(name(endpoint), answer.error())};
  if (answer->status != 200)
    return std::unexpected{failure_of_answer(name(endpoint), *answer)};
  return etcd_answer{endpoint, std::move(answer->body)};
}

std::expected<etcd_answer, etcd_failure> etcd_caller::send_as_user(std::size_t endpoint, const etcd_request& request,
                                                                   time_point until) {
  if (account_.is_empty())
    return send(endpoint, post_of(endpoint, request), time_until(until));
  if (!account_.was_asked())
    if (auto done = authenticate(endpoint, time_until(until)); !done)
      return std::unexpected{std::move(done).error()};
  auto answer = send(endpoint, post_of(endpoint, request), time_until(until));
  if (answer || answer.error().what != failure_kind::token)
    return answer;
  if (auto done = authenticate(endpoint, time_until(until)); !done)
    return std::unexpected{std::move(done).error()};
  return send(endpoint, post_of(endpoint, request), time_until(until));
}

std::expected<void, etcd_failure> etcd_caller::authenticate(std::size_t endpoint, milliseconds patience) {
  if (account_.is_empty())
    return {};
  auto post = post_of(endpoint, authenticate_request(account_.user(), account_.password()));
  post.token.clear(); // etcd refuses even this request if it has a token that has expired.
  auto answer = send(endpoint, post, patience);
  if (!answer && answer.error().what == failure_kind::no_users) {
    account_.accept("");
    return {};
  }
  if (!answer)
    return std::unexpected{std::move(answer).error()};
  auto token = read_token(answer->body);
  if (!token)
    return std::unexpected{failure_of_reading(name(endpoint), "request for a token", token.error())};
  account_.accept(*std::move(token));
  return {};
}

void etcd_caller::note_answer(std::size_t endpoint) {
  answered_at_ = steady_clock::now().time_since_epoch().count();
  endpoints_.prefer(endpoint);
}

etcd_failure etcd_caller::out_of_time(const etcd_failure& last) const {
  const auto all = endpoints_.count() == 1 ? std::string{"etcd"}
                                           : "none of the " + std::to_string(endpoints_.count()) + " endpoints of etcd";
  return {last.what,
          {directory_errc::unavailable,
           all + (endpoints_.count() == 1 ? " did not do" : " did") + " what was asked within "
               + std::to_string(timeout_.count()) + " ms; the last failure: " + last.error.message()
               + "; check that a majority of its members runs and can be reached from here"}};
}

} // namespace troupe::cluster_directories
