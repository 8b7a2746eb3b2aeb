#include <troupe/framework/internal/link/name_questions.hpp>

#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

actor_name name_in(const found& answer) {
  return {answer.readers ? actor_name::side::yours : actor_name::side::mine, answer.actor};
}

} // namespace

std::uint64_t name_questions::ask(std::string_view name, const std::set<std::string>& interface, on_lookup then) {
  if (name.size() > alias_bytes_max) {
    then(fail(node_errc::not_found, "a published name has at most 1,024 bytes, this one " + grouped(name.size())));
    return 0;
  }
  auto held = link_.mutex.lock();
  if (!link_.is_open()) {
    held.unlock();
    then(std::unexpected{link_.down()});
    return 0;
  }
  const auto number = next_++;
  questions_.emplace(number, question{std::string{name}, interface, std::move(then)});
  link_.admin.send(held, admin_op::find, find_query{number, std::string{name}});
  return number;
}

bool name_questions::forget(std::uint64_t number) {
  auto held = link_.mutex.lock();
  const auto unanswered = questions_.extract(number);
  held.unlock(); // What it holds is released outside the lock.
  return !unanswered.empty();
}

std::expected<void, node_error> name_questions::on_found(const found& answer) {
  auto held = link_.mutex.lock();
  const auto asked = questions_.extract(answer.query);
  const auto own = answer.readers ? actors_.own(held, answer.actor) : nullptr;
  held.unlock();
  if (asked) {
    const auto& what = asked.mapped();
    log(what, !answer.refusal.empty() ? "it may not find that name"
              : answer.actor == 0     ? "nothing of that name"
                                      : "actor " + grouped(answer.actor));
    what.then(actor_of(what, answer));
    if (answer.readers && answer.actor != 0 && !own) // The caller of ask() has got the same reason.
      return violation("the peer names actor " + grouped(answer.actor) + ", which it was never given");
  } else if (answer.actor != 0) {
    // The question was dropped. Receives and drops the handle, so that the peer's count goes back.
    if (const auto dropped = actors_.find(name_in(answer)); !dropped)
      return std::unexpected{dropped.error()};
  }
  return {};
}

std::expected<caf::strong_actor_ptr, node_error> name_questions::actor_of(const question& asked, const found& answer) {
  if (answer.actor == 0 && !answer.refusal.empty())
    return fail(node_errc::not_allowed, link_.peer_name() + " does not let this end find \"" + cut(asked.name)
                                            + "\": " + one_line(cut(answer.refusal)));
  if (answer.actor == 0)
    return fail(node_errc::not_found, link_.peer_name() + " has nothing published as \"" + asked.name + '"');
  auto actor = actors_.find(name_in(answer));
  if (!actor)
    return actor;
  std::set<std::string> offered{answer.interface.begin(), answer.interface.end()};
  // A caller that asks for an untyped handle accepts any actor, although by CAF's rule a typed actor does not match.
  if (!asked.interface.empty() && !system_.assignable(offered, asked.interface))
    return fail(node_errc::interface_mismatch,
                "\"" + asked.name + "\" at " + link_.peer_name() + " does not have the requested interface: it has "
                    + std::to_string(offered.size()) + " kinds of messages, the request has "
                    + std::to_string(asked.interface.size()));
  if (auto* remote = as_proxy(*actor))
    remote->set_message_types(std::move(offered)); // For the nodes to which this node introduces the actor.
  return actor;
}

void name_questions::end(const node_error& reason) {
  auto held = link_.mutex.lock();
  const auto unanswered = std::exchange(questions_, {});
  held.unlock();
  for (const auto& [number, asked] : unanswered) {
    log(asked, reason.message());
    asked.then(std::unexpected{reason});
  }
}

void name_questions::log(const question& asked, const std::string& came_to) const {
  link_.log.say(log_level::debug,
                [&] { return "asked " + link_.peer_name() + " for \"" + cut(asked.name) + "\": " + came_to; });
}

} // namespace troupe::internal
