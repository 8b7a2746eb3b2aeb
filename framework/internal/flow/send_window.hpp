// Decides which message may leave. This is the sending half of back-pressure. Pure: no sockets, no threads, no actors.
// The lock of the link that owns it guards it, and the link destroys returned messages outside of the lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/framework/internal/flow/handle_account.hpp>
#include <troupe/framework/internal/flow/reply_room.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Limits on bytes in flight. One message may exceed a limit that is not reached.
struct send_bounds {
  std::uint64_t window = 0;       // Sent and not consumed, all receivers together; set by the peer.
  std::uint64_t actor_window = 0; // Sent and not consumed, for one receiver; set by the peer.
  std::uint64_t queue = 0;        // Waiting here for the peer, all receivers together.
  std::uint64_t actor_queue = 0;  // Waiting here for the peer, for one receiver.
  // The same four limits for the bytes behind handles.
  std::uint64_t handle_window = UINT64_MAX;
  std::uint64_t actor_handle_window = UINT64_MAX;
  std::uint64_t handle_queue = UINT64_MAX;
  std::uint64_t actor_handle_queue = UINT64_MAX;
  std::uint64_t waiting_least = 0; // The least cost of a waiting message: the memory that it takes here.
};

/// The result of admitting a message.
enum class admission : std::uint8_t { leaves, waits, at_bound };

/// What a message needs at the sending end, besides credit.
enum class asking : std::uint8_t {
  nothing,
  room,    ///< A request: room for its answer, which crosses this link.
  returned ///< Sent by an actor of the peer's, and passed back by this end. Its answer does not cross this link.
};

/// Messages to one receiver leave in order, urgent ones first. A receiver that consumes nothing delays only its own
/// messages.
///
/// Messages that are passed back never wait behind requests that lack room for their answers. Otherwise both ends could
/// wait for ever, because the answers for which one end keeps room may depend on requests that the other end passes
/// back. The order is kept nevertheless, because a passed-back message and another one have different senders.
///
/// Invariants:
/// 1. The outstanding bytes grow by a message's cost when it leaves, and shrink by what the peer reports as consumed.
/// 2. No message that waits for a receiver could leave.
///
/// Messages wait here because the peer has not consumed enough, or because too many answers are due.
/// `Message` has receiver, flags, cost, asks, frames, mentions and may_be_dropped.
template <class Message>
class send_window {
public:
  explicit send_window(const reply_room& replies) : replies_(replies) {}

  void set_bounds(const send_bounds& bounds) { bounds_ = bounds; }
  [[nodiscard]] const send_bounds& bounds() const noexcept { return bounds_; }

  /// Decides on a message of this cost. It leaves now (then call `charge`), waits (then call `wait`), or finds no room
  /// to wait. A message without handles, or whose objects already count for its receiver, never waits for the bytes
  /// behind other handles. It waits only behind messages to the same receiver.
  [[nodiscard]] admission admit(std::uint64_t receiver, std::uint64_t cost, asking asks,
                                const behind_handles& behind = {}) const;
  /// Whether a message was sent to the receiver, or waits for it.
  [[nodiscard]] bool is_known(std::uint64_t receiver) const { return find(receiver) != nullptr; }
  /// Charges a message that leaves. Sets `is_repeated` of each object. Returns true if all its frames already counted,
  /// so that they cost nothing.
  bool charge(std::uint64_t receiver, std::uint64_t cost, const behind_handles& behind = {});
  void wait(Message message);

  /// Removes the oldest waiting message for `receiver` that may be dropped. If none waits for it, removes one of the
  /// receiver for which the most waits.
  [[nodiscard]] std::optional<Message> drop_oldest(std::uint64_t receiver);

  /// The peer has consumed. Returns false if it reports more than was outstanding.
  [[nodiscard]] bool credit(std::uint64_t receiver, std::uint64_t bytes, std::uint64_t handle_bytes = 0);

  /// Returns the next message that may leave, already charged. Receivers take turns.
  [[nodiscard]] std::optional<Message> next();

  // -- looking

