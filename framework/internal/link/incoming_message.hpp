// An incoming message, between its bytes and its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/flow/receive_account.hpp>
#include <troupe/framework/internal/link/forwarded_message.hpp>
#include <troupe/framework/internal/link/frame_claims.hpp>
#include <troupe/framework/internal/link/mention_finder.hpp>
#include <troupe/framework/internal/link/received_dictionary.hpp>
#include <troupe/framework/internal/objects/named_object.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/limits.hpp>

namespace troupe::internal {

/// One element of an incoming message, with all that it names.
struct received_element {
  element_descriptor descriptor;
  bool is_plain = false; // One frame inside the packet, and no actors.
  std::vector<frame> frames;
  std::vector<caf::strong_actor_ptr> actors; // In the order of the descriptor.
  std::vector<object_source_ptr> objects;
  std::optional<node_error> lost;            // Why a frame could not be claimed, if neither end is at fault.
  std::optional<received_header> own_header; // The header that the element carries, once header() was called.

  /// Returns the header that the element names or carries. Fails with `protocol_violation`.
  [[nodiscard]] std::expected<const received_header*, node_error> header(const received_dictionary& known);
  /// Releases what the element refers to, but keeps some memory of the lists.
  void let_go();
};

/// The failure for a header whose type is not the one in the signature.
[[nodiscard]] std::unexpected<node_error> not_as_signed(const received_header& header, std::string_view type);

/// What a message costs this end in addition to its packet.
struct bytes_beside_packet {
  std::uint64_t chunk_bytes = 0;        // Frames that came ahead in chunks.
  std::uint64_t decompressed_bytes = 0; // Compressed frames after decompression.
  std::uint64_t mention_bytes = 0;      // Stand-ins for the actors and objects that it mentions.
  received_behind_handles behind_handles = {};
};

/// The state of the message that is being read. Reused for the next message.
///
/// Threads: one.
class incoming_message {
public:
  /// `claims` and `finder` must outlive this object.
  incoming_message(const limits& bounds, frame_claims& claims, mention_finder& finder)
      : bounds_(bounds), claims_(claims), finder_(finder) {}

  /// `number`: the store that both ends share.
  void share_store(std::uint64_t number) { shared_store_ = number; }

  // -- ahead of the message

  /// Handles a packet that describes objects of the next message.
  std::expected<void, node_error> describe(bytes_view body);
  /// Returns true if objects are described; then the message has to follow.
  [[nodiscard]] bool is_described() const noexcept { return !described_.empty(); }
  /// To be called when the message does not come any more.
  void forget_described() { described_.clear(); }

  // -- the message

  /// Marks that a message is being read. Its destructor releases all that was read of the message.
  class [[nodiscard]] reading {
  public:
    explicit reading(incoming_message& of) : of_(&of) {}
    reading(const reading&) = delete;
    reading& operator=(const reading&) = delete;
    ~reading() { end(); }

    /// Ends the reading before the end of the scope.
    void end() {
      if (auto* of = std::exchange(of_, nullptr))
        of->let_go();
    }

  private:
    incoming_message* of_;
  };

  /// Reads `count` elements. Claims all their frames before anything is decoded. So handles in flight are taken over
  /// even from a message that cannot be delivered. `frames_are_repeated`: its stored frames are counted already.
  [[nodiscard]] std::expected<bytes_beside_packet, node_error> read(packet_reader& in, std::size_t count,
                                                                    bool frames_are_repeated);

  [[nodiscard]] std::span<received_element> elements() noexcept { return std::span{elements_}.first(count_); }

  /// Returns the message for a link to another node, as a view of this object's memory. Returns nullopt if the message
  /// has to be decoded first.
  [[nodiscard]] std::expected<std::optional<forwarded_message>, node_error>
  undecoded(const signature& types, bytes_view extensions, const received_dictionary& known);

  /// The objects that the message names, in frames and by handles.
  [[nodiscard]] std::vector<named_object> named_objects() const;

  /// Returns true if nothing is described and nothing is held.
  [[nodiscard]] bool is_empty() const noexcept { return described_.empty() && count_ == 0; }

private:
  [[nodiscard]] std::expected<void, node_error> read_one(packet_reader& in, received_element& element,
                                                         bool frames_are_repeated, bytes_beside_packet& beside);
  [[nodiscard]] std::expected<void, node_error> claim_frames(packet_reader& in, received_element& element,
                                                             bool frames_are_repeated, bytes_beside_packet& beside);
  [[nodiscard]] std::expected<void, node_error> find_actors(received_element& element, bytes_beside_packet& beside);
  [[nodiscard]] std::expected<void, node_error> receive_objects(std::uint64_t count, bytes_beside_packet& beside);
  void let_go();

  const limits bounds_;
  frame_claims& claims_;
  mention_finder& finder_;
  std::optional<std::uint64_t> shared_store_;
  std::vector<object_mention> described_;  // For the next message.
  std::vector<received_element> elements_; // Reused from message to message ...
  std::size_t count_ = 0;                  // ... of which this many are in use.
};

} // namespace troupe::internal
