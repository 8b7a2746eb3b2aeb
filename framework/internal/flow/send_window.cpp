#include <troupe/framework/internal/flow/send_window.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal {

namespace {

// What the first answer of a receiver is expected to cost.
constexpr std::uint64_t reply_estimate_min = 256;

/// Whether one more message finds room to wait in. Where half of it is free, a message of any size does: so `is_ready`
/// keeps its word, and large messages are not turned away because of a few small ones.
bool has_room(std::uint64_t queued, std::uint64_t cost, std::uint64_t bound) {
  return queued + cost <= bound || queued <= bound / 2;
}

/// Visits all that lies behind the handles, what cannot be known again with no key.
template <class Visit>
void each_object(const behind_handles& behind, Visit visit) {
  for (const auto& each : behind.frames)
    visit(each.which, each.bytes);
  for (const auto& each : behind.objects)
    visit(each.which, each.size_bytes);
}

void count_waiting(const behind_handles& behind, std::unordered_map<store::object_id, std::size_t>& in) {
  each_object(behind, [&](const store::object_id& which, std::uint64_t) {
    if (is_named(which))
      ++in[which];
  });
}

void uncount_waiting(const behind_handles& behind, std::unordered_map<store::object_id, std::size_t>& in) {
  each_object(behind, [&](const store::object_id& which, std::uint64_t) {
    if (const auto found = in.find(which); found != in.end() && --found->second == 0)
      in.erase(found);
  });
}

} // namespace

behind_handles send_window::behind(packed_message& message) {
  return {.frames = message.frames, .objects = message.mentions};
}

/// That it was sent and has not consumed.
std::uint64_t send_window::handle_bytes_of(const receiver_state& state) {
  return state.handles ? state.handles->sent.bytes() : 0;
}

/// Null where nothing is known of it.
const send_window::receiver_state* send_window::find(std::uint64_t receiver) const {
  if (last_ != nullptr && last_receiver_ == receiver)
    return last_;
  auto found = receivers_.find(receiver);
  return found == receivers_.end() ? nullptr : &found->second;
}

send_window::receiver_state& send_window::state_of(std::uint64_t receiver) {
  if (last_ == nullptr || last_receiver_ != receiver) {
    last_ = &receivers_[receiver]; // Stays in its place while it is in the map.
    last_receiver_ = receiver;
  }
  return *last_;
}

bool send_window::may_leave(const receiver_state& state, bool request, const behind_handles& behind) const {
  if (counts_handles()) {
    bool of_receiver = false, of_link = false; // Whether it would count more.
    each_object(behind, [&](const store::object_id& which, std::uint64_t bytes) {
      of_receiver = of_receiver || (bytes > 0 && !(state.handles && state.handles->sent.has(which, bytes)));
      of_link = of_link || (bytes > 0 && !objects_.has(which, bytes));
    });
    if ((of_receiver && handle_bytes_of(state) >= bounds_.actor_handle_window)
        || (of_link && outstanding_handles_ >= bounds_.handle_window))
      return false;
  }
  return state.outstanding < bounds_.actor_window && outstanding_ < bounds_.window
         && (!request || has_room_for_reply(state));
}

bool send_window::has_room_for_reply(const receiver_state& state) const {
  return (reserved_replies_ == 0 || reserved_replies_ + unconsumed_replies_ < bounds_.replies)
         && state.reserved_replies < bounds_.actor_replies;
}

bool send_window::has_room_for_reply(std::uint64_t receiver) const {
  static const receiver_state fresh;
  const auto* found = find(receiver);
  return has_room_for_reply(found == nullptr ? fresh : *found);
}

