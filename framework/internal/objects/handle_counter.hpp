// What links and the exchange of objects know of each other.
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
  /// Its I/O thread. There is something for take_messages() or next_piece().
  virtual void write_handles() = 0;
  /// Its I/O thread. The peer has broken the protocol of handles, or has lost this link.
  virtual void end_for_handles(const node_error& why) = 0;
  /// Any thread, takes no lock. Of the loop that it runs on; null: on the exchange's. Never changes.
  [[nodiscard]] virtual asio::io_context* io() const noexcept { return nullptr; }
  /// Any thread, takes no lock. The node at its other end.
  [[nodiscard]] virtual const std::string& peer_name() const noexcept = 0;
  /// Any thread, takes no lock. The largest object that is brought here over it.
  [[nodiscard]] virtual std::uint64_t object_bytes_max() const noexcept { return UINT64_MAX; }
};

/// Where two ends of a link hand objects over that lie in a store of both.
struct exchange_channel {
  store::process_id peer;
  std::uint64_t send = 0;
  std::uint64_t receive = 0;
};

/// Bytes that a peer has asked for.
struct object_piece {
  byte_vector start; // The head of the packet.
  frame bytes;
};

/// Counts for links what they send and receive of objects.
///
/// Threads: link_up, link_down, receive and the on_ members on the I/O thread of that link; the rest from any.
/// Locks: its own come after a link's.
class handle_counter {
public:
  handle_counter() = default;
  handle_counter(const handle_counter&) = delete;
  handle_counter& operator=(const handle_counter&) = delete;
  virtual ~handle_counter() = default;

  [[nodiscard]] virtual handles::node_name self() const noexcept = 0;

  /// A handle that can be sent to other hosts. Null where it is no object of this node's store.
  [[nodiscard]] virtual std::shared_ptr<exchanged_object> object_of(const object_source_ptr& source) = 0;

  /// False where that number is not to be used: the link has to end.
  [[nodiscard]] virtual bool link_up(const std::shared_ptr<counted_link>& link, handles::link_number number,
                                     handles::node_name peer, bytes_view token,
                                     const std::optional<exchange_channel>& shared) = 0;
  /// Keeps the reason, for the errors of what is lost with the link.
  virtual void link_down(handles::link_number number, std::string why) = 0;

  /// Fails with `protocol_violation`.
  virtual std::expected<void, node_error> on_message(handles::link_number from, const handles::message& what) = 0;
  virtual std::expected<void, node_error> on_chunk(handles::link_number from, const object_chunk_head& head,
                                                   bytes_view bytes) = 0;
  /// The counted mentions of a message that has arrived, in order; null for the others. Fails with
  /// `protocol_violation`.
  [[nodiscard]] virtual std::expected<std::vector<object_source_ptr>, node_error>
  receive(handles::link_number from, std::span<const object_mention> mentions) = 0;

  /// Counts one sending of each, in the order of the result. With the link's mutex held; the message must follow,
  /// behind what take_messages() gives.
  [[nodiscard]] virtual std::vector<object_mention>
  count_out(handles::link_number to, std::span<const std::shared_ptr<exchanged_object>> objects) = 0;

  /// What is to be written on that link, in order. With the link's mutex held.
  [[nodiscard]] virtual std::vector<handles::message> take_messages(handles::link_number to) = 0;

  /// With the link's mutex held.
  [[nodiscard]] virtual std::optional<object_piece> next_piece(handles::link_number to) = 0;
  [[nodiscard]] virtual bool has_piece(handles::link_number to) const = 0;
};

} // namespace troupe::internal
