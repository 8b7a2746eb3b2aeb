// Which message may leave now: the sending half of back-pressure. Pure: no sockets, no threads, no actors; the link
// that owns it guards it with its own lock, and drops the messages it gives back outside of it.
#pragma once

#include <any>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <caf/actor_control_block.hpp>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/framework/internal/flow/handle_account.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/store/handle.hpp>

namespace troupe::internal {

class exchanged_object;

/// An object that a message mentions: by a handle that is counted when the message leaves, in flight in the store that
/// both ends share since it was encoded, or as one that was lost before.
struct outgoing_mention {
  std::shared_ptr<exchanged_object> counted; // Null for the others.
  store::object_id stored;
  std::uint64_t size_bytes = 0;
  bool is_lost = false;
  store::object_id which = {};    // Nothing for one that is lost.
  bool is_repeated = false; // For its receiver it counts already; said when the message leaves.
};

/// A frame that lies in the store of both ends.
struct stored_frame {
  store::object_id which; // Of its object.
  std::uint64_t bytes = 0;
};

/// What lies behind the handles of a message.
struct behind_handles {
  std::span<const stored_frame> frames = {};
  std::span<outgoing_mention> objects = {};
};

/// The most that one message counts for the bytes behind its handles, so that sums do not overflow. Part of the
/// protocol.
inline constexpr std::uint64_t handle_cost_max = std::uint64_t{1} << 62;
[[nodiscard]] inline std::uint64_t handle_cost(std::uint64_t so_far, std::uint64_t more) {
  return more >= handle_cost_max - so_far ? handle_cost_max : so_far + more;
}

/// What a message takes beside its bytes, on either side. Part of the protocol.
inline constexpr std::uint64_t message_cost_bytes = 128;

/// A frame that goes ahead of its message in chunks.
struct outgoing_transfer {
  std::uint64_t number = 0;
  frame bytes;
};

/// One encoded message that could not be written at once, with what it has counted.
struct packed_message {
  std::uint64_t receiver = 0;
  std::uint64_t sender = 0;
  std::uint8_t flags = 0;                 // message_flags
  std::uint64_t cost = 0;                 // Charged against the window; zero for what is never held back.
  byte_vector body;                       // Head and elements.
  std::any value = {};                    // Goes beside the bytes, instead of elements; else empty.
  std::vector<outgoing_transfer> transfers = {};
  std::vector<outgoing_mention> mentions = {};
  // The receiver, and the peer's actors that the message mentions: released to the peer after the message only.
  std::vector<caf::strong_actor_ptr> proxies = {};
  // What is taken back when it is dropped.
  std::vector<store::handle> objects = {};
  std::vector<std::uint64_t> actors = {};
  question_key question = {};
  caf::strong_actor_ptr settles = {}; // An asker whose request the message forwards: answered elsewhere once it leaves.
  std::vector<stored_frame> frames = {}; // Charged against the window for handles, with the objects in `mentions`.
  std::uint64_t handle_bytes = 0;        // What those count more for the receiver while it waits; `wait` says it.
  std::uint64_t link_handle_bytes = 0;   // The same for the link.
  bool may_be_dropped = true;         // To make room for newer ones.
  receipt owed = {};                  // To the link that it came over, where this node passes it on.
  std::uint64_t peer_epoch = 0;       // By whose lists it was encoded, see negotiation.
};

/// Limits on what is on its way, in bytes. A limit may be exceeded by the one message that reaches it.
struct send_bounds {
  std::uint64_t window = 0;        // Sent and not consumed, all receivers together; the peer says it.
  std::uint64_t actor_window = 0;  // The same for one receiver; the peer says it.
  std::uint64_t queue = 0;         // Waiting here for the peer, all receivers together.
  std::uint64_t actor_queue = 0;   // The same for one receiver.
  std::uint64_t replies = 0;       // Expected answers, and answers received and not consumed.
  std::uint64_t actor_replies = 0; // Expected answers of one receiver.
  // The first four again for the bytes behind handles.
  std::uint64_t handle_window = UINT64_MAX;
  std::uint64_t actor_handle_window = UINT64_MAX;
  std::uint64_t handle_queue = UINT64_MAX;
  std::uint64_t actor_handle_queue = UINT64_MAX;
};

/// Messages to one receiver leave in the order in which they came, urgent ones first; a receiver that consumes nothing
/// holds up its own messages only.
///
/// Invariants:
/// 1. What is outstanding grows by a message's cost when it leaves, and shrinks by what the peer says it has consumed.
/// 2. Nothing that waits for a receiver could leave.
class send_window {
public:
  enum class admission : std::uint8_t { leaves, waits, at_bound };

  void set_bounds(const send_bounds& bounds) { bounds_ = bounds; }
  [[nodiscard]] const send_bounds& bounds() const noexcept { return bounds_; }

