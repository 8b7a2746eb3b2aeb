// One message, until it leaves.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/link/frame_placer.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/message_mentions.hpp>
#include <troupe/framework/internal/link/packed_message.hpp>
#include <troupe/framework/internal/link/send_gate.hpp>
#include <troupe/framework/internal/link/terms_cache.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// Puts one message together, element by element. Takes back what it has taken of its link, unless it was sent.
///
/// Threads: one, which uses it again from message to message, so that small messages allocate nothing.
class message_draft {
public:
  /// Of one link. All of it outlives the link's messages.
  struct parts {
    claim_desk& claims;
    message_mentions::parts mentions;
    frame_placer::parts frames;
  };

  message_draft() = default;
  message_draft(const message_draft&) = delete;
  message_draft& operator=(const message_draft&) = delete;
  ~message_draft() { clear(); }

  /// A message over that link. Where it `is_waited_for` the peer waits for it with its acknowledgement when it changes
  /// its lists meanwhile; else it may turn out to be outdated. Requires: cleared.
  void begin(const parts& of, const newest_terms& terms, bool is_waited_for);
  void clear();
  [[nodiscard]] bool in_use() const noexcept { return of_ != nullptr; }

  /// The message is encoded by them.
  [[nodiscard]] const sending_terms& terms() const noexcept { return *terms_; }

  // -- its elements

  /// The next element; mentions from here on are its own.
  element_descriptor& begin_element();
  /// Gives each frame its place, and appends the element that begin_element() has begun. `shared_body` is the body as a
  /// frame that may be kept; null where its bytes are used for something else afterwards.
  [[nodiscard]] std::expected<void, node_error> end_element(bytes_view body, const frame* shared_body,
                                                            std::span<const frame> attached);
  /// It has none, since its value goes beside the bytes; so many bytes it takes.
  void pass_value(std::any value, std::uint64_t size_bytes);

  /// Codecs of handles find them in their context.
  [[nodiscard]] message_mentions& mentions() noexcept { return mentions_; }
  [[nodiscard]] frame_placer& frames() noexcept { return frames_; }
  [[nodiscard]] bytes_view elements() const noexcept { return elements_; }

  // -- how large it is

  /// Compressed frames become so much more at the other end.
  void add_decompressed(std::uint64_t bytes) noexcept { decompressed_bytes_ += bytes; }
  /// The memory that it takes at the other end, but for its head.
  [[nodiscard]] std::uint64_t cost_without_head() const noexcept {
    return elements_.size() + frames_.chunked_bytes() + value_bytes_ + decompressed_bytes_ + message_cost_bytes
           + (cargo.claims.actors() + cargo.mentions.size()) * mention_cost_bytes;
  }
  /// Behind handles.
  [[nodiscard]] std::uint64_t handle_bytes() const noexcept {
    return frames_.bytes_in_store() + mentions_.bytes_in_store();
  }
  /// Fails with `unserializable` where it is larger than packets may be, or than the peer takes.
  [[nodiscard]] std::expected<void, node_error> check_size() const;

  // -- its cargo

  /// It carries this extension map, where the peer takes one; empty: none.
  void extend(bytes_view extensions);
  /// Another link's sender bounds the message, which waits for room as long as need be.
  void owe(receipt owed) {
    cargo.claims.owe(std::move(owed));
    if (how == urgency::ordinary)
      how = urgency::always_waits;
  }

  message_cargo cargo;
  byte_vector extensions;
  byte_vector start; // Of its packet: its head.
  urgency how = urgency::ordinary;
  std::vector<const type_entry*> types;       // Of its elements ...
  std::uint64_t* known_signature = nullptr;   // ... of a single one, what is known of its signature; else null.
  const signature* types_of_others = nullptr; // Instead of `types`, of a message that is passed on.
  std::vector<std::pair<traffic*, std::uint64_t>> carried; // What is counted when it is sent: payloads, their bytes.
  bool is_outdated = false; // The peer has changed what it accepts meanwhile: to be cleared and encoded anew.

private:
  const parts* of_ = nullptr;
  terms_cache known_terms_;
  const sending_terms* terms_ = nullptr;
  message_mentions mentions_;
  frame_placer frames_;
  element_descriptor element_;
  byte_vector elements_; // Descriptors and inline bytes of all elements, as they go into the packet.
  std::uint64_t value_bytes_ = 0;
  std::uint64_t decompressed_bytes_ = 0;
};

/// Why a message that turned out to be outdated has not left.
[[nodiscard]] std::unexpected<node_error> outdated(message_draft& message, std::string_view peer);

} // namespace troupe::internal