  /// Whether at least half of the receiver's waiting room is free, and there is room for an answer.
  [[nodiscard]] bool is_ready(std::uint64_t receiver) const;
  /// Whether a request waits only for room for its answer, or will do so next.
  [[nodiscard]] bool anything_lacks_room() const;
  [[nodiscard]] bool anything_waits() const noexcept { return queued_ > 0 || !turns_.empty(); }
  [[nodiscard]] std::uint64_t outstanding_bytes() const noexcept { return outstanding_; }
  [[nodiscard]] std::uint64_t outstanding_bytes(std::uint64_t receiver) const;
  [[nodiscard]] std::uint64_t queued_bytes() const noexcept { return queued_; }
  [[nodiscard]] std::uint64_t queued_bytes(std::uint64_t receiver) const;
  /// The same for the bytes behind handles.
  [[nodiscard]] std::uint64_t outstanding_handle_bytes() const noexcept { return outstanding_handles_; }
  [[nodiscard]] std::uint64_t outstanding_handle_bytes(std::uint64_t receiver) const;
  [[nodiscard]] std::uint64_t queued_handle_bytes() const noexcept { return queued_handles_; }
  [[nodiscard]] std::uint64_t queued_handle_bytes(std::uint64_t receiver) const;
  [[nodiscard]] std::size_t receivers() const noexcept { return receivers_.size(); }

  /// Nothing here refers to the receiver any more. It is forgotten once nothing is outstanding or waiting for it.
  void forget(std::uint64_t receiver);

  /// Removes all waiting messages, at the link's end.
  [[nodiscard]] std::vector<Message> take_all();

  template <class Look>
  void each_waiting(Look look) const {
    for (const auto& [number, state] : receivers_)
      if (state.waiting)
        for (const auto& of_lane : *state.waiting)
          for (const auto& each : of_lane)
            look(each.message);
  }

private:
  struct waiting_cost {
    std::uint64_t of_receiver = 0;
    std::uint64_t of_link = 0;
  };
  struct waiting_message {
    Message message;
    std::uint64_t place = 0;   // Increases from message to message.
    waiting_cost counted = {}; // Of the bytes behind its handles.
  };
  // An empty list allocates nothing: a peer can have many receivers, each with few messages in flight.
  using lane = std::list<waiting_message>;
  /// Each lane is in order: urgent, urgent and passed back, other, other and passed back.
  using lanes = std::array<lane, 4>;

  struct handle_state {
    handle_account sent;
    std::uint64_t queued = 0;
    waiting_objects waiting = {};
  };
  struct receiver_state {
    std::uint64_t outstanding = 0;
    std::uint64_t queued = 0;
    std::unique_ptr<handle_state> handles = {}; // Null: no bytes have been behind handles to it.
    std::unique_ptr<lanes> waiting = {};        // Null: no message waits.
    bool forgotten = false;
    [[nodiscard]] bool waits() const noexcept { return waiting != nullptr; }
  };
  using receiver_map = std::unordered_map<std::uint64_t, receiver_state, detail::salted_hash>;

  /// Whether one more message finds room to wait. If half of the room is free, a message of any size does. So a
  /// positive `is_ready` holds, and a few small messages do not keep out a large one.
  [[nodiscard]] static bool has_room(std::uint64_t queued, std::uint64_t cost, std::uint64_t bound) noexcept {
    return queued + cost <= bound || queued <= bound / 2;
  }
  /// The cost of a message while it waits.
  [[nodiscard]] std::uint64_t waiting_bytes(std::uint64_t cost) const noexcept {
    return std::max(cost, bounds_.waiting_least);
  }
  [[nodiscard]] const receiver_state* find(std::uint64_t receiver) const;
  [[nodiscard]] receiver_state& state_of(std::uint64_t receiver);
  [[nodiscard]] bool counts_handles() const noexcept { return bounds_.handle_window != UINT64_MAX; }
  [[nodiscard]] bool may_leave(std::uint64_t receiver, const receiver_state& state, asking asks,
                               const behind_handles& behind) const;
  [[nodiscard]] bool has_room_for_answer(std::uint64_t receiver, asking asks) const {
    return asks != asking::room || replies_.has_room(receiver);
  }
  [[nodiscard]] static std::size_t lane_of(const Message& message) noexcept;
  [[nodiscard]] lane* next_lane(std::uint64_t receiver, const receiver_state& state) const;
  [[nodiscard]] waiting_cost cost_of_waiting(const receiver_state& state, const behind_handles& behind) const;
  bool charge_handles(receiver_state& state, const behind_handles& behind);
  [[nodiscard]] handle_state& handles_of(receiver_state& state);
  [[nodiscard]] static behind_handles behind(Message& message);
  [[nodiscard]] static std::uint64_t handle_bytes_of(const receiver_state& state);
  Message take(receiver_state& state, lane& from, typename lane::iterator at);
  void drop_if_idle(typename receiver_map::iterator at);

