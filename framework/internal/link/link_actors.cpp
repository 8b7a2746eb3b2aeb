// The actors of a link: how they are named, looked up and monitored, and when they are let go.
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <caf/actor_cast.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actors/finder.hpp>
#include <troupe/framework/internal/caf_port/actors/request_runner.hpp>
#include <troupe/framework/internal/caf_port/actors/shared_helpers.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/question_id.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/link_watch.hpp>
#include <troupe/framework/internal/link/send_admin.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/function_entry.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::internal {

// -- actors as they are named

/// Counts one sending where the actor is this end's.
actor_name link_core::name_of_actor(const link_held& held, const caf::strong_actor_ptr& actor) {
  if (!actor)
    return {};
  if (auto* remote = as_proxy(actor); remote != nullptr && remote->link() == this)
    return {actor_name::side::yours, remote->number()};
  auto is_new = !actor_exports_.has(actor);
  auto number = actor_exports_.add(actor);
  if (is_new && actor_exports::is_foreign(number))
    introduce_actor(held, actor, number);
  return {actor_name::side::mine, number};
}

actor_name link_core::export_actor(const caf::strong_actor_ptr& actor) {
  const auto held = mutex_.lock();
  return name_of_actor(held, actor);
}

/// As actor_exports::release; the reference is to be dropped outside of the lock.
std::optional<caf::strong_actor_ptr> link_core::release_export(const link_held& held, std::uint64_t number,
                                                               std::uint64_t count) {
  auto dropped = actor_exports_.release(number, count);
  if (dropped && *dropped && actor_exports::is_foreign(number))
    send_admin_locked(held, admin_op::withdraw, withdraw{number});
  return dropped;
}

std::expected<caf::strong_actor_ptr, node_error> link_core::import_actor(const actor_name& name) {
  auto held = mutex_.lock();
  return import_actor(held, name, true);
}

std::expected<caf::strong_actor_ptr, node_error> link_core::import_actor(const link_held& held, const actor_name& name,
                                                                         bool recognizes) {
  if (name.whose == actor_name::side::nobody)
    return nullptr;
  if (name.whose == actor_name::side::yours) {
    if (auto own = actor_exports_.find(name.number))
      return own;
    return fail(node_errc::protocol_violation,
                "the peer names actor " + grouped(name.number) + ", which it was never given");
  }
  if (name.whose != actor_name::side::mine || name.number == 0)
    return fail(node_errc::protocol_violation, "an actor's name cannot be read");
  if (!is_open())
    return std::unexpected{node_error{node_errc::link_down, "the link to " + agreed().peer.name + " is down"}};
  auto met = actor_exports::is_foreign(name.number) ? introduced_.find(name.number) : introduced_.end();
  if (recognizes && met != introduced_.end() && met->second.own) {
    send_admin_locked(held, admin_op::release_actor, release_actor{name.number, 1});
    return met->second.own;
  }
  if (auto known = actor_imports_.receive(name.number))
    return known;
  auto made = make_proxy(node_->system(), agreed().peer.node, name.number, shared_from_this(),
                         met != introduced_.end() ? met->second.how : nullptr);
  actor_imports_.put(name.number, made);
  return made;
}

// -- of a message that has come

