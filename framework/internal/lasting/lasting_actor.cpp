#include <troupe/framework/internal/lasting/lasting_actor.hpp>

#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/context_in_force.hpp>
#include <troupe/framework/internal/caf_port/error_answers.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/caf_port/question_id.hpp>
#include <troupe/framework/internal/caf_port/stage.hpp>
#include <troupe/framework/internal/link/dead_letter_box.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

/// As links count a small message.
constexpr std::uint64_t message_bytes_min = 640;

/// Whether nothing but its messages refers to the sender, which fails their requests when it is dropped.
bool is_stand_in(const caf::strong_actor_ptr& sender) {
  return sender && dynamic_cast<caf::actor_proxy*>(sender->get()) != nullptr;
}

} // namespace

lasting_actor::lasting_actor(caf::actor_config& config, std::weak_ptr<lasting_owner> owner, terms its)
    : caf::actor_proxy(config), owner_(std::move(owner)), its_(std::move(its)), waiting_(its_.queue_bytes) {}

lasting_actor::~lasting_actor() {
  if (const auto owner = owner_.lock())
    owner->is_dropped(its_.number);
}

void lasting_actor::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  if (!is_used_.load(std::memory_order_relaxed))
    is_used_.store(true, std::memory_order_relaxed);
  if (its_.retry != request_retry::none) {
    if (what->mid.is_response()) {
      on_answer(std::move(what), context);
      return;
    }
    if (what->mid.is_request() && !(what = in_own_name(std::move(what), context)))
      return;
  }
  if (!forward(what, context))
    keep_or_refuse(std::move(what), context);
}

/// Returns false, without any effect, if there is no target whose link is up. `refused` takes the target whose link is
/// down; it may be gone by then, and is only compared.
bool lasting_actor::forward(caf::mailbox_element_ptr& what, caf::execution_unit* context,
                            const found_target** refused) {
  return slot_.with_target([&](const found_target& target) {
    const auto is_given = give(target, what, context);
    if (!is_given && refused != nullptr)
      *refused = &target;
    return is_given;
  });
}

bool lasting_actor::give(const found_target& target, caf::mailbox_element_ptr& what, caf::execution_unit* context) {
  return is_own_request(*what) ? give_own(target, *what, context) : target.take(what, context);
}

/// If nothing waits, one message may exceed the bound.
bool lasting_actor::has_room(std::uint64_t bytes) const noexcept {
  const auto used = used_bytes();
  return used == 0 || (bytes <= its_.queue_bytes && used <= its_.queue_bytes - bytes);
}

node_error lasting_actor::full(std::uint64_t bytes) const {
  return {node_errc::link_busy, "a message of " + grouped(bytes) + " bytes does not fit behind the "
                                    + grouped(used_bytes()) + " bytes that wait for \"" + its_.name + "\"; limit "
                                    + grouped(waiting_.bytes_max()) + " (lasting_options::queue)"};
}