  const reply_room& replies_;
  send_bounds bounds_;
  std::uint64_t outstanding_ = 0;
  std::uint64_t queued_ = 0;
  std::uint64_t outstanding_handles_ = 0;
  std::uint64_t queued_handles_ = 0;
  shared_objects objects_;
  waiting_objects waiting_objects_;
  receiver_map receivers_;
  // The latest receiver: most messages go to the same one. Null: none.
  receiver_state* last_ = nullptr;
  std::uint64_t last_receiver_ = 0;
  std::list<std::uint64_t> turns_; // Receivers with waiting messages.
  std::uint64_t last_place_ = 0;
};

template <class Message>
behind_handles send_window<Message>::behind(Message& message) {
  return {.frames = message.frames, .objects = message.mentions};
}

/// The bytes sent to the receiver and not consumed.
template <class Message>
std::uint64_t send_window<Message>::handle_bytes_of(const receiver_state& state) {
  return state.handles ? state.handles->sent.bytes() : 0;
}

/// Returns null for an unknown receiver.
template <class Message>
const typename send_window<Message>::receiver_state* send_window<Message>::find(std::uint64_t receiver) const {
  if (last_ != nullptr && last_receiver_ == receiver)
    return last_;
  auto found = receivers_.find(receiver);
  return found == receivers_.end() ? nullptr : &found->second;
}

template <class Message>
typename send_window<Message>::receiver_state& send_window<Message>::state_of(std::uint64_t receiver) {
  if (last_ == nullptr || last_receiver_ != receiver) {
    last_ = &receivers_[receiver]; // The map keeps it in place.
    last_receiver_ = receiver;
  }
  return *last_;
}

template <class Message>
bool send_window<Message>::may_leave(std::uint64_t receiver, const receiver_state& state, asking asks,
                                     const behind_handles& behind) const {
  if (counts_handles()) {
    bool of_receiver = false, of_link = false; // Whether the count would grow.
    behind.each([&](const store::object_id& which, std::uint64_t bytes) {
      of_receiver = of_receiver || (bytes > 0 && !(state.handles && state.handles->sent.has(which, bytes)));
      of_link = of_link || (bytes > 0 && !objects_.has(which, bytes));
    });
    if ((of_receiver && handle_bytes_of(state) >= bounds_.actor_handle_window)
        || (of_link && outstanding_handles_ >= bounds_.handle_window))
      return false;
  }
  return state.outstanding < bounds_.actor_window && outstanding_ < bounds_.window
         && has_room_for_answer(receiver, asks);
}

template <class Message>
std::size_t send_window<Message>::lane_of(const Message& message) noexcept {
  return ((message.flags & message_flags::urgent) != 0 ? 0U : 2U) + (message.asks == asking::returned ? 1U : 0U);
}

/// Returns the lane whose first message leaves next, once there is credit. Null if all waiting messages lack room for
/// answers.
template <class Message>
typename send_window<Message>::lane* send_window<Message>::next_lane(std::uint64_t receiver,
                                                                     const receiver_state& state) const {
  for (std::size_t i = 0; i < state.waiting->size(); i += 2) {
    auto& own = (*state.waiting)[i];
    auto& passed_back = (*state.waiting)[i + 1];
    const auto own_may = !own.empty() && has_room_for_answer(receiver, own.front().message.asks);
    if (own_may && (passed_back.empty() || own.front().place < passed_back.front().place))
      return &own;
    if (!passed_back.empty())
      return &passed_back;
  }
  return nullptr;
}