std::expected<message_ends, node_error> link_core::find_ends(const message_head& head,
                                                             std::optional<awaited_answer>& returned) {
  const bool is_returned = (head.flags & message_flags::returned) != 0;
  auto held = mutex_.lock();
  auto receiver = actor_exports_.find(head.receiver);
  if (!receiver)
    return fail(node_errc::protocol_violation,
                "the peer sends to actor " + grouped(head.receiver) + ", which it was never given");
  const auto side = head.sender == 0 ? actor_name::side::nobody
                    : is_returned    ? actor_name::side::yours
                                     : actor_name::side::mine;
  std::optional<waiting_asker> asked; // Dropped without the lock.
  bool is_unasked = false;
  // Else the peer could speak in the name of every actor that it was ever given.
  const bool is_believed = !is_returned || (head.flags & message_flags::request) != 0
                           || ((head.flags & message_flags::response) == 0 && actor_exports_.take_return(head.sender));
  if (is_returned && (head.flags & message_flags::request) != 0) {
    // This end's own question comes back for somebody else of this end to answer: only one that is pending can.
    // It may have been answered meanwhile, given up, or forwarded to several.
    asked = pending_.take({head.sender, head.request_number}, 0);
    is_unasked = !asked;
    if (asked) {
      returned = {asked->who, question_id(head.request_number, asked->urgent).response_id()};
    }
  }
  // Never one's own actor by introduction: what answers it has to go back by the way that the message came.
  auto sender = import_actor(held, {side, head.sender}, false);
  if (asked)
    pump_for_reply_room(held);
  else
    held.unlock();
  if (!sender)
    return std::unexpected{std::move(sender).error()};
  if (!is_believed)
    sender->reset();
  return message_ends{.receiver = std::move(receiver),
                      .sender = *std::move(sender),
                      .is_unasked = is_unasked,
                      .hides_own_sender = !is_believed};
}

void link_core::count_mentions(std::uint64_t number, std::uint64_t more) {
  const auto held = mutex_.lock();
  actor_imports_.add(number, more);
}

bool link_core::serves_all_links(const caf::strong_actor_ptr& actor) const {
  return node_->helpers().has(actor);
}

void link_core::on_all_handled() {
  delivery_.settle();
  end_proxies(node_->system(), std::exchange(ended_proxies_, {}));
  if (is_open())
    ends_for_unread();
}

// -- names

caf::actor link_core::task_runner_of(std::type_index function, std::string& name) {
  auto& system = node_->system();
  const auto known = node_->types().find_function(function);
  if (!known)
    return spawn_refusal(system, {node_errc::not_found,
                                  detail::type_text(function)
                                      + " is not registered here; add it to the node's type registry, and to that of "
                                      + agreed().peer.name + ", with types.add_function"});
  name = known->name();
  return helper_of_peer(task_runner_, " runs no tasks for this link; its end of the link must have allow_tasks");
}

caf::actor link_core::spawner() {
  return helper_of_peer(spawner_, " spawns no actors for this link; its end of the link must have allow_spawn");
}

caf::actor link_core::inspector() {
  return helper_of_peer(inspector_,
                        " says nothing of itself over this link; its end of the link must have allow_memory_summary "
                        "or allow_inspection");
}

/// `helper`: one of the members; read under the lock.
caf::actor link_core::helper_of_peer(const caf::strong_actor_ptr& helper, std::string_view why_none) {
  auto held = mutex_.lock();
  auto found = helper;
  auto open = is_open();
  held.unlock();
  if (found)
    return caf::actor_cast<caf::actor>(std::move(found));
  auto& system = node_->system();
  if (!open)
    return spawn_refusal(system, {node_errc::link_down, "the link to " + agreed().peer.name + " is down"});
  return spawn_refusal(system, {node_errc::not_allowed, agreed().peer.name + std::string{why_none}});
}

namespace {

actor_name name_in(const found& answer) {
  return {answer.readers ? actor_name::side::yours : actor_name::side::mine, answer.actor};
}

} // namespace

bool link_core::forget_question(std::uint64_t number) {
  auto held = mutex_.lock();
  auto unanswered = queries_.extract(number);
  held.unlock(); // What it holds is let go of without the lock.
  return !unanswered.empty();
}

