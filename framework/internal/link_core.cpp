#include <troupe/framework/internal/link_core.hpp>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <string>
#include <utility>

#include <asio/post.hpp>

#include <caf/actor_cast.hpp>
#include <caf/attachable.hpp>
#include <caf/exit_reason.hpp>

#include <troupe/framework/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/question_id.hpp>
#include <troupe/framework/internal/caf_port/task_runner.hpp>
#include <troupe/framework/internal/log.hpp>
#include <troupe/framework/internal/node_core.hpp>
#include <troupe/framework/internal/send_admin.hpp>
#include <troupe/framework/internal/text.hpp>
#include <troupe/serializers/function.hpp>
#include <troupe/serializers/internal/type_text.hpp>

namespace troupe::internal {

namespace {

std::unexpected<node_error> fail(node_errc code, std::string text) {
  return std::unexpected{node_error{code, std::move(text)}};
}

std::atomic<std::uint64_t> next_serial{1};

std::unexpected<node_error> unknown_detail(const packet_head& head) {
  return fail(node_errc::protocol_violation, "packet of kind " + std::to_string(static_cast<int>(head.kind))
                                                 + " with unknown detail " + std::to_string(head.detail));
}

/// The families of `names` in order. Fails for one that is not there or that the options do not admit.
std::expected<family_list, node_error> resolve(const std::vector<std::string>& names, const family_set& known,
                                               bool trusted) {
  auto families = known.resolve(names);
  if (!families)
    return fail(node_errc::bad_option, families.error().message());
  for (const auto* one : *families)
    if (one->needs_trust() && !trusted)
      return fail(node_errc::bad_option, "family " + std::string{one->name()}
                                             + " trusts its input; list it only with trusted_families = true, and only "
                                               "for peers that could as well run code here");
  return family_list{names, *std::move(families)};
}

} // namespace

// -- life

link_core::link_core(std::shared_ptr<node_core> node, const link_options& options, role side,
                     std::shared_ptr<const link_security> security)
    : serial_(next_serial.fetch_add(1, std::memory_order_relaxed)),
      node_(std::move(node)),
      options_(options),
      role_(side),
      security_(std::move(security)),
      actor_exports_(node_->system().node()),
      transfers_({.frame_bytes_max = options.message_bytes, .total_bytes_max = options.message_bytes}) {}

link_core::~link_core() = default;

std::expected<std::shared_ptr<link_core>, node_error> link_core::make(std::shared_ptr<node_core> node,
                                                                      const link_options& options, role side,
                                                                      std::shared_ptr<const link_security> security) {
  const auto& known = node->families();
  if (options.serializers.empty())
    return fail(node_errc::bad_option, "a link needs at least one family in `serializers`");
  const auto& accepted = options.deserializers.empty() ? options.serializers : options.deserializers;
  if (options.serializers.size() > families_max || accepted.size() > families_max)
    return fail(node_errc::bad_option, "a link lists at most 64 families");
  if (options.window_bytes == 0 || options.actor_window_bytes == 0 || options.queue_bytes == 0
      || options.actor_queue_bytes == 0)
    return fail(node_errc::bad_option, "a link's windows and queues have at least one byte");
  if (options.heartbeat_interval.count() <= 0 || options.heartbeat_timeout < options.heartbeat_interval)
    return fail(node_errc::bad_option, "heartbeat_timeout must be at least heartbeat_interval, which is above zero");
  auto link = std::shared_ptr<link_core>{new link_core{std::move(node), options, side, std::move(security)}};
  auto sends = resolve(options.serializers, known, options.trusted_families);
  if (!sends)
    return std::unexpected{std::move(sends).error()};
  auto accepts = resolve(accepted, known, options.trusted_families);
  if (!accepts)
    return std::unexpected{std::move(accepts).error()};
  link->serializers_ = *std::move(sends);
  link->accepted_ = *std::move(accepts);
  link->replies_.reset(new reply_consumption{link, link->received_signatures_});
  link->received_objects_ = std::make_shared<object_environment>(
      object_environment{link->node_->types(), link->node_->families(), link->accepted_.names, options.receive_limits});
  return link;
}

void link_core::enter(link_state next) {
  assert(may_follow(state_.load(std::memory_order_relaxed), next));
  // Whoever sees `open` sees what the handshake set before.
  state_.store(next, std::memory_order_release);
}

void link_core::close(const std::string& reason, std::chrono::milliseconds patience) {
  encoding_.end([self = shared_from_this(), reason, patience] { self->close_now(reason, patience); });
  if (encoding_.is_idle())
    return;
  // Who encodes may have no thread to do so, or take long.
  auto timer = std::make_shared<asio::steady_timer>(node_->io(), patience);
  timer->async_wait([self = shared_from_this(), timer, reason](std::error_code) {
    self->close_now(reason, std::chrono::milliseconds{0});
  });
}

void link_core::close_now(const std::string& reason, std::chrono::milliseconds patience) {
  {
    std::lock_guard guard{mutex_};
    auto now = state_.load(std::memory_order_relaxed);
    if (!may_follow(now, link_state::closing))
      return;
    enter(link_state::closing);
  }
  // On the I/O thread, which may not have connected it yet; start() then finds it closing.
  asio::post(node_->io(), [self = shared_from_this(), reason, patience] {
    if (!self->connection_)
      return;
    self->send_admin(admin_op::goodbye, goodbye{reason});
    self->connection_->close({node_errc::link_down, "this end closed the link: " + reason}, patience);
  });
}

void link_core::on_closed(const node_error& reason, std::uint64_t unwritten) {
  counters_.undelivered.fetch_add(unwritten, std::memory_order_relaxed);
  if (is_open())
    log(log_level::info, "link to " + peer_name_ + " is down: " + reason.message());
  {
    std::lock_guard guard{mutex_};
    enter(link_state::closed);
  }
  handshake_timer_.reset();
  heartbeat_timer_.reset();
  handshake_.reset();
  node_->unproven_peer_is_gone(this);
  if (peer_is_known_)
    node_->known_peer_is_gone(peer_node_);
  settle_opening(std::unexpected{reason});
  for (auto& waiting : encoding_.take_all())
    undo(waiting.receiver, *waiting.what, {node_errc::link_down, "the link to " + peer_name_ + " is down"}, nullptr);
  fail_everything({node_errc::link_down, "the link to " + peer_name_ + " is down: " + reason.message()});
  transfers_.clear();
  clear_elements();
  settle_last_pair();
  received_headers_.clear();
  if (shares_store_) {
    auto store = *node_->store();
    // Only what was on its way here: the peer may still read, and take over, what this end wrote before.
    if (auto abandoned = store.abandon(peer_process_, receive_channel()); !abandoned)
      log(log_level::warning,
          "what was in flight from " + peer_name_ + " stays in the store for now: " + abandoned.error().message());
    node_->reap_soon();
  }
  node_->link_ended(this);
}

/// Attached to an actor that the peer monitors.
class link_watch final : public caf::attachable {
public:
  static constexpr std::size_t token_type = 0x7472;

