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
#include <troupe/framework/node_version.hpp>
#include <troupe/serializers/compression.hpp>
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
struct link_actors;
struct link_memory;
struct recording_target;
struct link_security;

/// Joins a node to one peer.
///
/// Threads: see link_core, the only implementation.
class node_link {
public:
  /// Fails with `bad_option` if no link could be made with the options: a list has an unknown or forbidden family, a
  /// bound is zero, or a timeout cannot be kept.
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

  /// Greets the peer on the thread of its seat. Ends the link if the handshake takes longer than `patience`. If the
  /// peer is not admitted, notes the reason in `refusals`, unless that is null. `bytes` must belong to the loop of the
  /// seat.
  virtual void start(std::shared_ptr<transport> bytes, std::chrono::milliseconds patience,
                     std::shared_ptr<refusal_log> refusals) = 0;
  /// To be called before start().
  virtual void tell(life_events whom) = 0;
  /// From now on the peer's questions find no actors. To be called before start().
  virtual void hide_names() = 0;
  /// Makes room for other links: ends this link, at once or soon, unless its peer is proven. Requires: start() was
  /// called.
  virtual void displace() = 0;
  /// Lets messages that are being encoded or wait for credit leave, for at most `patience`. Then says goodbye, and ends
  /// when all is written.
  virtual void close(const std::string& reason, std::chrono::milliseconds patience) = 0;
  [[nodiscard]] virtual bool is_open() const noexcept = 0;
  /// Whether the link has not opened because the peer does not know the secret that this end has proven. Any thread,
  /// once life_events::opened was called.
  [[nodiscard]] virtual bool secret_is_refused() const noexcept = 0;
  /// Whether neither end refers to an actor or an object of the other, waits for an answer of it, or has messages to
  /// send. Only what every link has, such as the helpers that the hello names, does not count.
  [[nodiscard]] virtual bool is_unused() const = 0;
  /// As close(), but only if the link is unused; otherwise returns false. To be called after the peer has answered an
  /// empty question of names_there(). Then it has read everything that was sent before, so that nothing is lost, and
  /// later messages over another link do not overtake.
  [[nodiscard]] virtual bool close_if_unused(const std::string& reason, std::chrono::milliseconds patience) = 0;

  // -- for the node

  /// Writes what another thread has left for the end of its batch of work.
  virtual void flush_batch() = 0;
  /// Tells the peer where this node listens, if the peer may know it. Requires: open.
  virtual void say_whereabouts() = 0;
  /// Records the link there, if it is open and wanted. A link that opens later does so itself.
  virtual void record_to(const recording_target& target) = 0;
  /// Tells the peer that the name was withdrawn or published anew, if the peer has found it.
  virtual void tell_name_change(const std::string& name) = 0;
  /// Returns this node's actor if the introduction proves that this link has given it to the peer; otherwise null.
  [[nodiscard]] virtual caf::strong_actor_ptr recognize(const introduce& what) const = 0;
  /// Unique among the links of this process; above zero.
  [[nodiscard]] virtual std::uint64_t number() const noexcept = 0;
  [[nodiscard]] virtual const link_options& options() const noexcept = 0;
  [[nodiscard]] virtual const std::string& peer_name() const noexcept = 0;
  /// All zero if the peer's objects come with their bytes. Requires: open.
  [[nodiscard]] virtual const handles::node_name& peer_handles() const noexcept = 0;
  /// Requires: started.
  [[nodiscard]] virtual link_place place() const = 0;
  [[nodiscard]] virtual link_stats stats() const = 0;
  /// The number of the peer's requests that actors of this node have not answered.
  [[nodiscard]] virtual std::uint64_t unanswered_requests() const noexcept = 0;
  [[nodiscard]] virtual link_memory memory(std::span<const store::object_id> of) const = 0;
  /// This node's actors that the peer may address: those of `first`, those that have not consumed everything, and
  /// others, up to a bound.
  [[nodiscard]] virtual link_actors own_actors(std::span<const caf::strong_actor_ptr> first) const = 0;
  [[nodiscard]] virtual link_report report() const = 0;
  /// Returns the totals when the link ends. What is counted later is reported to the node.
  [[nodiscard]] virtual link_stats final_stats() = 0;

  // -- for the public link

  [[nodiscard]] virtual link_host& node() const noexcept = 0;
  /// The names at the peer for which this end waits.
  [[nodiscard]] virtual lookups& names_there() noexcept = 0;
  /// The actors by which the peer serves this node.
  [[nodiscard]] virtual const peer_helpers& helpers_there() const noexcept = 0;
  /// Changes the families with which both ends send, and those that they accept.
  [[nodiscard]] virtual family_changes& changes() noexcept = 0;
  /// Where the peer is, as the transport tells it.
  [[nodiscard]] virtual const std::string& peer_address() const noexcept = 0;
  [[nodiscard]] virtual const node_version& peer_version() const noexcept = 0;
  /// If the peer is of that process and recognizes repeated requests to its actors: its token, which no other node has.
  /// Otherwise empty.
  [[nodiscard]] virtual byte_vector memory_of_requests(const caf::node_id& process) const = 0;
  /// The role that the peer has for this end (link_options::roles); empty: none.
  [[nodiscard]] virtual const std::string& peer_role() const noexcept = 0;
  /// As the peer's hello lists them.
  [[nodiscard]] virtual std::vector<link_feature> peer_features() const = 0;
  /// Of what this end sends. Requires: open.
  [[nodiscard]] virtual troupe::compression compression_in_force() const = 0;
  /// The families with which messages are sent, best first.
  [[nodiscard]] virtual std::vector<std::string> effective_serializers() const = 0;
  [[nodiscard]] virtual bool shares_store() const noexcept = 0;
  /// True if both directions have moved into rings.
  [[nodiscard]] virtual bool uses_rings() const noexcept = 0;
};

} // namespace troupe::internal