template <class Message>
admission send_window<Message>::admit(std::uint64_t receiver, std::uint64_t cost, asking asks,
                                      const behind_handles& behind) const {
  static const receiver_state fresh;
  const auto* found = find(receiver);
  const auto& state = found == nullptr ? fresh : *found;
  const auto is_next = !state.waits() || (asks == asking::returned && next_lane(receiver, state) == nullptr);
  if (is_next && may_leave(receiver, state, asks, behind))
    return admission::leaves;
  const auto bytes = waiting_bytes(cost);
  bool fits = has_room(state.queued, bytes, bounds_.actor_queue) && has_room(queued_, bytes, bounds_.queue);
  const auto more = cost_of_waiting(state, behind);
  if (more.of_receiver > 0)
    fits = fits && has_room(state.handles ? state.handles->queued : 0, more.of_receiver, bounds_.actor_handle_queue);
  if (more.of_link > 0)
    fits = fits && has_room(queued_handles_, more.of_link, bounds_.handle_queue);
  return fits ? admission::waits : admission::at_bound;
}

/// The cost of a message's handles while it waits. Objects that already count, or are in another waiting message, cost
/// nothing.
template <class Message>
typename send_window<Message>::waiting_cost send_window<Message>::cost_of_waiting(const receiver_state& state,
                                                                                  const behind_handles& behind) const {
  waiting_cost result;
  if (!counts_handles())
    return result;
  behind.each([&](const store::object_id& which, std::uint64_t bytes) {
    if (!state.handles || (!state.handles->sent.has(which, bytes) && !state.handles->waiting.has(which)))
      result.of_receiver = handle_cost(result.of_receiver, bytes);
    if (!objects_.has(which, bytes) && !waiting_objects_.has(which))
      result.of_link = handle_cost(result.of_link, bytes);
  });
  return result;
}

