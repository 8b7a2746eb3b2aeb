// One connection between two nodes.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/unit.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/fwd.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/link_stats.hpp>
#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/node_version.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

struct activity_query;
struct node_activity;
struct node_contract;
struct node_order;
struct node_report;
struct report_query;
struct recording_part;
struct recording_query;

/// A reference to a link. Copies refer to the same link. A link is used once: after its end, connecting again makes a
/// new link, and the actors reached through the old link stay down.
///
/// A request to an actor of the peer is answered with the actor's answer, with CAF's timeout, or with one of these
/// errors (to_node_error() converts the caf::error):
/// - `link_down`.
/// - `link_busy`: the queue for the receiver is full, see link_options::queue_bytes.
/// - `refused_family`, `unserializable`, `unsupported`: the message or the answer cannot be sent.
/// - `undecodable`: the message or the answer cannot be decoded.
/// - `broken_promise`: the actor dropped the request.
///
/// Threads: any thread may call every member. A member that blocks says so; do not call it in actors' handlers.
/// Lifetime: the node owns the link. The link stays open after the last reference to it is dropped. It ends if it is
/// closed or lost, or if its node ends.
class TROUPE_EXPORT link {
public:
  explicit link(std::shared_ptr<internal::node_link> core) : core_(std::move(core)) {}

  /// Looks up the actor that the peer has published under `name`, and returns an ordinary handle. `Handle` is either
  /// `caf::actor`, which accepts typed actors as well, or a typed actor's handle, whose interface is checked.
  /// Blocks. If the peer has not published the name yet, the call waits for it until the timeout, so a client may start
  /// before its server is ready. With a timeout of zero the call asks once, and the peer has 5 s to answer. If the
  /// node's I/O thread is busy, the call takes up to 1 s more than its time.
  /// Fails with
  /// - `not_found`: the peer's last answer was that it has no such name.
  /// - `interface_mismatch`: reported at once.
  /// - `not_allowed`: the peer's end of the link does not let this end find the name (link_options::allow_find).
  /// - `timed_out`: the peer did not answer.
  /// - `link_down`.
  /// - `link_busy`: 1,024 lookups are pending on this link.
  /// - `protocol_violation`: the answer is invalid.
  /// - `unsupported`: the call is on an I/O thread of a node, such as in a callback of a reconnecting link.
  ///
  ///     auto cup = link.find("cup");           // Waits for 5 s at most.
  ///     auto clock = link.find("clock", 1min);
  ///     auto spare = link.find("spare", 0s);   // Is it there now?
  template <class Handle = caf::actor>
  [[nodiscard]] std::expected<Handle, node_error> find(std::string_view name,
                                                       std::chrono::milliseconds timeout = std::chrono::seconds(5)) {
    auto found = find_untyped(name, system().message_types<Handle>(), timeout);
    if (!found)
      return std::unexpected{std::move(found).error()};
    return caf::actor_cast<Handle>(*std::move(found));
  }

  /// Looks up a name without blocking, as an ordinary request of the actor `self`. The timeout means the same as for
  /// find(name). The answer is a caf::strong_actor_ptr or an error. `caf::actor_cast<Handle>` converts the pointer into
  /// a handle, and to_node_error() converts the caf::error.
  /// The errors are `not_found`, `interface_mismatch`, `not_allowed`, `timed_out`, `link_down`, `link_busy` and
  /// `protocol_violation`, as for find(name). `unsupported` does not occur: any thread may send this request.
  ///
  ///     link.find(self, "cup", 5s).then([=](const caf::strong_actor_ptr& cup) { ... }, on_error);
  template <class Handle = caf::actor, class Self>
  requires std::is_class_v<Self>
  [[nodiscard]] auto find(Self* self, std::string name, std::chrono::milliseconds timeout) {
    return self->request(finder_of(std::move(name), system().message_types<Handle>(), timeout), longest_lookup(timeout),
                         caf::unit);
  }