send_window::admission send_window::admit(std::uint64_t receiver, std::uint64_t cost, bool request,
                                          const behind_handles& behind) const {
  static const receiver_state fresh;
  const auto* found = find(receiver);
  const auto& state = found == nullptr ? fresh : *found;
  if (!state.waits() && may_leave(state, request, behind))
    return admission::leaves;
  bool fits = has_room(state.queued, cost, bounds_.actor_queue) && has_room(queued_, cost, bounds_.queue);
  const auto more = cost_of_waiting(state, behind);
  if (more.of_receiver > 0)
    fits = fits && has_room(state.handles ? state.handles->queued : 0, more.of_receiver, bounds_.actor_handle_queue);
  if (more.of_link > 0)
    fits = fits && has_room(queued_handles_, more.of_link, bounds_.handle_queue);
  return fits ? admission::waits : admission::at_bound;
}

/// What the message counts where it waits: objects that count already, or in another message that waits, nothing.
send_window::waiting_cost send_window::cost_of_waiting(const receiver_state& state,
                                                       const behind_handles& behind) const {
  waiting_cost result;
  if (!counts_handles())
    return result;
  each_object(behind, [&](const store::object_id& which, std::uint64_t bytes) {
    if (!state.handles || (!state.handles->sent.has(which, bytes) && !state.handles->waiting.contains(which)))
      result.of_receiver = handle_cost(result.of_receiver, bytes);
    if (!objects_.has(which, bytes) && !waiting_objects_.contains(which))
      result.of_link = handle_cost(result.of_link, bytes);
  });
  return result;
}

/// Requires: the message leaves.
bool send_window::charge_handles(receiver_state& state, const behind_handles& behind) {
  if (!counts_handles() || (behind.frames.empty() && behind.objects.empty()))
    return false;
  auto& of_receiver = handles_of(state).sent;
  std::uint64_t so_far = 0;
  const auto add = [&](const store::object_id& which, std::uint64_t bytes) {
    const auto with = handle_cost(so_far, bytes);
    outstanding_handles_ += of_receiver.add(which, with - so_far);
    so_far = with;
  };
  // The reader is told of all of them at once.
  const auto frames_repeat = !behind.frames.empty() && std::ranges::all_of(behind.frames, [&](const auto& each) {
    return of_receiver.has(each.which, each.bytes);
  });
  if (!frames_repeat)
    for (const auto& each : behind.frames)
      add(each.which, each.bytes);
  for (auto& each : behind.objects) {
    each.is_repeated = of_receiver.has(each.which, each.size_bytes);
    if (!each.is_repeated)
      add(each.which, each.size_bytes);
  }
  return frames_repeat;
}

send_window::handle_state& send_window::handles_of(receiver_state& state) {
  if (!state.handles)
    state.handles = std::make_unique<handle_state>(handle_account{objects_});
  return *state.handles;
}

bool send_window::charge(std::uint64_t receiver, std::uint64_t cost, const behind_handles& behind) {
  auto& state = state_of(receiver);
  state.forgotten = false;
  state.outstanding += cost;
  outstanding_ += cost;
  return charge_handles(state, behind);
}

void send_window::wait(packed_message message) {
  auto receiver = message.receiver;
  auto& state = state_of(receiver);
  state.forgotten = false;
  if (!state.waits())
    turns_.push_back(receiver);
  state.queued += message.cost;
  queued_ += message.cost;
  if (counts_handles() && (!message.frames.empty() || !message.mentions.empty())) {
    const auto cost = cost_of_waiting(state, behind(message));
    message.handle_bytes = cost.of_receiver;
    message.link_handle_bytes = cost.of_link;
    auto& handles = handles_of(state);
    handles.queued += cost.of_receiver;
    queued_handles_ += cost.of_link;
    count_waiting(behind(message), handles.waiting);
    count_waiting(behind(message), waiting_objects_);
  }
  bool urgent = (message.flags & message_flags::urgent) != 0;
  (urgent ? state.urgent : state.normal).push_back(std::move(message));
}

/// The caller takes the receiver's turn out where nothing waits any more.
packed_message send_window::take(receiver_state& state, std::deque<packed_message>& from,
                                 std::deque<packed_message>::iterator at) {
  auto message = std::move(*at);
  from.erase(at);
  state.queued -= message.cost;
  queued_ -= message.cost;
  queued_handles_ -= message.link_handle_bytes;
  if (counts_handles() && state.handles) {
    state.handles->queued -= message.handle_bytes;
    uncount_waiting(behind(message), state.handles->waiting);
    uncount_waiting(behind(message), waiting_objects_);
  }
  return message;
}