  /// Finds the attachables of one link again.
  struct key {
    const link_core* link;
    static constexpr std::size_t token_type = link_watch::token_type;
  };

  link_watch(const std::shared_ptr<link_core>& link, std::uint64_t number)
      : link_(link), identity_(link.get()), number_(number) {}

  void actor_exited(const caf::error& reason, caf::execution_unit*) override {
    if (auto link = link_.lock())
      link->watched_actor_ended(number_, reason);
  }

  bool matches(const token& what) override {
    return what.subtype == token_type && static_cast<const key*>(what.ptr)->link == identity_;
  }

private:
  std::weak_ptr<link_core> link_;
  const link_core* identity_;
  std::uint64_t number_;
};

void link_core::fail_everything(const node_error& reason) {
  std::unique_lock guard{mutex_};
  auto queries = std::exchange(queries_, {});
  auto requests = pending_.take_all();
  auto proxies = actor_imports_.take_all();
  auto exported = actor_exports_.take_all();
  auto objects = object_exports_.take_all();
  object_imports_.clear();
  auto watched = std::exchange(watched_, {});
  auto unsent = sending_.take_all();
  std::ranges::move(bulk_.take_all(), std::back_inserter(unsent));
  auto told = take_ready_watchers();
  auto runner = std::exchange(task_runner_, nullptr);
  room_.notify_all();
  guard.unlock();
  counters_.undelivered.fetch_add(unsent.size(), std::memory_order_relaxed);
  for (const auto& message : unsent)
    for (const auto& object : message.objects)
      object.take_back(peer_process_, send_channel());
  for (auto& [who, receiver] : told)
    tell_ready(who, receiver);
  // From here on nothing new enters the tables: every path checks the state under the lock.
  for (auto& [number, query] : queries)
    query.set_value(std::unexpected{reason});
  for (const auto& proxy : proxies)
    as_proxy(proxy)->kill_proxy(nullptr, caf::make_error(caf::exit_reason::remote_link_unreachable));
  for (const auto& [number, weak] : watched)
    if (auto actor = weak.lock())
      actor->get()->detach(caf::attachable::token{link_watch::key{this}});
  auto error = to_caf_error(reason);
  for (auto& [key, request] : requests)
    if (auto asker = request.asker.lock())
      asker->enqueue(nullptr, question_id(key.number, request.urgent).response_id(), caf::make_message(error), nullptr);
}

// -- packets

std::expected<void, node_error> link_core::on_packet(const packet_head& head, bytes_view body) {
  auto state = state_.load(std::memory_order_acquire);
  if (state == link_state::closing)
    return {}; // This end has said goodbye; what still arrives is not delivered any more.
  std::expected<void, node_error> handled;
  if (state == link_state::greeting) {
    if (head.kind != packet_kind::admin)
      handled = fail(node_errc::protocol_violation, "a packet of kind " + std::to_string(static_cast<int>(head.kind))
                                                        + " came before the handshake was over");
    else
      return on_greeting(head, body); // Says itself why it refuses.
  } else {
    switch (head.kind) {
    case packet_kind::message:
      handled = on_message(head.detail, body);
      break;
    case packet_kind::value:
      handled = on_value(head.detail, body);
      break;
    case packet_kind::chunk:
      handled = on_chunk(head.detail, body);
      break;
    case packet_kind::signature:
      handled = head.detail == 0 ? on_signature(body) : unknown_detail(head);
      break;
    case packet_kind::header:
      handled = head.detail == 0 ? on_header(body) : unknown_detail(head);
      break;
    case packet_kind::admin:
      handled = on_admin(static_cast<admin_op>(head.detail), body);
      break;
    default:
      handled =
          fail(node_errc::protocol_violation, "unknown packet kind " + std::to_string(static_cast<int>(head.kind)));
    }
  }
  if (!handled) {
    auto expected_end = handled.error().code() == node_errc::link_down; // The peer said goodbye.
    log(expected_end ? log_level::info : log_level::warning,
        "link to " + peer_name_ + " ends: " + handled.error().message());
    if (!expected_end) // Who has said goodbye reads no more.
      send_admin(admin_op::goodbye, goodbye{cut(handled.error().message())});
  }
  return handled;
}

std::expected<void, node_error> link_core::on_admin(admin_op op, bytes_view body) {
  settle_last_pair(); // It may be about one of them.
  auto with = [&]<class Admin>(auto handle) -> std::expected<void, node_error> {
    auto what = msgpack::decode_described<Admin>(body, options_.receive_limits);
    if (!what)
      return fail(node_errc::protocol_violation, "admin message " + std::to_string(static_cast<int>(op))
                                                     + " cannot be read: " + what.error().message());
    return handle(*what);
  };
  switch (op) {
  case admin_op::find:
    return with.operator()<find_query>(
        [this](const auto& what) { return on_find(what), std::expected<void, node_error>{}; });
  case admin_op::found:
    return with.operator()<found>([this](const auto& what) { return on_found(what); });
  case admin_op::monitor:
    return with.operator()<monitor>([this](const auto& what) { return on_monitor(what); });
  case admin_op::down:
    return with.operator()<down>([this](const auto& what) { return on_down(what), std::expected<void, node_error>{}; });
  case admin_op::release_actor:
    return with.operator()<release_actor>([this](const auto& what) { return on_release_actor(what); });
  case admin_op::release_object:
    return with.operator()<release_object>([this](const auto& what) { return on_release_object(what); });
  case admin_op::credit:
    return with.operator()<credit>([this](const auto& what) { return on_credit(what); });
  case admin_op::ping:
    send_admin(admin_op::pong, ping{});
    return {};
  case admin_op::pong:
    return {}; // Having been heard is all.
  case admin_op::goodbye:
  case admin_op::refuse:
    return with.operator()<goodbye>([](const auto& what) -> std::expected<void, node_error> {
      return fail(node_errc::link_down, "the peer closed the link: " + what.reason);
    });
  default:
    return fail(node_errc::protocol_violation, "admin message " + std::to_string(static_cast<int>(op))
                                                   + " is not known, or out of place on an open link");
  }
}

// -- names

caf::actor link_core::task_runner_of(std::type_index function, std::string& name) {
  auto& system = node_->system();
  const auto known = node_->types().find_function(function);
  if (!known)
    return spawn_refusal(system, {node_errc::not_found,
                                  detail::type_text(function)
                                      + " is not registered here; add it to the node's type registry, and to that of "
                                      + peer_name_ + ", with types.add_function"});
  name = known->name();
  std::unique_lock guard{mutex_};
  auto runner = task_runner_;
  auto open = is_open();
  guard.unlock();
  if (runner)
    return caf::actor_cast<caf::actor>(std::move(runner));
  if (!open)
    return spawn_refusal(system, {node_errc::link_down, "the link to " + peer_name_ + " is down"});
  return spawn_refusal(system,
                       {node_errc::not_allowed,
                        peer_name_ + " runs no tasks for this link; its end of the link " + "must have allow_tasks"});
}

std::expected<caf::strong_actor_ptr, node_error>
link_core::find(std::string_view name, const std::set<std::string>& interface, std::chrono::milliseconds timeout) {
  if (name.size() > alias_bytes_max)
    return fail(node_errc::not_found, "a published name has at most 1,024 bytes, this one " + grouped(name.size()));
  std::unique_lock guard{mutex_};
  if (!is_open())
    return fail(node_errc::link_down, "the link to " + peer_name_ + " is not open");
  auto number = next_query_++;
  auto answer = queries_[number].get_future();
  send_admin_locked(admin_op::find, find_query{number, std::string{name}});
  guard.unlock();
  if (answer.wait_for(timeout) != std::future_status::ready) {
    guard.lock();
    bool nothing_came = queries_.erase(number) > 0;
    guard.unlock();
    if (nothing_came) // Else the answer came just now, and its count must not get lost.
      return fail(node_errc::timed_out,
                  peer_name_ + " did not answer within " + std::to_string(timeout.count()) + " ms");
  }
  auto result = answer.get();
  if (!result)
    return std::unexpected{std::move(result).error()};
  if (result->actor == 0)
    return fail(node_errc::not_found, peer_name_ + " has nothing published as \"" + std::string{name} + '"');
  auto actor = import_actor({actor_name::side::mine, result->actor});
  if (!actor)
    return std::unexpected{std::move(actor).error()};
  std::set<std::string> offered{result->interface.begin(), result->interface.end()};
  if (!node_->system().assignable(offered, interface))
    return fail(node_errc::interface_mismatch,
                "\"" + std::string{name} + "\" at " + peer_name_ + " does not have the interface asked for: it has "
                    + std::to_string(offered.size()) + " kinds of messages, asked for are "
                    + std::to_string(interface.size()));
  return actor;
}

void link_core::on_find(const find_query& query) {
  found answer{.query = query.query, .actor = 0, .interface = {}};
  auto actor = node_->published(query.name);
  if (actor) {
    auto interface = caf::actor_cast<caf::abstract_actor*>(actor)->message_types();
    answer.interface.assign(interface.begin(), interface.end());
    std::lock_guard guard{mutex_};
    answer.actor = actor_exports_.add(actor);
  }
  send_admin(admin_op::found, answer);
}

std::expected<void, node_error> link_core::on_found(const found& answer) {
  std::unique_lock guard{mutex_};
  auto query = queries_.extract(answer.query);
  guard.unlock();
  if (!query.empty()) {
    query.mapped().set_value(answer);
  } else if (answer.actor != 0) {
    // Nobody waits any more: receive and drop the handle, so that the peer's count goes back.
    if (auto dropped = import_actor({actor_name::side::mine, answer.actor}); !dropped)
      return std::unexpected{std::move(dropped).error()};
  }
  return {};
}

// -- the end of actors

void link_core::watch(std::uint64_t number, caf::strong_actor_ptr proxy) {
  std::lock_guard guard{mutex_};
  if (is_open() && actor_imports_.hold(number, std::move(proxy)))
    send_admin_locked(admin_op::monitor, monitor{number});
}

std::expected<void, node_error> link_core::on_monitor(const monitor& what) {
  std::unique_lock guard{mutex_};
  auto actor = actor_exports_.find(what.actor);
  bool is_new = actor && watched_.try_emplace(what.actor, actor.get()).second;
  guard.unlock();
  if (!actor)
    return fail(node_errc::protocol_violation,
                "the peer monitors actor " + grouped(what.actor) + ", which it was never given");
  if (is_new)
    actor->get()->attach(caf::attachable_ptr{new link_watch{shared_from_this(), what.actor}});
  return {};
}

void link_core::watched_actor_ended(std::uint64_t number, const caf::error& reason) {
  down message{.actor = number, .reason_code = 0, .reason_category = {}, .reason_text = {}};
  if (reason) {
    message.reason_code = reason.code();
    message.reason_category = caf::to_string(reason.category());
    message.reason_text = cut(text_of(reason));
  }
  std::lock_guard guard{mutex_};
  watched_.erase(number); // Monitored again, it is answered again.
  send_admin_locked(admin_op::down, message);
}

void link_core::on_down(const down& what) {
  std::unique_lock guard{mutex_};
  auto held = actor_imports_.let_go(what.actor);
  guard.unlock();
  if (!held)
    return;
  caf::error reason;
  if (what.reason_code != 0) {
    auto category = caf::atom_from_string(what.reason_category);
    reason = category == error_category || !what.reason_text.empty()
                 ? caf::error{what.reason_code, category, caf::make_message(what.reason_text)}
                 : caf::error{what.reason_code, category};
  }
  as_proxy(held)->kill_proxy(nullptr, std::move(reason));
}

// -- releases

void link_core::proxy_gone(std::uint64_t number, const caf::actor_control_block* control) {
  std::lock_guard guard{mutex_};
  if (auto count = actor_imports_.gone(number, control); count > 0) {
    sending_.forget(number);
    send_admin_locked(admin_op::release_actor, release_actor{number, count});
  }
}

std::expected<void, node_error> link_core::on_release_actor(const release_actor& what) {
  std::unique_lock guard{mutex_};
  auto dropped = actor_exports_.release(what.actor, what.count);
  guard.unlock();
  if (dropped && *dropped)
    receiving_->release(what.actor);
  if (!dropped)
    return fail(node_errc::protocol_violation, "the peer releases actor " + grouped(what.actor) + " "
                                                   + grouped(what.count) + " times, more than it was sent");
  return {};
}

void link_core::object_gone(const store::object_id& id, const stored_bytes* owner) {
  std::lock_guard guard{mutex_};
  if (auto count = object_imports_.gone(id, owner); count > 0)
    send_admin_locked(admin_op::release_object, release_object{id.index, id.generation, count});
}

std::expected<void, node_error> link_core::on_release_object(const release_object& what) {
  if (!shares_store_)
    return fail(node_errc::protocol_violation, "the peer releases an object, but no store is shared");
  store::object_id id{node_->store()->number(), what.index, what.generation};
  std::unique_lock guard{mutex_};
  auto dropped = object_exports_.release(id, what.count);
  guard.unlock();
  if (!dropped)
    return fail(node_errc::protocol_violation, "the peer releases object " + store::to_string(id) + " "
                                                   + grouped(what.count) + " times, more than it was sent");
  return {};
}

// -- readers

std::vector<std::string> link_core::effective_serializers() const {
  std::vector<std::string> names;
  for (const auto* one : send_families_)
    names.emplace_back(one->name());
  return names;
}

link_stats link_core::stats() const {
  auto read = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
  std::lock_guard guard{mutex_};
  return {.messages_sent = read(counters_.messages_sent),
          .messages_received = read(counters_.messages_received),
          .socket_bytes_sent = connection_ ? connection_->bytes_written() : 0,
          .socket_bytes_received = connection_ ? connection_->bytes_read() : 0,
          .handle_bytes_sent = read(counters_.handle_bytes_sent),
          .handle_bytes_received = read(counters_.handle_bytes_received),
          .unserializable = read(counters_.unserializable),
          .undecodable = read(counters_.undecodable),
          .undelivered = read(counters_.undelivered),
          .store_fallbacks = read(counters_.store_fallbacks),
          .refused_at_bound = read(counters_.refused_at_bound),
          .dropped = read(counters_.dropped),
          .unconsumed_bytes_there = sending_.outstanding_bytes(),
          .waiting_bytes = sending_.queued_bytes() + encoding_.bytes(),
          .unconsumed_bytes_here = receiving_ ? receiving_->unconsumed_bytes() : 0,
          .unread_bytes = connection_ && !is_closed() ? connection_->unwritten_bytes() + bulk_.bytes() : 0,
          .large_frame_bytes_here = transfers_.living_bytes()};
}

} // namespace troupe::internal
