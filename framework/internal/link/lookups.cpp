#include <troupe/framework/internal/link/lookups.hpp>

#include <algorithm>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include <troupe/base/longest_wait.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/net/io_loop.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

using namespace std::chrono_literals;

// How long the peer has to answer a lookup that asks once.
constexpr std::chrono::milliseconds answer_patience = 5s;
constexpr std::chrono::milliseconds longest_pause = 100ms;

} // namespace

std::chrono::milliseconds lookups::longest(std::chrono::milliseconds timeout) {
  const auto within = bounded_wait(timeout);
  return (within == 0ms ? answer_patience : within) + 1s; // The I/O thread may be busy.
}

void lookups::begin(std::string name, std::set<std::string> interface, std::chrono::milliseconds timeout,
                    on_lookup then) {
  if (!link_.is_open()) { // A closed link may handle nothing on the I/O thread any more.
    then(std::unexpected{link_.down()});
    return;
  }
  if (count_.fetch_add(1) >= waiting_max) {
    count_.fetch_sub(1);
    then(fail(node_errc::link_busy, "cannot look up \"" + name + "\": " + grouped(waiting_max)
                                        + " lookups are pending on the link to " + link_.peer_name()
                                        + ", which is the limit"));
    return;
  }
  post_to(io_, [owner = owner_.lock(), this,
                what = wanted{.name = std::move(name),
                              .interface = std::move(interface),
                              .timeout = bounded_wait(timeout),
                              .then = std::move(then)}]() mutable { start(std::move(what)); });
}

std::expected<caf::strong_actor_ptr, node_error> lookups::find(std::string name, std::set<std::string> interface,
                                                               std::chrono::milliseconds timeout) {
  if (!io_loop::may_wait())
    return fail(node_errc::unsupported, "find(name) would block a node's I/O thread: call it on another thread, or use "
                                        "find(self, name, timeout) in an actor");
  auto promise = std::make_shared<std::promise<std::expected<caf::strong_actor_ptr, node_error>>>();
  auto answer = promise->get_future();
  begin(std::move(name), std::move(interface), timeout,
        [promise](auto found) { promise->set_value(std::move(found)); });
  if (answer.wait_for(longest(timeout)) != std::future_status::ready)
    return fail(node_errc::timed_out, "the node's I/O thread was too busy to ask " + link_.peer_name() + " within "
                                          + std::to_string(timeout.count()) + " ms");
  return answer.get();
}

caf::actor lookups::finder_of(std::string name, std::set<std::string> interface, std::chrono::milliseconds timeout) {
  return make_finder(system_, [owner = owner_.lock(), this, name = std::move(name), interface = std::move(interface),
                               timeout](on_lookup then) { begin(name, interface, timeout, std::move(then)); });
}

std::expected<void, node_error> lookups::ping(std::chrono::milliseconds timeout) {
  auto promise = std::make_shared<std::promise<std::expected<caf::strong_actor_ptr, node_error>>>();
  auto answer = promise->get_future();
  const auto number = questions_.ask({}, {}, [promise](auto found) { promise->set_value(std::move(found)); });
  if (answer.wait_for(bounded_wait(timeout)) != std::future_status::ready && questions_.forget(number))
    return fail(node_errc::timed_out,
                link_.peer_name() + " did not answer within " + std::to_string(timeout.count()) + " ms");
  const auto nobody = answer.get(); // Nothing is published under the empty name.
  if (!nobody && nobody.error().code() != node_errc::not_found)
    return std::unexpected{nobody.error()};
  return {};
}

void lookups::start(wanted what) {
  what.until = clock::now() + (what.timeout == 0ms ? answer_patience : what.timeout);
  const auto which = next_++;
  wanted_.emplace(which, std::move(what));
  ask(which);
  set_timer();
}

void lookups::ask(std::uint64_t which) {
  auto& what = wanted_.at(which);
  what.again.reset();
  const auto question = questions_.ask(what.name, what.interface, [weak = owner_, this, which](auto answer) {
    if (const auto alive = weak.lock())
      on_answer(which, std::move(answer));
  });
  if (const auto still = wanted_.find(which); still != wanted_.end()) // It may be over already.
    still->second.question = question;
}

void lookups::on_answer(std::uint64_t which, std::expected<caf::strong_actor_ptr, node_error> answer) {
  const auto found = wanted_.find(which);
  if (found == wanted_.end())
    return;
  auto& what = found->second;
  what.question = 0;
  what.is_answered = true;
  if (answer || answer.error().code() != node_errc::not_found || what.timeout == 0ms || !link_.is_open()) {
    finish(which, std::move(answer));
    return;
  }
  what.again = clock::now() + what.pause;
  what.pause = std::min(2 * what.pause, std::max(longest_pause, std::chrono::milliseconds(wanted_.size())));
  set_timer();
}

void lookups::finish(std::uint64_t which, std::expected<caf::strong_actor_ptr, node_error> answer) {
  auto what = wanted_.extract(which);
  count_.fetch_sub(1);
  what.mapped().then(std::move(answer));
}

void lookups::set_timer() {
  if (wanted_.empty()) {
    timer_.cancel();
    return;
  }
  auto due = clock::time_point::max();
  for (const auto& [which, what] : wanted_)
    due = std::min(due, std::min(what.until, what.again.value_or(what.until)));
  timer_.expires_at(due);
  timer_.async_wait([weak = owner_, this](std::error_code cancelled) {
    if (const auto alive = weak.lock(); alive && !cancelled)
      on_timer();
  });
}

void lookups::on_timer() {
  const auto now = clock::now();
  std::vector<std::uint64_t> over;
  std::vector<std::uint64_t> due;
  for (const auto& [which, what] : wanted_)
    if (now >= what.until)
      over.push_back(which);
    else if (what.again && now >= *what.again)
      due.push_back(which);
  for (const auto which : over) {
    const auto& what = wanted_.at(which);
    if (what.question != 0)
      questions_.forget(what.question);
    finish(which, std::unexpected{time_is_over(what)});
  }
  for (const auto which : due)
    ask(which);
  set_timer();
}

node_error lookups::time_is_over(const wanted& what) const {
  const auto timeout =
      grouped(static_cast<std::uint64_t>((what.timeout == 0ms ? answer_patience : what.timeout).count()));
  if (what.is_answered)
    return {node_errc::not_found,
            link_.peer_name() + " has nothing published as \"" + what.name + "\" after a wait of " + timeout + " ms"};
  return {node_errc::timed_out, link_.peer_name() + " did not answer within " + timeout + " ms"};
}

void lookups::end(const node_error& reason) {
  while (!wanted_.empty())
    finish(wanted_.begin()->first, std::unexpected{reason});
  timer_.cancel();
}

} // namespace troupe::internal
