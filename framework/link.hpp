// One connection between two nodes, as its user sees it.
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
#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

/// Payloads: a message has one for each of its elements. `bytes` are those of their frames as they travel, compressed
/// where they are; `time` is what encoding (with compressing) or decoding took, an estimate from some of them: payloads
/// of less than 4 KiB are timed once in 64, the first of each type besides.
struct payload_totals {
  std::uint64_t payloads = 0;
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds time{0};
};
TROUPE_DESCRIBE(payload_totals, payloads, bytes, time)

/// What was carried of one type by one family. The family is "none" where values are handed over as they are, within a
/// process; their bytes are what they take in memory, and no time.
struct type_stats {
  std::string family;
  std::string type; // Its alias in the node's registry: what a peer names and this node does not know has no row.
  payload_totals sent;
  payload_totals received;
};
TROUPE_DESCRIBE(type_stats, family, type, sent, received)

/// What one link has done so far. Bytes through the socket include heads and everything else that is written.
struct link_stats {
  /// Also those that waited here until there was room and then gave way to others (`dropped`, when_full::drop_oldest).
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t socket_bytes_sent = 0;
  std::uint64_t socket_bytes_received = 0;
  std::uint64_t handle_bytes_sent = 0; // Size of the frames that travelled as handles.
  std::uint64_t handle_bytes_received = 0;
  std::uint64_t pulled_bytes_sent = 0; // Of objects, asked for by the other end.
  std::uint64_t pulled_bytes_received = 0;
  std::uint64_t spilled_bytes = 0;  // Of those sent as handles, what had to be put into the store for it.
  std::uint64_t unserializable = 0; // Not sent: no family in common, or a value that cannot be encoded.
  /// Of those, what the two ends' lists of families forbid, exit messages that the peer does not allow, and what does
  /// not cross links at all.
  std::uint64_t refused_by_policy = 0;
  std::uint64_t undecodable = 0; // Received, but not delivered.
  /// Sent after the link was down, or not written when it ended, or received for nobody. What the system had taken for
  /// a peer that then did not read it is not known.
  std::uint64_t undelivered = 0;
  std::uint64_t store_fallbacks = 0;  // Frames that went through the socket because the store was full.
  std::uint64_t refused_at_bound = 0; // Not sent, because the peer had not consumed enough.
  std::uint64_t dropped = 0;          // Dropped while they waited, to make room for newer ones.
  std::uint64_t forwarded = 0;        // Received for actors of other nodes and passed on without being decoded.
  // Now, against the bounds of the link's options:
  std::uint64_t unconsumed_bytes_there = 0; // Sent and not consumed by the peer, as far as it has said.
  std::uint64_t waiting_bytes = 0;          // Waiting on this end.
  std::uint64_t unconsumed_bytes_here = 0;  // Received and not consumed.
  /// The first three again for the bytes behind handles, against link_options::handle_window_bytes.
  std::uint64_t unconsumed_handle_bytes_there = 0;
  std::uint64_t waiting_handle_bytes = 0;
  std::uint64_t unconsumed_handle_bytes_here = 0;
  std::uint64_t unread_bytes = 0; // Written, or large frames on their way, and not taken by the system.
  /// Now, and against no bound: large frames that came through the socket and still live, on their way in, in messages,
  /// or because actors keep views of them.
  std::uint64_t large_frame_bytes_here = 0;
  /// Now: how much may be sent and not consumed, as both ends agreed, and how much of that is left. Messages to one
  /// actor may have to wait although some is left, see link_options::actor_window_bytes.
  std::uint64_t window_bytes = 0;
  std::uint64_t credit_bytes = 0;
  /// Now: actors of this end that the peer may address, and actors of the peer that something here refers to.
  std::uint64_t actors_exported = 0;
  std::uint64_t actors_imported = 0;
  // Nothing where node_options::detailed_stats is off; else by family, then by type, and the sums of their times.
  std::chrono::nanoseconds encode_time{0};
  std::chrono::nanoseconds decode_time{0};
  std::vector<type_stats> by_type;
};
TROUPE_DESCRIBE(link_stats, messages_sent, messages_received, socket_bytes_sent, socket_bytes_received,
                handle_bytes_sent, handle_bytes_received, pulled_bytes_sent, pulled_bytes_received, spilled_bytes,
                unserializable, refused_by_policy, undecodable, undelivered, store_fallbacks, refused_at_bound, dropped,
                forwarded, unconsumed_bytes_there, waiting_bytes, unconsumed_bytes_here, unconsumed_handle_bytes_there,
                waiting_handle_bytes, unconsumed_handle_bytes_here, unread_bytes, large_frame_bytes_here, window_bytes,
                credit_bytes, actors_exported, actors_imported, encode_time, decode_time, by_type)

