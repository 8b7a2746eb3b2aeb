#include <troupe/framework/internal/lasting/lasting_actor.hpp>

#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/error_answers.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/dead_letter_box.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

/// As links count a small message.
constexpr std::uint64_t message_bytes_min = 640;

} // namespace

lasting_actor::lasting_actor(caf::actor_config& config, std::weak_ptr<lasting_owner> owner, terms its)
    : caf::actor_proxy(config), owner_(std::move(owner)), its_(std::move(its)), waiting_(its_.queue_bytes) {}

lasting_actor::~lasting_actor() {
  if (const auto owner = owner_.lock())
    owner->is_dropped(its_.number);
}

void lasting_actor::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  if (!forward(what, context))
    keep_or_refuse(std::move(what), context);
}

/// Returns false, without any effect, if there is no target whose link is up.
bool lasting_actor::forward(caf::mailbox_element_ptr& what, caf::execution_unit* context) {
  return slot_.with_target([&](const found_target& target) { return target.take(what, context); });
}

void lasting_actor::keep_or_refuse(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  const auto bytes = bytes_of(*what);
  const auto owner = owner_.lock();
  node_error why{node_errc::none, {}};
  target_slot::dropped_targets dropped;
  caf::strong_actor_ptr dropped_target;
  auto is_kept = false;
  auto begins = false;
  {
    std::unique_lock guard{mutex_};
    while (!over_ && slot_.is_set()) { // The target was found meanwhile, or it is down.
      guard.unlock();
      if (forward(what, context))
        return;
      guard.lock();
      if (!slot_.is_set())
        break;
      dropped = slot_.set(nullptr);
      dropped_target = std::exchange(target_, nullptr);
      begins = true;
    }
    if (over_)
      why = *over_;
    else if (!owner)
      why = {node_errc::link_down, "the node of the lasting handle to \"" + its_.name + "\" has ended"};
    else if (!waiting_.has_room(bytes))
      why = {node_errc::link_busy, "a message of " + grouped(bytes) + " bytes does not fit behind the "
                                       + grouped(waiting_.bytes()) + " bytes that wait for \"" + its_.name
                                       + "\", which is not found; limit " + grouped(waiting_.bytes_max())
                                       + " (lasting_options::queue)"};
    else {
      begins = begins || waiting_.empty();
      waiting_.add({.message = std::move(what), .since = clock::now(), .bytes = bytes});
      if (!self_)
        self_ = caf::strong_actor_ptr{ctrl()};
      is_kept = true;
    }
  }
  if (!is_kept)
    fail(*what, why, context);
  if (begins && owner)
    owner->is_away(its_.number);
}

void lasting_actor::forward_to(caf::strong_actor_ptr target) {
  target_slot::dropped_targets dropped;
  caf::strong_actor_ptr dropped_target;
  caf::strong_actor_ptr dropped_self;
  const found_target next{target};
  std::unique_lock guard{mutex_};
  if (over_)
    return;
  dropped = slot_.set(nullptr);
  dropped_target = std::exchange(target_, nullptr);
  while (!waiting_.empty()) {
    auto batch = waiting_.take_all();
    guard.unlock();
    while (!batch.empty() && next.take(batch.front().message, nullptr))
      batch.pop_front();
    guard.lock();
    if (!batch.empty()) {
      waiting_.put_back(std::move(batch));
      return; // The search hears of the end of the target's link.
    }
    if (over_)
      break;
  }
  dropped_self = std::exchange(self_, nullptr);
  if (over_)
    return;
  static_cast<void>(slot_.set(std::make_unique<const found_target>(target))); // There was none: nothing is dropped.
  target_ = std::move(target);
}

void lasting_actor::wait() {
  target_slot::dropped_targets dropped;
  caf::strong_actor_ptr dropped_target;
  std::lock_guard guard{mutex_};
  dropped = slot_.set(nullptr);
  dropped_target = std::exchange(target_, nullptr);
}

caf::strong_actor_ptr lasting_actor::target() const {
  std::lock_guard guard{mutex_};
  return target_;
}

std::optional<lasting_actor::clock::time_point> lasting_actor::fail_older_than(clock::time_point then,
                                                                               const node_error& why) {
  std::deque<waiting_messages::entry> old;
  caf::strong_actor_ptr dropped_self;
  std::optional<clock::time_point> next;
  {
    std::lock_guard guard{mutex_};
    old = waiting_.take_older_than(then);
    next = waiting_.oldest();
    if (!next)
      dropped_self = std::exchange(self_, nullptr);
  }
  fail_all(std::move(old), why);
  return next;
}

void lasting_actor::end(const node_error& why) {
  target_slot::dropped_targets dropped;
  caf::strong_actor_ptr dropped_target;
  caf::strong_actor_ptr self{ctrl()};
  caf::strong_actor_ptr dropped_self;
  std::deque<waiting_messages::entry> all;
  {
    std::lock_guard guard{mutex_};
    if (over_)
      return;
    over_ = why;
    dropped = slot_.set(nullptr);
    dropped_target = std::exchange(target_, nullptr);
    all = waiting_.take_all();
    dropped_self = std::exchange(self_, nullptr);
  }
  fail_all(std::move(all), why);
  cleanup(to_caf_error(why), nullptr);
}

void lasting_actor::kill_proxy(caf::execution_unit* context, caf::error reason) {
  cleanup(std::move(reason), context);
}

std::uint64_t lasting_actor::bytes_of(const caf::mailbox_element& what) const {
  auto bytes = message_bytes_min;
  const auto owner = owner_.lock();
  const auto node = owner ? owner->node() : nullptr;
  if (!node)
    return bytes;
  const message_view content{what};
  for (std::size_t i = 0; i < content.size(); ++i)
    if (const auto* type = content.type(i).entry_in(node->types()))
      bytes += type->memory_bytes(content.value(i));
  return bytes;
}

/// Tells the requester. Messages that are not requests become dead letters.
void lasting_actor::fail(caf::mailbox_element& what, const node_error& why, caf::execution_unit* context) const {
  if (what.mid.is_request() && what.sender) {
    answer_with(why, what.sender, what.mid.response_id(), nullptr, context);
    return;
  }
  const auto owner = owner_.lock();
  const auto node = owner ? owner->node() : nullptr;
  if (!node || !node->letters().is_open() || what.mid.is_response()
      || message_view{what}.kind() != message_kind::ordinary)
    return;
  if (!node->letters().has_room()) {
    node->letters().note_lost();
    return;
  }
  dead_letter letter;
  letter.peer = its_.name;
  letter.receiver = id();
  letter.sender = what.sender ? what.sender->id() : 0;
  letter.reason = why.code();
  letter.reason_text = why.message();
  node->letters().put(std::move(letter), message_view{what}, what.sender);
}

void lasting_actor::fail_all(std::deque<waiting_messages::entry> all, const node_error& why) const {
  for (auto& each : all)
    fail(*each.message, why, nullptr);
}

caf::strong_actor_ptr make_lasting_actor(caf::actor_system& system, std::weak_ptr<lasting_owner> owner,
                                         lasting_actor::terms its) {
  caf::actor_config config;
  return caf::make_actor<lasting_actor, caf::strong_actor_ptr>(system.next_actor_id(), system.node(), &system, config,
                                                               std::move(owner), std::move(its));
}

} // namespace troupe::internal