std::uint64_t link_core::look_up(std::string_view name, const std::set<std::string>& interface, on_lookup then) {
  if (name.size() > alias_bytes_max) {
    then(fail(node_errc::not_found, "a published name has at most 1,024 bytes, this one " + grouped(name.size())));
    return 0;
  }
  auto held = mutex_.lock();
  if (!is_open()) {
    held.unlock();
    then(fail(node_errc::link_down, "the link to " + agreed().peer.name + " is down"));
    return 0;
  }
  auto number = next_query_++;
  queries_.emplace(number, [this, name = std::string{name}, interface, then = std::move(then)](auto answer) {
    then(found_actor(name, interface, answer)); // This lives as long as its table.
  });
  send_admin_locked(held, admin_op::find, find_query{number, std::string{name}});
  return number;
}

/// What the peer's answer comes to.
std::expected<caf::strong_actor_ptr, node_error>
link_core::found_actor(const std::string& name, const std::set<std::string>& interface,
                       const std::expected<found, node_error>& answer) {
  warnings_.say(log_level::debug, [&] {
    return "asked " + agreed().peer.name + " for \"" + cut(name) + "\": "
           + (!answer              ? answer.error().message()
              : answer->actor == 0 ? "nothing of that name"
                                   : "actor " + grouped(answer->actor));
  });
  if (!answer)
    return std::unexpected{answer.error()};
  if (answer->actor == 0)
    return fail(node_errc::not_found, agreed().peer.name + " has nothing published as \"" + name + '"');
  auto actor = import_actor(name_in(*answer));
  if (!actor)
    return actor;
  std::set<std::string> offered{answer->interface.begin(), answer->interface.end()};
  // Whoever asks for an untyped handle takes any actor; CAF's own rule is that a typed one is none.
  if (!interface.empty() && !node_->system().assignable(offered, interface))
    return fail(node_errc::interface_mismatch,
                "\"" + name + "\" at " + agreed().peer.name + " does not have the interface asked for: it has "
                    + std::to_string(offered.size()) + " kinds of messages, asked for are "
                    + std::to_string(interface.size()));
  if (auto* remote = as_proxy(*actor))
    remote->set_message_types(std::move(offered)); // For those whom this node introduces.
  return actor;
}

void link_core::on_find(const find_query& query) {
  found answer{.query = query.query, .actor = 0, .interface = {}};
  auto actor = hides_names_ ? nullptr : node_->names().find(query.name);
  if (actor && !can_name(itself(actor))) {
    warnings_.warn(
        [&] { return "\"" + cut(query.name) + "\" is not shown to " + agreed().peer.name + ": " + why_not_named(); });
    actor = nullptr;
  }
  if (actor) {
    auto interface = caf::actor_cast<caf::abstract_actor*>(actor)->message_types();
    answer.interface.assign(interface.begin(), interface.end());
    auto name = export_actor(itself(actor));
    answer.actor = name.number;
    answer.readers = name.whose == actor_name::side::yours;
  }
  warnings_.say(log_level::debug, [&] {
    return agreed().peer.name + " asks for \"" + cut(query.name)
           + "\": " + (answer.actor == 0 ? "nothing of that name" : "actor " + grouped(answer.actor));
  });
  send_admin(admin_op::found, answer);
}

std::expected<void, node_error> link_core::on_found(const found& answer) {
  auto held = mutex_.lock();
  auto query = queries_.extract(answer.query);
  const auto own = answer.readers ? actor_exports_.find(answer.actor) : nullptr;
  held.unlock();
  if (query) {
    query.mapped()(answer);
    if (answer.readers && answer.actor != 0 && !own) // Who asked has got the same reason.
      return fail(node_errc::protocol_violation,
                  "the peer names actor " + grouped(answer.actor) + ", which it was never given");
  } else if (answer.actor != 0) {
    // Nobody waits any more: receive and drop the handle, so that the peer's count goes back.
    if (auto dropped = import_actor(name_in(answer)); !dropped)
      return std::unexpected{std::move(dropped).error()};
  }
  return {};
}

// -- the end of actors

void link_core::watch(std::uint64_t number, caf::strong_actor_ptr proxy) {
  const auto held = mutex_.lock();
  if (!is_closed() && actor_imports_.hold(number, std::move(proxy)) && is_open()) // Else the link's end tells of it.
    send_admin_locked(held, admin_op::monitor, monitor{number});
}