std::optional<packed_message> send_window::drop_oldest(std::uint64_t receiver) {
  auto found = receivers_.find(receiver);
  if (found == receivers_.end() || !found->second.waits()) {
    if (turns_.empty())
      return std::nullopt;
    auto most = std::ranges::max_element(turns_, {}, [this](auto number) {
      const auto& state = receivers_.at(number);
      return state.queued + (state.handles ? state.handles->queued : 0);
    });
    found = receivers_.find(*most);
  }
  auto& state = found->second;
  for (auto* from : {&state.normal, &state.urgent}) { // Urgent ones last.
    auto oldest = std::ranges::find_if(*from, &packed_message::may_be_dropped);
    if (oldest == from->end())
      continue;
    auto message = take(state, *from, oldest);
    if (!state.waits()) {
      turns_.remove(found->first);
      drop_if_idle(found);
    }
    return message;
  }
  return std::nullopt;
}

bool send_window::credit(std::uint64_t receiver, std::uint64_t bytes, std::uint64_t handle_bytes) {
  auto found = receivers_.find(receiver);
  if (found == receivers_.end() || bytes > found->second.outstanding
      || handle_bytes > handle_bytes_of(found->second))
    return false;
  found->second.outstanding -= bytes;
  outstanding_ -= bytes;
  if (handle_bytes > 0)
    outstanding_handles_ -= found->second.handles->sent.consume(handle_bytes);
  drop_if_idle(found);
  return true;
}

std::optional<packed_message> send_window::next() {
  for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
    auto receiver = *turn;
    auto& state = receivers_.at(receiver);
    auto& front = state.front().front();
    if (!may_leave(state, (front.flags & message_flags::request) != 0, behind(front)))
      continue;
    auto message = take(state, state.front(), state.front().begin());
    state.outstanding += message.cost;
    outstanding_ += message.cost;
    if (charge_handles(state, behind(message)))
      message.flags |= message_flags::repeated;
    turns_.erase(turn);
    if (state.waits())
      turns_.push_back(receiver);
    return message;
  }
  return std::nullopt;
}

// -- replies

std::uint64_t send_window::reserve_reply(std::uint64_t receiver) {
  auto& state = state_of(receiver);
  auto reserved = std::max(state.reply_estimate, reply_estimate_min);
  state.reserved_replies += reserved;
  reserved_replies_ += reserved;
  return reserved;
}

void send_window::unreserve_reply(std::uint64_t receiver, std::uint64_t reserved) {
  reserved_replies_ -= reserved;
  auto found = receivers_.find(receiver);
  if (found == receivers_.end() || reserved == 0)
    return;
  found->second.reserved_replies -= reserved;
  drop_if_idle(found);
}

void send_window::expect_replies_of(std::uint64_t receiver, std::uint64_t cost) {
  auto found = receivers_.find(receiver);
  if (found == receivers_.end())
    return;
  auto& estimate = found->second.reply_estimate;
  estimate = std::max(cost, estimate - estimate / 8);
}

// -- looking

bool send_window::is_ready(std::uint64_t receiver) const {
  return queued_bytes(receiver) <= bounds_.actor_queue / 2 && queued_ <= bounds_.queue / 2
         && queued_handle_bytes(receiver) <= bounds_.actor_handle_queue / 2
         && queued_handles_ <= bounds_.handle_queue / 2 && has_room_for_reply(receiver);
}

std::uint64_t send_window::outstanding_bytes(std::uint64_t receiver) const {
  const auto* found = find(receiver);
  return found == nullptr ? 0 : found->outstanding;
}

std::uint64_t send_window::queued_bytes(std::uint64_t receiver) const {
  const auto* found = find(receiver);
  return found == nullptr ? 0 : found->queued;
}