struct node_report;
struct report_query;

/// A reference to a link; copies refer to the same one. A link is used once: after its end, connecting again makes a
/// new one, and everything reached through the old one stays down.
///
/// Threads: every member from any thread; `find` blocks and is not for actors' handlers.
/// Lifetime: the node owns the link, which goes on when the last reference to it is dropped, until `close` or the
/// node's end.
class TROUPE_EXPORT link {
public:
  explicit link(std::shared_ptr<internal::link_core> core) : core_(std::move(core)) {}

  /// Looks up what the peer has published under `name`. Where it has nothing of that name yet, this waits until it has,
  /// for `timeout` at most: a client may be up before its server is ready. With a timeout of zero the peer is asked
  /// once, and has 5 s to answer. The handle is an ordinary one; `Handle` may be `caf::actor`, which takes typed actors
  /// as well, or a typed actor, whose interface is checked. Fails with `not_found` (the peer has answered, and has no
  /// such name), `interface_mismatch` (at once), `timed_out` (the peer has not answered), `link_down`, `link_busy`
  /// (1,024 names are waited for on this link already), or `unsupported` in a callback of a kept link.
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

  /// The same without blocking, as an ordinary request of the actor `self`: the answer is a caf::strong_actor_ptr, of
  /// which `caf::actor_cast<Handle>` makes the handle, or an error.
  ///
  ///     link.find(self, "cup", 5s).then([=](const caf::strong_actor_ptr& cup) { ... }, on_error);
  template <class Handle = caf::actor, class Self>
  requires std::is_class_v<Self>
  [[nodiscard]] auto find(Self* self, std::string name, std::chrono::milliseconds timeout) {
    return self->request(finder_of(std::move(name), system().message_types<Handle>(), timeout), longest_lookup(timeout),
                         caf::unit);
  }

  /// A call of a registered function (type_registry::add_function) that runs in the peer, where its end of the link has
  /// `allow_tasks`. Nothing is sent before `request` or `get` of what this gives: see task.hpp, where both are defined.
  /// Arguments are converted as in a call of the function; an object_ref travels as a handle.
  ///
  ///     link.submit(troupe::fn_ref<&count_words>, text).request(self, 5s).then([](int words) { ... }, ...);
  ///     auto words = link.submit(threshold{0.5}, samples).get(5s); // A described functor brings its state.
  template <auto Function, class... Arguments>
  auto submit(function_ref<Function>, Arguments&&... arguments) const;
  template <class Functor, class... Arguments>
  requires(std::is_class_v<Functor>) auto submit(Functor functor, Arguments&&... arguments) const;

  /// An actor of a type that the peer's actor system has registered (actor_system_config::add_actor_type), made there
  /// from `arguments`, where the peer's end of the link has `allow_spawn`. Nothing is sent before `request` or `get` of
  /// what this gives: see spawning.hpp. It ends as a local one does when nothing refers to it any more, at the link's
  /// end at the latest unless the peer refers to it.
  ///
  ///     auto worker = link.spawn("worker", 42).get(5s);
  ///     auto counter = link.spawn<counter_actor>("counter").get(5s); // Its interface is checked.
  template <class Handle = caf::actor, class... Arguments>
  [[nodiscard]] spawning<Handle> spawn(std::string name, Arguments&&... arguments) const;

