// One outgoing message, until it leaves.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/link/frame_placer.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/message_mentions.hpp>
#include <troupe/framework/internal/link/message_types.hpp>
#include <troupe/framework/internal/link/packed_message.hpp>
#include <troupe/framework/internal/link/send_gate.hpp>
#include <troupe/framework/internal/link/terms_cache.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

/// Why a draft has not left.
struct unsent {
  // NOLINTNEXTLINE: any error is a reason.
  unsent(node_error reason) : why(std::move(reason)) {}

  node_error why;
  bool is_of_type = false;  // Each message with a value of that type fails.
  bool is_outdated = false; // The peer has changed what it accepts meanwhile: the message must be encoded anew.
};
/// The failure of a draft that was encoded with outdated lists of the peer.
[[nodiscard]] std::unexpected<unsent> outdated(std::string_view peer);

/// Puts one message together, element by element. Gives its claims back to the link unless the message was sent.
///
/// Threads: one. Reused from message to message, so that small messages allocate nothing.
class message_draft {
public:
  /// Parts of one link; all must outlive the link's messages.
  struct parts {
    claim_tables& claims;
    message_mentions::parts mentions;
    frame_placer::parts frames;
  };

  message_draft() = default;
  message_draft(const message_draft&) = delete;
  message_draft& operator=(const message_draft&) = delete;
  ~message_draft() { clear(); }

  /// Starts a message over that link. `is_waited_for`: if the peer changes its lists meanwhile, this end acknowledges
  /// that only after the message. Otherwise the draft may become outdated. Requires: cleared.
  void begin(const parts& of, const newest_terms& terms, bool is_waited_for);
  void clear();
  [[nodiscard]] bool in_use() const noexcept { return of_ != nullptr; }

  /// The terms that encode the message.
  [[nodiscard]] const sending_terms& terms() const noexcept { return *terms_; }

  // -- its elements

  /// Begins the next element. Mentions from here on belong to it.
  element_descriptor& begin_element();
  /// Places each frame and appends the element that begin_element() has begun. `shared_body` is the body as a frame
  /// that may be kept. It is null if the buffer is reused afterwards.
  [[nodiscard]] std::expected<void, node_error> end_element(bytes_view body, const frame* shared_body,
                                                            std::span<const frame> attached);
  /// Passes the value beside the bytes instead of elements. `size_bytes` is the memory that the value takes.
  void pass_value(std::any value, std::uint64_t size_bytes);

  /// Where the codecs of handles note their mentions.
  [[nodiscard]] message_mentions& mentions() noexcept { return mentions_; }
  [[nodiscard]] frame_placer& frames() noexcept { return frames_; }
  [[nodiscard]] bytes_view elements() const noexcept { return elements_; }

  // -- how large it is

  /// Adds how much larger compressed frames are at the receiver.
  void add_decompressed(std::uint64_t bytes) noexcept { decompressed_bytes_ += bytes; }
  /// The memory that the message takes at the receiver, without its head.
  [[nodiscard]] std::uint64_t cost_without_head() const noexcept {
    return elements_.size() + frames_.chunked_bytes() + value_bytes_ + decompressed_bytes_ + message_cost_bytes
           + (cargo_.claims.actors() + cargo_.mentions.size()) * mention_cost_bytes;
  }
  /// The bytes behind its handles.
  [[nodiscard]] std::uint64_t handle_bytes() const noexcept {
    return frames_.bytes_in_store() + mentions_.bytes_in_store();
  }
  /// Fails with `unserializable` if the message exceeds the limit of packets, or the limit of the peer.
  [[nodiscard]] std::expected<void, node_error> check_size() const;

  // -- its cargo

  [[nodiscard]] message_cargo& cargo() noexcept { return cargo_; }
  [[nodiscard]] const message_cargo& cargo() const noexcept { return cargo_; }
  /// The sender on another link bounds the message, so it waits for room without a limit.
  void owe(receipt owed) {
    cargo_.claims.owe(std::move(owed));
    if (how_ == urgency::ordinary)
      how_ = urgency::always_waits;
  }
  /// Notes a payload, which is counted once the message is sent.
  void carry(traffic& counted_as, std::uint64_t bytes) { carried_.emplace_back(&counted_as, bytes); }
  /// Counts the payloads. To be called when the message is sent.
  void count_carried() const {
    for (const auto& [counted_as, bytes] : carried_)
      counted_as->count(bytes);
  }

  // -- its head

  [[nodiscard]] message_types& types() noexcept { return types_; }
  [[nodiscard]] const message_types& types() const noexcept { return types_; }
  [[nodiscard]] urgency how() const noexcept { return how_; }
  void set_urgency(urgency how) noexcept { how_ = how; }
  /// Adds an extension map, if the peer accepts maps; a deadline in it has the form of this process. Keeps what
  /// state_value_bytes() has stated, unless the map states it.
  void extend(bytes_view map);
  /// States in the extensions how much memory the values take, if the peer reads that.
  void state_value_bytes(std::uint64_t bytes);
  [[nodiscard]] bytes_view extensions() const noexcept { return extensions_; }
  /// The bytes of the packet before elements(); a deadline still has the form of this process. Valid until the next
  /// call.
  [[nodiscard]] std::span<std::byte> start(const message_head& head);
  /// Where the deadline stands in start(); 0: there is none.
  [[nodiscard]] std::size_t deadline_at() const noexcept { return deadline_at_; }

private:
  const parts* of_ = nullptr;
  message_cargo cargo_;
  message_types types_;
  urgency how_ = urgency::ordinary;
  byte_vector extensions_;
  byte_vector start_;
  std::size_t deadline_at_ = 0;
  std::vector<std::pair<traffic*, std::uint64_t>> carried_; // Payloads and their bytes.
  terms_cache known_terms_;
  const sending_terms* terms_ = nullptr;
  message_mentions mentions_;
  frame_placer frames_;
  element_descriptor element_;
  byte_vector elements_; // Descriptors and inline bytes of all elements, as they go into the packet.
  std::uint64_t value_bytes_ = 0;
  std::uint64_t decompressed_bytes_ = 0;
};

} // namespace troupe::internal
