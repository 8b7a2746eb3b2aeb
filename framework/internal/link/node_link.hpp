// A link as its node sees it.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/link/life_cycle.hpp>
#include <troupe/framework/internal/net/whereabouts.hpp>
#include <troupe/framework/internal/threads/loop_seat.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/store/fwd.hpp>

namespace troupe {
class family_set;
struct link_options;
struct link_report;
struct link_stats;
} // namespace troupe

namespace troupe::internal {

class family_changes;
class link_host;
class lookups;
class peer_helpers;
class refusal_log;
class transport;
struct introduce;
struct link_memory;
struct link_security;

/// Joins a node to one peer.
///
/// Threads: those of link_core, which is the only one.
class node_link {
public:
  /// Fails with `bad_option` for options with which no link could be made: lists that name a family that is not there
  /// or not allowed, bounds of zero, timeouts that nobody could keep.
  [[nodiscard]] static std::expected<void, node_error> check(const link_options& options, const family_set& known);

  /// Fails as `check` does.
  [[nodiscard]] static std::expected<std::shared_ptr<node_link>, node_error>
  make(std::shared_ptr<link_host> node, const link_options& options, link_side side,
       std::shared_ptr<const link_security> security, loop_seat seat);

  node_link() = default;
  node_link(const node_link&) = delete;
  node_link& operator=(const node_link&) = delete;
  virtual ~node_link() = default;

  // -- life

  /// Greets the peer, on the thread of its seat; ends the link when the handshake takes longer than `patience`. Notes
  /// in `refusals`, where there are any, why the peer is not let in. What is between the two belongs to the seat's
  /// loop.
  virtual void start(std::shared_ptr<transport> bytes, std::chrono::milliseconds patience,
                     std::shared_ptr<refusal_log> refusals) = 0;
  /// Before start().
  virtual void tell(life_events whom) = 0;
  /// Before start(). The peer may look, and finds no actors.
  virtual void hide_names() = 0;
  /// Makes room for others, at once or soon: ends the link, unless its peer has proven its identity. After start().
  virtual void displace() = 0;
  /// Takes `patience` at most: what is being encoded, and what waits for credit, leaves as far as it may in that time;
  /// then says goodbye, and ends when all is written.
  virtual void close(const std::string& reason, std::chrono::milliseconds patience) = 0;
  [[nodiscard]] virtual bool is_open() const noexcept = 0;

  // -- for the node

  /// Writes what another thread has left for the end of its round of work.
  virtual void flush_batch() = 0;
  /// Once it is open. Tells the peer where this node listens, where it may know that.
  virtual void say_whereabouts() = 0;
  /// This node's own actor, where the introduction proves that this link has given it to the peer.
  [[nodiscard]] virtual caf::strong_actor_ptr recognize(const introduce& what) const = 0;
  /// No other link of this process ever has the same; above zero.
  [[nodiscard]] virtual std::uint64_t serial() const noexcept = 0;
  [[nodiscard]] virtual const link_options& options() const noexcept = 0;
  [[nodiscard]] virtual const std::string& peer_name() const noexcept = 0;
  /// Once it is open. All zero where its objects come with their bytes.
  [[nodiscard]] virtual const handles::node_name& peer_handles() const noexcept = 0;
  /// Once it has started.
  [[nodiscard]] virtual link_place place() const = 0;
  [[nodiscard]] virtual link_stats stats() const = 0;
  [[nodiscard]] virtual link_memory memory(std::span<const store::object_id> of) const = 0;
  [[nodiscard]] virtual link_report report() const = 0;
  /// The totals at the link's end. What is counted later, the node is told.
  [[nodiscard]] virtual link_stats final_stats() = 0;

  // -- for the public link

  [[nodiscard]] virtual link_host& node() const noexcept = 0;
  /// Names at the peer that this end waits for.
  [[nodiscard]] virtual lookups& names_there() noexcept = 0;
  /// The actors by which the peer serves this node.
  [[nodiscard]] virtual const peer_helpers& helpers_there() const noexcept = 0;
  /// How this end and the peer change what they send with and accept.
  [[nodiscard]] virtual family_changes& changes() noexcept = 0;
  /// The families by which messages leave, best first.
  [[nodiscard]] virtual std::vector<std::string> effective_serializers() const = 0;
  [[nodiscard]] virtual bool shares_store() const noexcept = 0;
  /// Whether both directions have moved into rings.
  [[nodiscard]] virtual bool uses_rings() const noexcept = 0;
};

} // namespace troupe::internal
