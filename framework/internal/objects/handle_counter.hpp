// The interfaces between links and the exchange of objects.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/store/object_id.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

class exchanged_object;

/// A link over which handles are counted, as the exchange sees it.
class counted_link {
public:
  virtual ~counted_link() = default;
  /// On its I/O thread. take_messages() or next_piece() has something to write.
  virtual void write_handles() = 0;
  /// On its I/O thread. The peer has broken the protocol of handles, or has lost this link.
  virtual void end_for_handles(const node_error& why) = 0;
  /// Any thread, takes no lock. The context of the loop that runs the link; null if that is the exchange's own loop. It
  /// never changes.
  [[nodiscard]] virtual asio::io_context* io() const noexcept { return nullptr; }
  /// Any thread, takes no lock. The name of the node at the link's other end.
  [[nodiscard]] virtual const std::string& peer_name() const noexcept = 0;
  /// Any thread, takes no lock. The largest object that is fetched over the link.
  [[nodiscard]] virtual std::uint64_t object_bytes_max() const noexcept { return UINT64_MAX; }
};

/// The channel on which the two ends of a link hand over objects of a store that both have open.
struct exchange_channel {
  store::process_id peer;
  std::uint64_t send = 0;
  std::uint64_t receive = 0;
};

/// Bytes that a peer has requested.
struct object_piece {
  byte_vector start; // The head of the packet.
  frame bytes;
};

/// Counts the objects that links send and receive.
///
/// Threads: link_up, link_down, receive and the on_ members on the I/O thread of that link; the others on any thread.
/// Locks: its own lock is taken after a link's lock.
class handle_counter {
public:
  handle_counter() = default;
  handle_counter(const handle_counter&) = delete;
  handle_counter& operator=(const handle_counter&) = delete;
  virtual ~handle_counter() = default;

  [[nodiscard]] virtual handles::node_name self() const noexcept = 0;

  /// A handle that can be sent to other hosts. Null if the source is no object of this node's store.
  [[nodiscard]] virtual std::shared_ptr<exchanged_object> object_of(const object_source_ptr& source) = 0;

  /// Returns false if that number must not be used. Then the link has to end.
  [[nodiscard]] virtual bool link_up(const std::shared_ptr<counted_link>& link, handles::link_number number,
                                     handles::node_name peer, bytes_view token,
                                     const std::optional<exchange_channel>& shared) = 0;
  /// Keeps the reason, for errors about objects that were lost with the link.
  virtual void link_down(handles::link_number number, std::string why) = 0;

  /// Fails with `protocol_violation`.
  virtual std::expected<void, node_error> on_message(handles::link_number from, const handles::message& what) = 0;
  virtual std::expected<void, node_error> on_chunk(handles::link_number from, const object_chunk_head& head,
                                                   bytes_view bytes) = 0;
  /// Takes in the mentions of a message that has arrived, in order. Null for a mention that is not counted. Fails with
  /// `protocol_violation`.
  [[nodiscard]] virtual std::expected<std::vector<object_source_ptr>, node_error>
  receive(handles::link_number from, std::span<const object_mention> mentions) = 0;

  /// Counts one sending of each object, in the order of the result. Requires: the link's mutex is held. The message
  /// must be written after the messages that take_messages() returns.
  [[nodiscard]] virtual std::vector<object_mention>
  count_out(handles::link_number to, std::span<const std::shared_ptr<exchanged_object>> objects) = 0;

  /// Messages to be written on that link, in order. Requires: the link's mutex is held.
  [[nodiscard]] virtual std::vector<handles::message> take_messages(handles::link_number to) = 0;

  /// Whether one end of the link has handles to objects of the other, or asks for bytes. Requires: the link's mutex is
  /// held.
  [[nodiscard]] virtual bool is_used(handles::link_number link) const = 0;

  /// Requires: the link's mutex is held.
  [[nodiscard]] virtual std::optional<object_piece> next_piece(handles::link_number to) = 0;
  [[nodiscard]] virtual bool has_piece(handles::link_number to) const = 0;
};

} // namespace troupe::internal