void lasting_actor::keep_or_refuse(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  const auto is_own = is_own_request(*what);
  const auto bytes = is_own ? 0 : bytes_of(*what); // Own requests are counted by requests_.
  const auto owner = owner_.lock();
  node_error why{node_errc::none, {}};
  target_slot::dropped_targets dropped;
  caf::strong_actor_ptr dropped_target;
  auto is_kept = false;
  auto begins = false;
  {
    std::unique_lock guard{mutex_};
    while (!over_ && slot_.is_set()) { // The target was found meanwhile, or it is down.
      const found_target* refused = nullptr;
      guard.unlock();
      if (forward(what, context, &refused))
        return;
      guard.lock();
      if (!slot_.is(refused)) // Replaced meanwhile.
        continue;
      dropped = slot_.set(nullptr);
      dropped_target = std::exchange(target_, nullptr);
      begins = true;
    }
    if (over_)
      why = *over_;
    else if (!owner)
      why = {node_errc::link_down, "the node of the lasting handle to \"" + its_.name + "\" has ended"};
    else if (!is_own && !has_room(bytes))
      why = full(bytes);
    else {
      begins = begins || waiting_.empty();
      const auto number = is_own ? what->mid.request_id().integer_value() : 0;
      waiting_messages::entry entry{
          .message = std::move(what), .since = clock::now(), .bytes = bytes, .number = number};
      if (is_own)
        waiting_.add_again(std::move(entry));
      else
        waiting_.add(std::move(entry));
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

lasting_actor::flow lasting_actor::forward_some(const found_target& target) {
  constexpr int messages_max = 256;
  target_slot::dropped_targets dropped;
  caf::strong_actor_ptr dropped_target;
  caf::strong_actor_ptr dropped_self;
  std::optional<waiting_messages::entry> unsent;
  std::unique_lock guard{mutex_};
  if (over_)
    return flow::open;
  dropped = slot_.set(nullptr);
  dropped_target = std::exchange(target_, nullptr);
  for (auto count = 0; !waiting_.empty(); ++count) {
    if (count == messages_max)
      return flow::more;
    auto next = waiting_.take_first();
    given_bytes_ = next.bytes;
    guard.unlock();
    const auto has_room = target.remote == nullptr || target.remote->link()->is_ready(target.remote->number());
    const auto is_given = has_room && give(target, next.message, nullptr);
    guard.lock();
    given_bytes_ = 0;
    if (is_given)
      continue;
    if (over_) { // end() has not seen the message.
      unsent = std::move(next);
      break;
    }
    waiting_.put_back(std::move(next));
    return has_room || target.remote->link()->is_down() ? flow::down : flow::stalled;
  }
  dropped_self = release_if_idle();
  if (over_) {
    const auto why = *over_;
    guard.unlock();
    if (unsent)
      fail(*unsent->message, why, nullptr);
    return flow::open;
  }
  target_ = target.actor;
  static_cast<void>(slot_.set(std::make_unique<const found_target>(target))); // There was none: nothing is dropped.
  return flow::open;
}

void lasting_actor::wait() {
  target_slot::dropped_targets dropped;
  caf::strong_actor_ptr dropped_target;
  std::lock_guard guard{mutex_};
  dropped = slot_.set(nullptr);
  dropped_target = std::exchange(target_, nullptr);
}

node_error lasting_actor::problem() const {
  const std::lock_guard guard{mutex_};
  return over_.value_or(problem_);
}

void lasting_actor::note_problem(node_error why) {
  const std::lock_guard guard{mutex_};
  problem_ = std::move(why);
}

bool lasting_actor::rest() {
  target_slot::dropped_targets dropped;
  caf::strong_actor_ptr dropped_target;
  const std::lock_guard guard{mutex_};
  if (!waiting_.empty() || !requests_.empty() || given_bytes_ > 0)
    return false;
  dropped = slot_.set(nullptr);
  dropped_target = std::exchange(target_, nullptr);
  return true;
}

void lasting_actor::wake() const {
  if (const auto owner = owner_.lock())
    owner->is_away(its_.number);
}

bool lasting_actor::awaits_the_same_process() const {
  const std::lock_guard guard{mutex_};
  return its_.retry == request_retry::repeat_idempotent && !requests_.empty();
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
    dropped_self = release_if_idle();
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
  std::map<std::uint64_t, kept_request> requests;
  {
    std::lock_guard guard{mutex_};
    if (over_)
      return;
    over_ = why;
    dropped = slot_.set(nullptr);
    dropped_target = std::exchange(target_, nullptr);
    all = waiting_.take_all();
    requests = requests_.take_all();
    dropped_self = std::exchange(self_, nullptr);
  }
  for (const auto& [number, request] : requests)
    fail(request, why, nullptr);
  fail_all(std::move(all), why);
  cleanup(to_caf_error(why), nullptr);
}

// -- requests that may be repeated

/// Keeps the request, and returns one in this actor's name. Returns null if the request has failed.
caf::mailbox_element_ptr lasting_actor::in_own_name(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  if (!what->stages.empty())
    what = without_stages(home_system(), std::move(what));
  const auto bytes = bytes_of(*what);
  const auto urgent = what->mid.is_urgent_message();
  kept_request request{.sender = caf::weak_actor_ptr{what->sender.get()}, .id = what->mid, .bytes = bytes};
  if (is_stand_in(what->sender))
    request.held = what->sender;
  if (const auto* notes = notes_of(*what)) {
    request.deadline = notes->deadline;
    request.trace = notes->trace;
  } else {
    request.deadline = deadline_in_name_of(what->sender);
  }
  if (const auto* trace = request.trace ? nullptr : context_for_message_of(what->sender, true))
    request.trace = std::make_shared<traced_hop>(*trace);
  std::optional<node_error> why_not;
  std::vector<kept_request> stale;
  std::uint64_t number = 0;
  {
    const std::lock_guard guard{mutex_};
    if (!has_room(bytes))
      stale = requests_.take_stale(clock::now() - its_.patience, clock::now());
    if (over_)
      why_not = over_;
    else if (!has_room(bytes))
      why_not = full(bytes);
    else {
      request.content = what->move_content_to_message();
      number = requests_.add(std::move(request));
      if (!self_)
        self_ = caf::strong_actor_ptr{ctrl()};
    }
  }
  for (const auto& each : stale)
    fail(each,
         {node_errc::outcome_unknown,
          "the request to \"" + its_.name
              + "\" is unanswered for longer than the handle's patience, and its room in the "
                "queue was needed (lasting_options::queue)"},
         context);
  if (why_not) {
    fail(*what, *why_not, context);
    return nullptr;
  }
  return caf::make_mailbox_element(caf::strong_actor_ptr{ctrl()}, question_id(number, urgent), {}, caf::message{});
}

/// Returns false, without any effect, if the target's link is down.
bool lasting_actor::give_own(const found_target& target, const caf::mailbox_element& what,
                             caf::execution_unit* context) {
  const auto number = what.mid.request_id().integer_value();
  caf::message content;
  std::optional<node_error> why_not;
  auto notes = begin_sending(target, number, content, why_not);
  if (why_not)
    if (const auto request = finish(number))
      fail(*request, *why_not, context);
  if (!notes)
    return true;
  auto attempt = caf::make_mailbox_element(caf::strong_actor_ptr{ctrl()}, what.mid, {}, std::move(content));
  if (!notes->is_empty() || notes->identity)
    attempt = annotate(std::move(attempt), *std::move(notes), nullptr);
  if (target.take(attempt, context))
    return true;
  undo_sending(number);
  return false;
}

/// Notes that the request is sent now. Returns nullopt if it is not kept any more, or cannot be repeated: `why_not`.
std::optional<message_notes> lasting_actor::begin_sending(const found_target& target, std::uint64_t number,
                                                          caf::message& content, std::optional<node_error>& why_not) {
  caf::strong_actor_ptr dropped_target;
  const std::lock_guard guard{mutex_};
  auto* const request = requests_.find(number);
  if (request == nullptr)
    return std::nullopt;
  message_notes notes{.deadline = request->deadline, .trace = request->trace};
  if (its_.retry == request_retry::repeat_idempotent) {
    if (request->is_sent && (target.memory.empty() || request->memory != target.memory)) {
      why_not = node_error{node_errc::outcome_unknown,
                           "the request was sent and may have been handled; its process has ended, or another one has "
                           "the name \""
                               + its_.name + "\", or it does not recognize repeated requests"};
      return std::nullopt;
    }
    if (!target.memory.empty())
      notes.identity = std::make_shared<const request_identity>(requests_.identity_of(number, clock::now()));
  }
  request->was_sent = request->is_sent;
  request->is_sent = true;
  dropped_target = std::exchange(request->target, target.actor);
  if (!request->was_sent) {
    request->sent_at = clock::now();
    request->memory = target.memory;
  }
  content = request->content;
  return notes;
}

/// The link was down, so the last attempt has sent nothing.
void lasting_actor::undo_sending(std::uint64_t number) {
  const std::lock_guard guard{mutex_};
  if (auto* const request = requests_.find(number)) {
    request->is_sent = request->was_sent;
    if (!request->is_sent)
      request->sent_at.reset();
  }
}

/// Whether the answer is the error of a lost link, in place of the receiver's answer, which may be an equal error.
bool lasting_actor::is_lost(std::uint64_t number, const caf::mailbox_element& answer) const {
  const message_view content{answer};
  if (answer.sender || content.kind() != message_kind::error
      || to_node_error(*static_cast<const caf::error*>(content.value(0))).code() != node_errc::link_down)
    return false;
  caf::strong_actor_ptr target; // Dropped without the lock.
  const std::lock_guard guard{mutex_};
  const auto* const request = requests_.find(number);
  if (request == nullptr)
    return false;
  target = request->target;
  const auto* const remote = as_proxy(target);
  return remote != nullptr && remote->link()->is_down();
}

void lasting_actor::on_answer(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  const auto number = what->mid.request_id().integer_value();
  if (is_lost(number, *what)) {
    repeat(*what, number, context);
    return;
  }
  const auto request = finish(number);
  if (!request)
    return;
  // A repeated request that fails on this end may have been handled before.
  const message_view content{*what};
  if (request->was_sent && !what->sender && content.kind() == message_kind::error)
    fail(*request,
         {node_errc::outcome_unknown, "the request was sent before and may have been handled; repeating it has failed: "
                                          + to_node_error(*static_cast<const caf::error*>(content.value(0))).message()},
         context);
  else
    answer(*request, what->sender, what->move_content_to_message(), context);
}

/// Sends the request again, once there is a target. `what` is the error that it got in place of an answer.
void lasting_actor::repeat(const caf::mailbox_element& what, std::uint64_t number, caf::execution_unit* context) {
  auto again = caf::make_mailbox_element(caf::strong_actor_ptr{ctrl()},
                                         question_id(number, what.mid.is_urgent_message()), {}, caf::message{});
  if (!forward(again, context))
    keep_or_refuse(std::move(again), context);
}

/// Returns the request, which is not kept any more; nullopt if it was not.
std::optional<lasting_actor::kept_request> lasting_actor::finish(std::uint64_t number) {
  caf::strong_actor_ptr dropped_self;
  const std::lock_guard guard{mutex_};
  auto taken = requests_.take(number);
  dropped_self = release_if_idle();
  return taken;
}

void lasting_actor::answer(const kept_request& request, const caf::strong_actor_ptr& from, caf::message content,
                           caf::execution_unit* context) {
  if (const auto sender = request.sender.lock())
    sender->enqueue(from, request.id.response_id(), std::move(content), context);
}

void lasting_actor::fail(const kept_request& request, const node_error& why, caf::execution_unit* context) {
  const auto sender = request.sender.lock();
  if (!sender)
    return;
  const auto is_unknown = request.is_sent && why.code() == node_errc::link_down;
  answer_with(is_unknown ? node_error{node_errc::outcome_unknown,
                                      "the request was sent and may have been handled; " + why.message()}
                         : why,
              sender, request.id.response_id(), nullptr, context);
}

/// Returns the reference that kept this actor alive, to be dropped outside the lock.
caf::strong_actor_ptr lasting_actor::release_if_idle() {
  return waiting_.empty() && requests_.empty() ? std::exchange(self_, nullptr) : nullptr;
}

void lasting_actor::kill_proxy(caf::execution_unit* context, caf::error reason) {
  cleanup(std::move(reason), context);
}

std::uint64_t lasting_actor::bytes_of(const caf::mailbox_element& what) const {
  const auto owner = owner_.lock();
  const auto node = owner ? owner->node() : nullptr;
  return message_bytes_min + (node ? value_memory_of(message_view{what}, node->types()) : 0);
}

/// Tells the requester. Messages that are not requests become dead letters.
void lasting_actor::fail(caf::mailbox_element& what, const node_error& why, caf::execution_unit* context) {
  if (is_own_request(what)) {
    if (const auto request = finish(what.mid.request_id().integer_value()))
      fail(*request, why, context);
    return;
  }
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

void lasting_actor::fail_all(std::deque<waiting_messages::entry> all, const node_error& why) {
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