  /// What becomes of a message that costs `cost`: it leaves now (then `charge` must follow), waits (then `wait`), or
  /// there is no more room to wait in. A request also needs room for its reply. What has no handles, or only those of
  /// objects that count for its receiver already, never waits for those of others, only behind messages to the same
  /// receiver.
  [[nodiscard]] admission admit(std::uint64_t receiver, std::uint64_t cost, bool request,
                                const behind_handles& behind = {}) const;
  /// Says of each object whether it counted already. Whether all frames did: then they cost nothing.
  bool charge(std::uint64_t receiver, std::uint64_t cost, const behind_handles& behind = {});
  void wait(packed_message message);

  /// Takes out the oldest message that waits for `receiver` and may be dropped, or where nothing waits for it, for whom
  /// most waits.
  [[nodiscard]] std::optional<packed_message> drop_oldest(std::uint64_t receiver);

  /// The peer has consumed. False when it says more than was outstanding.
  [[nodiscard]] bool credit(std::uint64_t receiver, std::uint64_t bytes, std::uint64_t handle_bytes = 0);

  /// The next message that may leave, already charged. Receivers take turns.
  [[nodiscard]] std::optional<packed_message> next();

  // -- replies

  /// Room kept for the answer to a request that leaves now, until `unreserve_reply`. Requests that wait keep none.
  [[nodiscard]] std::uint64_t reserve_reply(std::uint64_t receiver);
  void unreserve_reply(std::uint64_t receiver, std::uint64_t reserved);
  /// An answer of this cost has come; later answers of that receiver are expected to be about as large.
  void expect_replies_of(std::uint64_t receiver, std::uint64_t cost);
  /// Answers received and not consumed.
  void add_unconsumed_reply(std::uint64_t cost) { unconsumed_replies_ += cost; }
  void consume_reply(std::uint64_t cost) { unconsumed_replies_ -= cost; }
  /// One answer is always expected, however much is not consumed: else nothing would ever move again.
  [[nodiscard]] bool has_room_for_reply(std::uint64_t receiver) const;
  [[nodiscard]] std::uint64_t reply_bytes() const noexcept { return reserved_replies_ + unconsumed_replies_; }

  // -- looking

  /// Whether at least half of the receiver's room to wait in is free, and room for a reply.
  [[nodiscard]] bool is_ready(std::uint64_t receiver) const;
  [[nodiscard]] bool anything_waits() const noexcept { return queued_ > 0 || !turns_.empty(); }
  [[nodiscard]] std::uint64_t outstanding_bytes() const noexcept { return outstanding_; }
  [[nodiscard]] std::uint64_t outstanding_bytes(std::uint64_t receiver) const;
  [[nodiscard]] std::uint64_t queued_bytes() const noexcept { return queued_; }
  [[nodiscard]] std::uint64_t queued_bytes(std::uint64_t receiver) const;
  /// The same of the bytes behind handles.
  [[nodiscard]] std::uint64_t outstanding_handle_bytes() const noexcept { return outstanding_handles_; }
  [[nodiscard]] std::uint64_t outstanding_handle_bytes(std::uint64_t receiver) const;
  [[nodiscard]] std::uint64_t queued_handle_bytes() const noexcept { return queued_handles_; }
  [[nodiscard]] std::uint64_t queued_handle_bytes(std::uint64_t receiver) const;
  [[nodiscard]] std::size_t receivers() const noexcept { return receivers_.size(); }

  /// Nobody here refers to the receiver any more: forgotten once nothing is on its way to it.
  void forget(std::uint64_t receiver);

  /// Everything that waits, at the link's end.
  [[nodiscard]] std::vector<packed_message> take_all();

  template <class Look>
  void each_waiting(Look look) const {
    for (const auto& [number, state] : receivers_)
      for (const auto* queue : {&state.urgent, &state.normal})
        for (const auto& each : *queue)
          look(each);
  }

private:
  using waiting_objects = std::unordered_map<store::object_id, std::size_t>; // In how many messages.
  struct handle_state {
    handle_account sent;
    std::uint64_t queued = 0;
    waiting_objects waiting = {};
  };
  struct receiver_state {
    std::uint64_t outstanding = 0;
    std::uint64_t queued = 0;
    std::unique_ptr<handle_state> handles = {}; // Null: nothing has lain behind handles to it.
    std::uint64_t reply_estimate = 0;
    std::uint64_t reserved_replies = 0;
    std::deque<packed_message> urgent = {};
    std::deque<packed_message> normal = {};
    bool forgotten = false;
    [[nodiscard]] std::deque<packed_message>& front() { return urgent.empty() ? normal : urgent; }
    [[nodiscard]] bool waits() const noexcept { return !urgent.empty() || !normal.empty(); }
  };
  using receiver_map = std::unordered_map<std::uint64_t, receiver_state, detail::salted_hash>;