  /// Returns a call of a registered function (type_registry::add_function), which is to run in the peer. Nothing is
  /// sent until `request` or `get` is called on the returned object (remote_call.hpp, which defines submit and lists
  /// the errors). The peer's end of the link must have `allow_tasks`. Arguments are converted as in a call of the
  /// function. An object_ref travels as a handle.
  ///
  ///     link.submit(troupe::fn_ref<&count_words>, text).request(self, 5s).then([](int words) { ... }, ...);
  ///     auto words = link.submit(threshold{0.5}, samples).get(5s); // A described functor brings its state.
  template <auto Function, class... Arguments>
  auto submit(registered_function<Function>, Arguments&&... arguments) const;
  template <class Functor, class... Arguments>
  requires(std::is_class_v<Functor>) auto submit(Functor functor, Arguments&&... arguments) const;

  /// Returns a call that spawns an actor in the peer. `name` is an actor type that is registered with the peer's actor
  /// system (actor_system_config::add_actor_type). Its constructor gets `arguments`. Nothing is sent until `request` or
  /// `get` is called on the returned object (spawn_request.hpp, which lists the errors). The peer's end of the link
  /// must have `allow_spawn`. The actor ends like a local actor, when nothing refers to it any more. When the link
  /// ends, this end's references to the actor are dropped.
  ///
  ///     auto worker = link.spawn("worker", 42).get(5s);
  ///     auto counter = link.spawn<counter_actor>("counter").get(5s); // Its interface is checked.
  template <class Handle = caf::actor, class... Arguments>
  [[nodiscard]] spawn_request<Handle> spawn(std::string name, Arguments&&... arguments) const;

  /// Asks the peer's node which objects it keeps, and why. The peer's end of the link must have `allow_memory_summary`.
  /// Blocks until the answer or the timeout. Fails with `not_allowed`, `timed_out`, `link_down`, `link_busy` (the peer
  /// answers 4 such questions of one link at a time, and 16 in all), `object_lost` (that node cannot read its store),
  /// or another error of requests over links.
  [[nodiscard]] std::expected<troupe::memory_summary, node_error>
  memory_summary(std::chrono::milliseconds timeout = std::chrono::seconds(10), const memory_query& query = {}) const;

  /// Asks the peer's node for a report on itself, its links and its types (node_report.hpp). The peer's end of the link
  /// must have `allow_report`. Blocks and fails as memory_summary() does, but never with `object_lost`.
  [[nodiscard]] std::expected<node_report, node_error> report(std::chrono::milliseconds timeout,
                                                              const report_query& query) const;

  /// Asks the peer's node what happens in it: actors, supervisors, dead letters, traces, lost links
  /// (node_activity.hpp). The peer's end of the link must have `allow_report`. Blocks and fails as report() does. Also
  /// fails with `unsupported` if the peer's version of Troupe does not know the question.
  [[nodiscard]] std::expected<node_activity, node_error>
  activity(const activity_query& query, std::chrono::milliseconds timeout = std::chrono::seconds(10)) const;

  /// Has the peer's node close or reconfigure one of its links, or unpin an object (node_order in node_activity.hpp).
  /// The peer's end of this link must have `allow_orders`. Blocks until the peer has carried the order out, or the
  /// timeout. An order to close this link itself may end in `link_down`. Fails with
  /// - `not_found`: the peer has no open link of that number, or no such pin.
  /// - `bad_option`, `nothing_in_common`, `timed_out`, `link_down`: as link::reconfigure there; the peer waits for 10 s
  ///   at most.
  /// - `bad_option`: the order lacks what it needs, or has what it does not need.
  /// - `not_allowed`, `timed_out`, `link_down`, `link_busy`, as memory_summary() does.
  /// - `unsupported`: the peer's version of Troupe does not know the order.
  [[nodiscard]] std::expected<void, node_error>
  order(const node_order& what, std::chrono::milliseconds timeout = std::chrono::seconds(15)) const;

  /// Asks the peer's node for its contract (node_report.hpp), from which refused_by_receiver (serializers/contract.hpp)
  /// finds out what one end would refuse to take from the other. The peer's end of the link must have `allow_report`.
  /// Blocks, and fails, as memory_summary() does.
  [[nodiscard]] std::expected<node_contract, node_error>
  contract(std::chrono::milliseconds timeout = std::chrono::seconds(10)) const;

  /// @private For record_peer (remote_recording.hpp).
  [[nodiscard]] std::expected<recording_part, node_error> record(std::chrono::milliseconds timeout,
                                                                 recording_query query) const;

