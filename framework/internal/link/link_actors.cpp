// The actors of a link: how they are named, looked up and monitored, and when they are let go.
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/actors/finder.hpp>
#include <troupe/framework/internal/caf_port/actors/request_runner.hpp>
#include <troupe/framework/internal/caf_port/actors/shared_helpers.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/question_id.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/function_entry.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::internal {

// -- of a message that has come

std::expected<message_ends, node_error> link_core::find_ends(const message_head& head,
                                                             std::optional<awaited_answer>& returned) {
  const bool is_returned = (head.flags & message_flags::returned) != 0;
  auto held = mutex_.lock();
  auto receiver = actors_.own(held, head.receiver);
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
                           || ((head.flags & message_flags::response) == 0 && actors_.take_return(held, head.sender));
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
  auto sender = actors_.find(held, {side, head.sender}, false);
  if (asked)
    pump_.run_if_anybody_waits(held);
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
  actors_.count_more(number, more);
}

bool link_core::serves_all_links(const caf::strong_actor_ptr& actor) const {
  return node_->helpers().has(actor);
}

void link_core::on_all_handled() {
  delivery_.settle();
  monitors_.end_proxies();
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
  admin_.send(held, admin_op::find, find_query{number, std::string{name}});
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
  auto actor = actors_.find(name_in(*answer));
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
  if (actor && !actors_.can_name(itself(actor))) {
    warnings_.warn([&] {
      return "\"" + cut(query.name) + "\" is not shown to " + agreed().peer.name + ": " + actor_names::why_not_named();
    });
    actor = nullptr;
  }
  if (actor) {
    auto interface = caf::actor_cast<caf::abstract_actor*>(actor)->message_types();
    answer.interface.assign(interface.begin(), interface.end());
    auto name = actors_.name(itself(actor));
    answer.actor = name.number;
    answer.readers = name.whose == actor_name::side::yours;
  }
  warnings_.say(log_level::debug, [&] {
    return agreed().peer.name + " asks for \"" + cut(query.name)
           + "\": " + (answer.actor == 0 ? "nothing of that name" : "actor " + grouped(answer.actor));
  });
  admin_.send(admin_op::found, answer);
}

std::expected<void, node_error> link_core::on_found(const found& answer) {
  auto held = mutex_.lock();
  auto query = queries_.extract(answer.query);
  const auto own = answer.readers ? actors_.own(held, answer.actor) : nullptr;
  held.unlock();
  if (query) {
    query.mapped()(answer);
    if (answer.readers && answer.actor != 0 && !own) // Who asked has got the same reason.
      return fail(node_errc::protocol_violation,
                  "the peer names actor " + grouped(answer.actor) + ", which it was never given");
  } else if (answer.actor != 0) {
    // Nobody waits any more: receive and drop the handle, so that the peer's count goes back.
    if (auto dropped = actors_.find(name_in(answer)); !dropped)
      return std::unexpected{std::move(dropped).error()};
  }
  return {};
}

// -- releases

void link_core::proxy_gone(std::uint64_t number, const caf::actor_control_block* control) {
  const auto held = mutex_.lock();
  if (actors_.proxy_gone(held, number, control))
    gate_.forget(held, number);
}

} // namespace troupe::internal