std::uint64_t send_window::outstanding_handle_bytes(std::uint64_t receiver) const {
  const auto* found = find(receiver);
  return found == nullptr ? 0 : handle_bytes_of(*found);
}

std::uint64_t send_window::queued_handle_bytes(std::uint64_t receiver) const {
  const auto* found = find(receiver);
  return found == nullptr || !found->handles ? 0 : found->handles->queued;
}

void send_window::forget(std::uint64_t receiver) {
  auto found = receivers_.find(receiver);
  if (found == receivers_.end())
    return;
  found->second.forgotten = true;
  drop_if_idle(found);
}

void send_window::drop_if_idle(receiver_map::iterator at) {
  const auto& state = at->second;
  if (!state.forgotten || state.outstanding > 0 || handle_bytes_of(state) > 0 || state.reserved_replies > 0
      || state.waits())
    return;
  last_ = nullptr;
  receivers_.erase(at);
}

std::vector<packed_message> send_window::take_all() {
  std::vector<packed_message> all;
  for (auto& [number, state] : receivers_) {
    std::ranges::move(state.urgent, std::back_inserter(all));
    std::ranges::move(state.normal, std::back_inserter(all));
  }
  last_ = nullptr;
  receivers_.clear();
  objects_.clear();
  waiting_objects_.clear();
  turns_.clear();
  outstanding_ = queued_ = outstanding_handles_ = queued_handles_ = reserved_replies_ = unconsumed_replies_ = 0;
  return all;
}

// -- bulk

void bulk_lanes::add(packed_message message) {
  auto which = key_of(message.receiver, message.sender, message.flags);
  auto [found, is_new] = lanes_.try_emplace(which);
  if (is_new)
    turns_.push_back(which);
  bytes_ += bytes_of(message) + message.body.size();
  found->second.messages.push_back(std::move(message));
}

bulk_lanes::step bulk_lanes::next() {
  assert(!turns_.empty());
  // A lane whose next message finds no room at the peer waits until one that has begun is complete.
  auto may_go_on = [this](const key& which) {
    const auto& from = lanes_.at(which);
    return open_bytes_ == 0 || from.has_begun()
           || open_bytes_ + bytes_of(from.messages.front()) <= std::max(open_bytes_, open_bytes_max_);
  };
  turns_.splice(turns_.begin(), turns_, std::ranges::find_if(turns_, may_go_on));
  auto which = turns_.front();
  auto found = lanes_.find(which);
  auto& from = found->second;
  auto& message = from.messages.front();
  if (!from.has_begun())
    open_bytes_ += bytes_of(message);
  if (from.transfer < message.transfers.size()) {
    auto& [number, whole] = message.transfers[from.transfer];
    step result{.chunk = chunk_head{number, whole.size_bytes()}, .first = from.offset == 0};
    result.bytes = whole.slice(from.offset, chunk_bytes_max);
    from.offset += result.bytes.size_bytes();
    bytes_ -= result.bytes.size_bytes();
    if (from.offset >= whole.size_bytes()) {
      ++from.transfer;
      from.offset = 0;
    }
    turns_.splice(turns_.end(), turns_, turns_.begin());
    return result;
  }
  open_bytes_ -= bytes_of(message);
  bytes_ -= message.body.size();
  step result{.message = std::move(message)};
  from.messages.pop_front();
  from.transfer = 0;
  if (from.messages.empty()) {
    lanes_.erase(found);
    turns_.pop_front();
  }
  return result;
}

std::uint64_t bulk_lanes::bytes_of(const packed_message& message) {
  std::uint64_t total = 0;
  for (const auto& [number, whole] : message.transfers)
    total += whole.size_bytes();
  return total;
}

std::vector<packed_message> bulk_lanes::take_all() {
  bytes_ = open_bytes_ = 0;
  std::vector<packed_message> all;
  for (auto& [which, from] : lanes_)
    std::ranges::move(from.messages, std::back_inserter(all));
  lanes_.clear();
  turns_.clear();
  return all;
}

} // namespace troupe::internal