/// Requires: the message leaves.
template <class Message>
bool send_window<Message>::charge_handles(receiver_state& state, const behind_handles& behind) {
  if (!counts_handles() || (behind.frames.empty() && behind.objects.empty()))
    return false;
  auto& of_receiver = handles_of(state).sent;
  std::uint64_t so_far = 0;
  const auto add = [&](const store::object_id& which, std::uint64_t bytes) {
    const auto with = handle_cost(so_far, bytes);
    outstanding_handles_ += of_receiver.add(which, with - so_far);
    so_far = with;
  };
  // The reader learns only whether all frames are repeated.
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

template <class Message>
typename send_window<Message>::handle_state& send_window<Message>::handles_of(receiver_state& state) {
  if (!state.handles)
    state.handles = std::make_unique<handle_state>(handle_account{objects_});
  return *state.handles;
}

template <class Message>
bool send_window<Message>::charge(std::uint64_t receiver, std::uint64_t cost, const behind_handles& behind) {
  auto& state = state_of(receiver);
  state.forgotten = false;
  state.outstanding += cost;
  outstanding_ += cost;
  return charge_handles(state, behind);
}

template <class Message>
void send_window<Message>::wait(Message message) {
  auto receiver = message.receiver;
  auto& state = state_of(receiver);
  state.forgotten = false;
  if (!state.waits()) {
    auto empty = std::make_unique<lanes>();
    turns_.push_back(receiver);
    state.waiting = std::move(empty);
  }
  state.queued += waiting_bytes(message.cost);
  queued_ += waiting_bytes(message.cost);
  waiting_cost cost;
  if (counts_handles() && (!message.frames.empty() || !message.mentions.empty())) {
    cost = cost_of_waiting(state, behind(message));
    auto& handles = handles_of(state);
    handles.queued += cost.of_receiver;
    queued_handles_ += cost.of_link;
    handles.waiting.add(behind(message));
    waiting_objects_.add(behind(message));
  }
  const auto which = lane_of(message);
  (*state.waiting)[which].push_back({std::move(message), ++last_place_, cost});
}

/// If nothing waits for the receiver any more, the caller removes its turn.
template <class Message>
Message send_window<Message>::take(receiver_state& state, lane& from, typename lane::iterator at) {
  waiting_message taken = std::move(*at);
  auto& message = taken.message;
  from.erase(at);
  if (std::ranges::all_of(*state.waiting, &lane::empty))
    state.waiting.reset();
  state.queued -= waiting_bytes(message.cost);
  queued_ -= waiting_bytes(message.cost);
  queued_handles_ -= taken.counted.of_link;
  if (counts_handles() && state.handles) {
    state.handles->queued -= taken.counted.of_receiver;
    state.handles->waiting.remove(behind(message));
    waiting_objects_.remove(behind(message));
  }
  return std::move(message);
}

template <class Message>
std::optional<Message> send_window<Message>::drop_oldest(std::uint64_t receiver) {
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
  for (const std::size_t which : {2U, 3U, 0U, 1U}) { // Urgent ones last; passed-back ones after the others of their
                                                     // priority.
    auto& from = (*state.waiting)[which];
    auto oldest = std::ranges::find_if(from, [](const auto& each) { return each.message.may_be_dropped; });
    if (oldest == from.end())
      continue;
    auto message = take(state, from, oldest);
    if (!state.waits()) {
      turns_.remove(found->first);
      drop_if_idle(found);
    }
    return message;
  }
  return std::nullopt;
}

template <class Message>
bool send_window<Message>::credit(std::uint64_t receiver, std::uint64_t bytes, std::uint64_t handle_bytes) {
  auto found = receivers_.find(receiver);
  if (found == receivers_.end() || bytes > found->second.outstanding || handle_bytes > handle_bytes_of(found->second))
    return false;
  found->second.outstanding -= bytes;
  outstanding_ -= bytes;
  if (handle_bytes > 0)
    outstanding_handles_ -= found->second.handles->sent.consume(handle_bytes);
  drop_if_idle(found);
  return true;
}

template <class Message>
std::optional<Message> send_window<Message>::next() {
  for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
    auto receiver = *turn;
    auto& state = receivers_.at(receiver);
    auto* const from = next_lane(receiver, state);
    if (from == nullptr || !may_leave(receiver, state, from->front().message.asks, behind(from->front().message)))
      continue;
    auto message = take(state, *from, from->begin());
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

// -- looking

template <class Message>
bool send_window<Message>::is_ready(std::uint64_t receiver) const {
  return queued_bytes(receiver) <= bounds_.actor_queue / 2 && queued_ <= bounds_.queue / 2
         && queued_handle_bytes(receiver) <= bounds_.actor_handle_queue / 2
         && queued_handles_ <= bounds_.handle_queue / 2 && replies_.has_room(receiver);
}

template <class Message>
bool send_window<Message>::anything_lacks_room() const {
  return std::ranges::any_of(turns_, [this](auto receiver) {
    return std::ranges::any_of(*receivers_.at(receiver).waiting, [&](const lane& each) {
      return !each.empty() && !has_room_for_answer(receiver, each.front().message.asks);
    });
  });
}

template <class Message>
std::uint64_t send_window<Message>::outstanding_bytes(std::uint64_t receiver) const {
  const auto* found = find(receiver);
  return found == nullptr ? 0 : found->outstanding;
}

template <class Message>
std::uint64_t send_window<Message>::queued_bytes(std::uint64_t receiver) const {
  const auto* found = find(receiver);
  return found == nullptr ? 0 : found->queued;
}

template <class Message>
std::uint64_t send_window<Message>::outstanding_handle_bytes(std::uint64_t receiver) const {
  const auto* found = find(receiver);
  return found == nullptr ? 0 : handle_bytes_of(*found);
}

template <class Message>
std::uint64_t send_window<Message>::queued_handle_bytes(std::uint64_t receiver) const {
  const auto* found = find(receiver);
  return found == nullptr || !found->handles ? 0 : found->handles->queued;
}

template <class Message>
void send_window<Message>::forget(std::uint64_t receiver) {
  auto found = receivers_.find(receiver);
  if (found == receivers_.end())
    return;
  found->second.forgotten = true;
  drop_if_idle(found);
}

template <class Message>
void send_window<Message>::drop_if_idle(typename receiver_map::iterator at) {
  const auto& state = at->second;
  if (!state.forgotten || state.outstanding > 0 || handle_bytes_of(state) > 0 || state.waits())
    return;
  last_ = nullptr;
  receivers_.erase(at);
}

template <class Message>
std::vector<Message> send_window<Message>::take_all() {
  std::vector<Message> all;
  for (auto& [number, state] : receivers_)
    if (state.waiting)
      for (auto& from : *state.waiting)
        for (auto& each : from)
          all.push_back(std::move(each.message));
  last_ = nullptr;
  receivers_.clear();
  objects_.clear();
  waiting_objects_.clear();
  turns_.clear();
  outstanding_ = queued_ = outstanding_handles_ = queued_handles_ = 0;
  return all;
}

} // namespace troupe::internal