  [[nodiscard]] const receiver_state* find(std::uint64_t receiver) const;
  [[nodiscard]] receiver_state& state_of(std::uint64_t receiver);
  [[nodiscard]] bool counts_handles() const noexcept { return bounds_.handle_window != UINT64_MAX; }
  [[nodiscard]] bool may_leave(const receiver_state& state, bool request, const behind_handles& behind) const;
  struct waiting_cost {
    std::uint64_t of_receiver = 0;
    std::uint64_t of_link = 0;
  };
  [[nodiscard]] waiting_cost cost_of_waiting(const receiver_state& state, const behind_handles& behind) const;
  bool charge_handles(receiver_state& state, const behind_handles& behind);
  [[nodiscard]] handle_state& handles_of(receiver_state& state);
  [[nodiscard]] static behind_handles behind(packed_message& message);
  [[nodiscard]] static std::uint64_t handle_bytes_of(const receiver_state& state);
  [[nodiscard]] bool has_room_for_reply(const receiver_state& state) const;
  packed_message take(receiver_state& state, std::deque<packed_message>& from, std::deque<packed_message>::iterator at);
  void drop_if_idle(receiver_map::iterator at);

  send_bounds bounds_;
  std::uint64_t outstanding_ = 0;
  std::uint64_t queued_ = 0;
  std::uint64_t outstanding_handles_ = 0;
  std::uint64_t queued_handles_ = 0;
  std::uint64_t reserved_replies_ = 0;
  std::uint64_t unconsumed_replies_ = 0;
  shared_objects objects_;
  waiting_objects waiting_objects_;
  receiver_map receivers_;
  // The last to be sent to: most messages are for the same receiver as the one before. Null: none.
  receiver_state* last_ = nullptr;
  std::uint64_t last_receiver_ = 0;
  std::list<std::uint64_t> turns_; // Receivers for whom something waits.
};

/// Messages with frames too large for one packet, on their way in chunks: messages of another pair of actors overtake
/// them, those of the same pair and priority wait behind them.
class bulk_lanes {
public:
  /// Sender, receiver and priority, within which order is kept.
  struct key {
    std::uint64_t receiver = 0;
    std::uint64_t sender = 0;
    std::uint8_t kind = 0;
    bool operator==(const key&) const = default;
  };

  [[nodiscard]] static key key_of(std::uint64_t receiver, std::uint64_t sender, std::uint8_t flags) noexcept {
    // Answers are never held back by data, so that they have lanes of their own.
    return {receiver, sender, static_cast<std::uint8_t>(flags & (message_flags::urgent | message_flags::response))};
  }

  [[nodiscard]] bool empty() const noexcept { return lanes_.empty(); }
  /// What has not left, frames and messages.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Whether a message of this key must wait behind others.
  [[nodiscard]] bool has(const key& which) const { return !lanes_.empty() && lanes_.contains(which); }

  /// So many bytes of messages that have begun and are not complete the peer takes; one message it always takes.
  void set_open_bytes_max(std::uint64_t bytes) { open_bytes_max_ = bytes; }

  /// For a message that has transfers, or has to wait behind such a one.
  void add(packed_message message);

  struct step {
    // Either a chunk ...
    std::optional<chunk_head> chunk = std::nullopt;
    bool first = false;
    frame bytes = {};
    // ... or a message whose frames have all left.
    std::optional<packed_message> message = std::nullopt;
  };

  /// The next chunk or message; lanes take turns chunk by chunk. Requires: not empty.
  [[nodiscard]] step next();

  [[nodiscard]] std::vector<packed_message> take_all();

  /// What has not left whole.
  template <class Look>
  void each(Look look) const {
    for (const auto& [of, from] : lanes_)
      for (const auto& each : from.messages)
        look(each);
  }

private:
  struct lane {
    std::deque<packed_message> messages = {};
    std::size_t transfer = 0; // Of the first message.
    std::size_t offset = 0;   // In that transfer.
    [[nodiscard]] bool has_begun() const noexcept { return transfer > 0 || offset > 0; }
  };
  struct key_hash {
    std::size_t operator()(const key& k) const { // The peer numbers its receivers.
      constexpr detail::salted_hash hash;
      return hash(hash(k.receiver) ^ k.sender) ^ static_cast<std::size_t>(k.kind);
    }
  };

  /// What a message's transfers take at the peer until it is complete.
  [[nodiscard]] static std::uint64_t bytes_of(const packed_message& message);

  std::unordered_map<key, lane, key_hash> lanes_;
  std::list<key> turns_;
  std::uint64_t bytes_ = 0;
  std::uint64_t open_bytes_ = 0; // Of messages that have begun.
  std::uint64_t open_bytes_max_ = UINT64_MAX;
};

} // namespace troupe::internal
