// Messages that are being sent in chunks.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <deque>
#include <iterator>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

/// A frame that travels ahead of its message in chunks.
struct outgoing_transfer {
  std::uint64_t number = 0;
  frame bytes;
};

/// Sender, receiver and priority. Messages with the same key keep their order.
struct bulk_key {
  std::uint64_t receiver = 0;
  std::uint64_t sender = 0;
  std::uint8_t kind = 0;
  bool operator==(const bulk_key&) const = default;

  [[nodiscard]] static bulk_key of(std::uint64_t receiver, std::uint64_t sender, std::uint8_t flags) noexcept {
    // Data must never delay answers, so answers have lanes of their own.
    return {receiver, sender, static_cast<std::uint8_t>(flags & (message_flags::urgent | message_flags::response))};
  }
};

/// Messages with frames too large for one packet, which leave in chunks. Messages of other pairs of actors overtake
/// them. Messages of the same pair and priority wait behind them. They wait here because whole messages in the outbox
/// would delay all others.
///
/// `Message` has receiver, sender, flags, body, transfers.
template <class Message>
class bulk_lanes {
public:
  [[nodiscard]] bool empty() const noexcept { return lanes_.empty(); }
  /// The bytes of frames and messages that have not left.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Whether a message with this key has to wait behind others.
  [[nodiscard]] bool has(const bulk_key& which) const { return !lanes_.empty() && lanes_.contains(which); }

  /// Sets how many bytes of begun, incomplete messages the peer accepts; it always accepts one message.
  void set_open_bytes_max(std::uint64_t bytes) { open_bytes_max_ = bytes; }

  /// Adds a message that has transfers, or that has to wait behind one.
  void add(Message message);

  struct step {
    // Either a chunk ...
    std::optional<chunk_head> chunk = std::nullopt;
    bool first = false;
    frame bytes = {};
    // ... or a message whose frames have all left.
    std::optional<Message> message = std::nullopt;
  };

  /// Returns the next chunk or message. Lanes take turns chunk by chunk. Requires: not empty.
  [[nodiscard]] step next();

  [[nodiscard]] std::vector<Message> take_all();

  /// Visits the messages that have not left completely.
  template <class Look>
  void each(Look look) const {
    for (const auto& [of, from] : lanes_)
      for (const auto& each : from.messages)
        look(each);
  }

private:
  struct lane {
    std::deque<Message> messages = {};
    std::size_t transfer = 0; // The index of the current one, in the first message.
    std::size_t offset = 0;   // In that transfer.
    [[nodiscard]] bool has_begun() const noexcept { return transfer > 0 || offset > 0; }
  };
  struct key_hash {
    std::size_t operator()(const bulk_key& k) const { // Salted, because the peer chooses its receivers' numbers.
      constexpr detail::salted_hash hash;
      return hash(hash(k.receiver) ^ k.sender) ^ static_cast<std::size_t>(k.kind);
    }
  };

  /// The memory that a message's transfers take at the peer until it is complete.
  [[nodiscard]] static std::uint64_t bytes_of(const Message& message);

  std::unordered_map<bulk_key, lane, key_hash> lanes_;
  std::list<bulk_key> turns_;
  std::uint64_t bytes_ = 0;
  std::uint64_t open_bytes_ = 0; // Of messages that have begun.
  std::uint64_t open_bytes_max_ = UINT64_MAX;
};

template <class Message>
void bulk_lanes<Message>::add(Message message) {
  const auto which = bulk_key::of(message.receiver, message.sender, message.flags);
  auto [found, is_new] = lanes_.try_emplace(which);
  if (is_new)
    turns_.push_back(which);
  bytes_ += bytes_of(message) + message.body.size();
  found->second.messages.push_back(std::move(message));
}

template <class Message>
typename bulk_lanes<Message>::step bulk_lanes<Message>::next() {
  assert(!turns_.empty());
  // A lane whose next message has no room at the peer waits until a message that has begun is complete.
  auto may_go_on = [this](const bulk_key& which) {
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

template <class Message>
std::uint64_t bulk_lanes<Message>::bytes_of(const Message& message) {
  std::uint64_t total = 0;
  for (const auto& [number, whole] : message.transfers)
    total += whole.size_bytes();
  return total;
}

template <class Message>
std::vector<Message> bulk_lanes<Message>::take_all() {
  bytes_ = open_bytes_ = 0;
  std::vector<Message> all;
  for (auto& [which, from] : lanes_)
    std::ranges::move(from.messages, std::back_inserter(all));
  lanes_.clear();
  turns_.clear();
  return all;
}

} // namespace troupe::internal