  /// What the peer's node keeps and why, where its end of the link has `allow_memory_summary`. Waits for the answer:
  /// not for actors' handlers. Fails with `not_allowed`, `timed_out`, `link_down`, or `object_lost` where that node's
  /// store cannot be asked.
  [[nodiscard]] std::expected<troupe::memory_summary, node_error>
  memory_summary(std::chrono::milliseconds timeout = std::chrono::seconds(10), const memory_query& query = {}) const;

  /// What the peer's node says of itself, its links, and its types (inspection.hpp), where its end of the link has
  /// `allow_inspection`. Waits, and fails, as memory_summary() does.
  [[nodiscard]] std::expected<node_report, node_error> report(std::chrono::milliseconds timeout,
                                                              const report_query& query) const;

  /// How long it takes to the peer's I/O thread and back now, behind what is written already. Waits: not for actors'
  /// handlers. Fails with `timed_out` or `link_down`.
  [[nodiscard]] std::expected<std::chrono::nanoseconds, node_error>
  ping(std::chrono::milliseconds timeout = std::chrono::seconds(5));

  /// Tells the links of a process apart, also of one peer: no other has the same. Above zero.
  [[nodiscard]] std::uint64_t number() const noexcept;

  /// The name that the peer's node was opened with.
  [[nodiscard]] const std::string& peer_name() const;

  /// Changes the link's options while messages are under way in both directions: none is lost, refused or overtaken for
  /// it. Messages whose encoding begins later go by the new lists; those families that the peer is no longer to send
  /// with are accepted until it has acknowledged, which it does when the last message by the older list has left there.
  /// Waits for that for `timeout` at most: not for actors' handlers. One change at a time: a second one waits for the
  /// first. Fails with `bad_option`, naming the family, with `nothing_in_common`, naming both ends' lists, also where
  /// the peer refuses because it changes its own at the same time, or with `link_down`; then nothing has changed. Fails
  /// with `timed_out` when the peer has not acknowledged: the change stands, unless the peer still refuses it, and
  /// until then the older families are accepted as well. An actor there, or here, that consumes nothing can hold that
  /// up.
  [[nodiscard]] std::expected<void, node_error>
  reconfigure(const link_changes& changes, std::chrono::milliseconds timeout = std::chrono::seconds(10));

  /// Families that this end sends with, as far as the peer accepts them, and those that it accepts.
  [[nodiscard]] std::vector<std::string> serializers() const;
  [[nodiscard]] std::vector<std::string> deserializers() const;

  /// Whether large frames travel as handles to one store.
  [[nodiscard]] bool shares_store() const;

  [[nodiscard]] bool is_open() const;

  /// Takes a lock that senders need, for moments: meant for once in a while, not for every message.
  [[nodiscard]] link_stats stats() const;

  /// Writes what was sent so far, within node_options::drain_timeout, then ends the link; link_stats::undelivered counts
  /// what had not left. Returns at once.
  void close();

private:
  [[nodiscard]] caf::actor_system& system() const;
  [[nodiscard]] caf::actor finder_of(std::string name, std::set<std::string> interface,
                                     std::chrono::milliseconds timeout) const;
  [[nodiscard]] static std::chrono::milliseconds longest_lookup(std::chrono::milliseconds timeout);
  /// Who spawns there; where nobody does, an actor that answers with the reason.
  [[nodiscard]] caf::actor spawner() const;
  /// Who runs the function, and its name; where that cannot be, an actor that answers with the reason.
  [[nodiscard]] caf::actor runner_of(std::type_index key, std::string& name) const;
  [[nodiscard]] caf::actor refusal_of_undescribed(std::type_index functor) const;
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error>
  find_untyped(std::string_view name, std::set<std::string> interface, std::chrono::milliseconds timeout);

  std::shared_ptr<internal::link_core> core_;
};

} // namespace troupe
