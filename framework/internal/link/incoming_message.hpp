// A message on its way in, between its bytes and its values.
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

/// One element of a message that has come, with all that it names.
struct received_element {
  element_descriptor descriptor;
  bool is_plain = false; // One frame, which lies in the packet, and no actors.
  std::vector<frame> frames;
  std::vector<caf::strong_actor_ptr> actors; // As the descriptor mentions them.
  std::vector<object_source_ptr> objects;
  std::optional<node_error> lost;            // Why a frame could not be claimed, where that is nobody's fault.
  std::optional<received_header> own_header; // That it brings itself, once it was asked for.

  /// The header that the element names, or brings itself. Fails with `protocol_violation`.
  [[nodiscard]] std::expected<const received_header*, node_error> header(const received_dictionary& known);
  /// Keeps some memory of the lists.
  void let_go();
};

/// Of a header whose type is not the one that the signature says.
[[nodiscard]] std::unexpected<node_error> not_as_signed(const received_header& header, std::string_view type);

/// What a message takes here and is not in its packet.
struct bytes_beside_packet {
  std::uint64_t chunk_bytes = 0;        // Came ahead in chunks.
  std::uint64_t decompressed_bytes = 0; // What compressed frames become.
  std::uint64_t mention_bytes = 0;      // Stand-ins of the actors that it mentions.
  received_behind_handles behind_handles = {};
};

/// All that is being read of one message. Used again for the next.
///
/// Threads: one.
class incoming_message {
public:
  /// `claims` and `finder` outlive this.
  incoming_message(const limits& bounds, frame_claims& claims, mention_finder& finder)
      : bounds_(bounds), claims_(claims), finder_(finder) {}

  /// The number of the store that both ends share.
  void share_store(std::uint64_t number) { shared_store_ = number; }

  // -- ahead of the message

  /// A packet that describes objects which the message mentions.
  std::expected<void, node_error> describe(bytes_view body);
  /// Objects are described: the message has to follow.
  [[nodiscard]] bool is_described() const noexcept { return !described_.empty(); }
  /// The message does not come any more.
  void forget_described() { described_.clear(); }

  // -- the message

  /// As long as it lives, there is a message: then all that was read of it is let go of.
  class [[nodiscard]] reading {
  public:
    explicit reading(incoming_message& of) : of_(&of) {}
    reading(const reading&) = delete;
    reading& operator=(const reading&) = delete;
    ~reading() { end(); }

    /// Ahead of the end of its scope.
    void end() {
      if (auto* of = std::exchange(of_, nullptr))
        of->let_go();
    }

  private:
    incoming_message* of_;
  };

  /// Reads so many elements, whose frames are all claimed before anything is decoded: handles in flight are taken over
  /// even from a message that then cannot be delivered. `frames_are_repeated`: its stored frames count already.
  [[nodiscard]] std::expected<bytes_beside_packet, node_error> read(packet_reader& in, std::size_t count,
                                                                    bool frames_are_repeated);

  [[nodiscard]] std::span<received_element> elements() noexcept { return std::span{elements_}.first(count_); }

  /// The message as a link to another node passes it on: a view of what this has. Null where it has to be decoded
  /// first.
  [[nodiscard]] std::expected<std::optional<forwarded_message>, node_error>
  undecoded(const signature& types, bytes_view extensions, const received_dictionary& known);

  /// The objects that it names, in frames and by handles.
  [[nodiscard]] std::vector<named_object> named_objects() const;

  /// Nothing is described, nothing is held.
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
  std::vector<object_mention> described_;  // For the message that is to come next.
  std::vector<received_element> elements_; // Used from message to message ...
  std::size_t count_ = 0;                  // ... of which so many are in use.
};

} // namespace troupe::internal