  /// Measures the round trip to the peer's I/O thread. The time includes the writing of what is already queued. Blocks
  /// until the answer or the timeout. Fails with `timed_out` or `link_down`.
  [[nodiscard]] std::expected<std::chrono::nanoseconds, node_error>
  ping(std::chrono::milliseconds timeout = std::chrono::seconds(5));

  /// Identifies the link among all links of this process, including several to one peer. Greater than zero.
  [[nodiscard]] std::uint64_t number() const noexcept;

  /// The name that the peer's node was opened with.
  [[nodiscard]] const std::string& peer_name() const;

  /// The address that this end dialed. If the peer dialed, the address from which the peer came; empty if that has
  /// none, as with unix sockets.
  [[nodiscard]] const std::string& peer_address() const;

  /// The role that the peer has for this end: the name of one of link_options::roles. Empty if it has none, and if this
  /// end has dialed.
  [[nodiscard]] const std::string& peer_role() const;

  /// The versions that the peer's node has stated.
  [[nodiscard]] const node_version& peer_version() const;

  /// The features of the link protocol that the peer has, also those that this node does not know.
  [[nodiscard]] std::vector<link_feature> peer_features() const;

  /// Changes the link's options while messages travel in both directions. No message is lost, refused or reordered
  /// because of the change. Messages that are encoded after the change use the new lists. The peer acknowledges the
  /// change after it has sent the last message that it encoded with the old lists. Until then, this end also accepts
  /// the families of the old lists. Blocks until the acknowledgment or the timeout. A second change first waits for the
  /// end of the first one.
  /// Fails with `bad_option` (the text names the family), `nothing_in_common` (the text has the lists of both ends), or
  /// `link_down`. The peer can also cause `nothing_in_common` if both ends change their options at the same time. After
  /// `bad_option` and `nothing_in_common` nothing has changed.
  /// Fails with `timed_out` if the peer has not acknowledged in time. Then the change stands unless the peer refuses it
  /// later, and the old families stay accepted until the peer answers. An actor of either end that does not consume its
  /// messages can cause this delay. If an earlier change is still not acknowledged, the text says that this one was not
  /// made.
  [[nodiscard]] std::expected<void, node_error>
  reconfigure(const link_changes& changes, std::chrono::milliseconds timeout = std::chrono::seconds(10));

  /// The families with which this end sends, as far as the peer accepts them.
  [[nodiscard]] std::vector<std::string> serializers() const;
  /// The families that this end accepts.
  [[nodiscard]] std::vector<std::string> deserializers() const;

  /// The compression of what this end sends; `none` within a process. Ends that share a store never
  /// compress, even if this value is not `none`.
  [[nodiscard]] troupe::compression compression() const;

  /// Whether large frames travel as handles to objects of a store that both ends share.
  [[nodiscard]] bool shares_store() const;

  /// Whether the bytes of both directions go through rings in shared memory (link_options::use_rings). A link opens on
  /// its socket and changes to rings a moment later.
  [[nodiscard]] bool uses_rings() const;

  [[nodiscard]] bool is_open() const;

  /// The link's counters. The call briefly holds a lock that senders need, so do not make it for every message.
  [[nodiscard]] link_stats stats() const;

  /// Ends the link after its pending messages are written, at the latest after node_options::drain_timeout. Does not
  /// wait for that. link_stats::undelivered counts the messages that were not written.
  void close();

private:
  [[nodiscard]] caf::actor_system& system() const;
  [[nodiscard]] caf::actor finder_of(std::string name, std::set<std::string> interface,
                                     std::chrono::milliseconds timeout) const;
  [[nodiscard]] static std::chrono::milliseconds longest_lookup(std::chrono::milliseconds timeout);
  /// The peer's spawner. If there is none, an actor that answers every request with the reason.
  [[nodiscard]] caf::actor spawner() const;
  /// The actor that runs the function in the peer, and the function's name. If the function cannot run, an actor that
  /// answers every request with the reason.
  [[nodiscard]] caf::actor runner_of(std::type_index key, std::string& name) const;
  [[nodiscard]] caf::actor refusal_of_undescribed(std::type_index functor) const;
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error>
  find_untyped(std::string_view name, std::set<std::string> interface, std::chrono::milliseconds timeout);

  std::shared_ptr<internal::node_link> core_;
};

} // namespace troupe