void link_core::unwatch(std::uint64_t number) {
  caf::strong_actor_ptr kept; // Let go outside of the lock.
  const auto held = mutex_.lock();
  kept = actor_imports_.let_go(number);
  if (kept && is_open())
    send_admin_locked(held, admin_op::demonitor, monitor{number});
}

/// Of an actor that has ended meanwhile, nothing is left to do.
void link_core::on_demonitor(const monitor& what) {
  auto held = mutex_.lock();
  auto watched = watched_.extract(what.actor);
  held.unlock();
  if (!watched)
    return;
  if (auto actor = watched.mapped().lock())
    actor->get()->detach(caf::attachable::token{link_watch::key{this}});
}

std::expected<void, node_error> link_core::on_monitor(const monitor& what) {
  auto held = mutex_.lock();
  auto actor = actor_exports_.find(what.actor);
  bool is_new = actor && watched_.try_emplace(what.actor, actor.get()).second;
  held.unlock();
  if (!actor)
    return fail(node_errc::protocol_violation,
                "the peer monitors actor " + grouped(what.actor) + ", which it was never given");
  warnings_.say(log_level::debug, [&] { return agreed().peer.name + " monitors actor " + grouped(what.actor); });
  if (is_new)
    actor->get()->attach(caf::attachable_ptr{new link_watch{shared_from_this(), what.actor}});
  return {};
}

void link_core::watched_actor_ended(std::uint64_t number, const caf::error& reason) {
  down message{.actor = number, .reason_code = 0, .reason_category = {}, .reason_text = {}};
  if (reason) {
    message.reason_code = reason.code();
    message.reason_category = caf::to_string(reason.category());
    // A text arrives as it is, whatever the number of nodes in between; of what else may stand there, its rendering.
    if (const auto& context = reason.context(); context.match_elements<std::string>())
      message.reason_text = cut(context.get_as<std::string>(0));
    else if (!context.empty())
      message.reason_text = cut(caf::to_string(context));
  }
  const auto held = mutex_.lock();
  watched_.erase(number); // Monitored again, it is answered again.
  send_admin_locked(held, admin_op::down, message);
}

void link_core::on_down(const down& what) {
  auto held = mutex_.lock();
  auto kept = actor_imports_.let_go(what.actor);
  held.unlock();
  warnings_.say(log_level::debug, [&] {
    return "actor " + grouped(what.actor) + " of " + agreed().peer.name + " is down"
           + (what.reason_text.empty() ? "" : ": " + cut(what.reason_text));
  });
  if (!kept)
    return;
  caf::error reason;
  if (what.reason_code != 0) {
    auto category = caf::atom_from_string(what.reason_category);
    reason = category == error_category || !what.reason_text.empty()
                 ? caf::error{what.reason_code, category, caf::make_message(what.reason_text)}
                 : caf::error{what.reason_code, category};
  }
  ended_proxies_.push_back({std::move(kept), std::move(reason)});
}

// -- releases

void link_core::proxy_gone(std::uint64_t number, const caf::actor_control_block* control) {
  const auto held = mutex_.lock();
  if (auto count = actor_imports_.gone(number, control); count > 0) {
    sending_.forget(number);
    replies_.forget(number);
    send_admin_locked(held, admin_op::release_actor, release_actor{number, count});
  }
}

std::expected<void, node_error> link_core::on_release_actor(const release_actor& what) {
  auto held = mutex_.lock();
  auto dropped = release_export(held, what.actor, what.count);
  held.unlock();
  if (dropped && *dropped) {
    receiving_->release(what.actor);
  }
  if (!dropped)
    return fail(node_errc::protocol_violation, "the peer releases actor " + grouped(what.actor) + " "
                                                   + grouped(what.count) + " times, more than it was sent");
  return {};
}

} // namespace troupe::internal
