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
#include <troupe/serializers/describe.hpp>

namespace troupe {

struct node_report;
struct report_query;

/// A reference to a link; copies refer to the same link. A link is used once: after its end, connecting again makes a
/// new link, and every actor reached through the old one stays down.
///
/// Threads: every member from any thread. Members whose text says that they block, such as `find(name)`, are not for
/// actors' handlers.
/// Lifetime: the node owns the link. It stays open after the last reference to it is dropped; it ends with `close`,
/// with the node, or when it is lost.
class TROUPE_EXPORT link {
public:
  explicit link(std::shared_ptr<internal::node_link> core) : core_(std::move(core)) {}

  /// Looks up the actor that the peer has published under `name`. If the peer has no such name yet, the call waits for
  /// it until the timeout, so a client may start before its server is ready. With a timeout of zero the peer is asked
  /// once and has 5 s to answer. The result is an ordinary handle. `Handle` is `caf::actor`, which accepts typed actors
  /// too, or a typed actor's handle, whose interface is checked.
  /// Fails with `not_found` (the peer answered that it has no such name), `interface_mismatch` (reported at once),
  /// `timed_out` (the peer did not answer), `link_down`, `link_busy` (1,024 lookups are pending on this link), or
  /// `unsupported` in a callback of a reconnecting link.
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

  /// Looks up a name without blocking, as an ordinary request of the actor `self`. The answer is an error or a
  /// caf::strong_actor_ptr; `caf::actor_cast<Handle>` turns the pointer into a handle. The errors are those of
  /// find(name) above; `to_node_error` turns the caf::error into them.
  ///
  ///     link.find(self, "cup", 5s).then([=](const caf::strong_actor_ptr& cup) { ... }, on_error);
  template <class Handle = caf::actor, class Self>
  requires std::is_class_v<Self>
  [[nodiscard]] auto find(Self* self, std::string name, std::chrono::milliseconds timeout) {
    return self->request(finder_of(std::move(name), system().message_types<Handle>(), timeout), longest_lookup(timeout),
                         caf::unit);
  }

  /// Returns a call of a registered function (type_registry::add_function), to run in the peer. The peer's end of the
  /// link must have `allow_tasks`. Nothing is sent until `request` or `get` is called on the returned object
  /// (remote_call.hpp, where submit is defined). Arguments are converted as in a call of the function; an object_ref
  /// travels as a handle.
  ///
  ///     link.submit(troupe::fn_ref<&count_words>, text).request(self, 5s).then([](int words) { ... }, ...);
  ///     auto words = link.submit(threshold{0.5}, samples).get(5s); // A described functor brings its state.
  template <auto Function, class... Arguments>
  auto submit(registered_function<Function>, Arguments&&... arguments) const;
  template <class Functor, class... Arguments>
  requires(std::is_class_v<Functor>) auto submit(Functor functor, Arguments&&... arguments) const;

  /// Returns a call that spawns an actor in the peer. `name` is a type registered with the peer's actor system
  /// (actor_system_config::add_actor_type); its constructor gets `arguments`. The peer's end of the link must have
  /// `allow_spawn`. Nothing is sent before `request` or `get` of the returned object (spawn_request.hpp). The actor
  /// ends like a local one, when nothing refers to it any more. References from this end are dropped when the link
  /// ends.
  ///
  ///     auto worker = link.spawn("worker", 42).get(5s);
  ///     auto counter = link.spawn<counter_actor>("counter").get(5s); // Its interface is checked.
  template <class Handle = caf::actor, class... Arguments>
  [[nodiscard]] spawn_request<Handle> spawn(std::string name, Arguments&&... arguments) const;

  /// Asks the peer's node what it keeps and why. The peer's end of the link must have `allow_memory_summary`. Blocks
  /// until the answer: not for actors' handlers. Fails with `not_allowed`, `timed_out`, `link_down`, or `object_lost`
  /// if that node cannot ask its store.
  [[nodiscard]] std::expected<troupe::memory_summary, node_error>
  memory_summary(std::chrono::milliseconds timeout = std::chrono::seconds(10), const memory_query& query = {}) const;

  /// Asks the peer's node for a report on itself, its links and its types (node_report.hpp). The peer's end of the link
  /// must have `allow_report`. Blocks, and fails, as memory_summary() does.
  [[nodiscard]] std::expected<node_report, node_error> report(std::chrono::milliseconds timeout,
                                                              const report_query& query) const;

  /// Measures the round trip to the peer's I/O thread, including what is already queued for writing. Blocks: not for
  /// actors' handlers. Fails with `timed_out` or `link_down`.
  [[nodiscard]] std::expected<std::chrono::nanoseconds, node_error>
  ping(std::chrono::milliseconds timeout = std::chrono::seconds(5));

  /// Identifies the link among all links of this process, including several to one peer. Greater than zero.
  [[nodiscard]] std::uint64_t number() const noexcept;

  /// The name that the peer's node was opened with.
  [[nodiscard]] const std::string& peer_name() const;

  /// The address that was dialed; for links that the peer dialed, the address from which the peer came. Empty if the
  /// peer has no address, as after dialing over a unix socket.
  [[nodiscard]] const std::string& peer_address() const;

  /// Changes the link's options while messages travel in both directions; no message is lost, refused or overtaken
  /// because of the change. Messages encoded after the change use the new lists. The peer acknowledges the change after
  /// it has sent the last message that it encoded by the older list. Until then, families that it may no longer use are
  /// still accepted. Blocks until the acknowledgment or the timeout: not for actors' handlers. A second change waits
  /// for the first.
  /// Fails, with nothing changed, with `bad_option` (the text names the family), `nothing_in_common` (the text has both
  /// ends' lists; also if the peer refuses because it changes its own at the same time), or `link_down`. Fails with
  /// `timed_out` if the peer has not acknowledged: the change then stands unless the peer refuses it later, and the
  /// older families stay accepted until it answers. An actor at either end that does not consume its messages can cause
  /// this delay.
  [[nodiscard]] std::expected<void, node_error>
  reconfigure(const link_changes& changes, std::chrono::milliseconds timeout = std::chrono::seconds(10));

  /// The families that this end sends with, as far as the peer accepts them; and the families that this end accepts.
  [[nodiscard]] std::vector<std::string> serializers() const;
  [[nodiscard]] std::vector<std::string> deserializers() const;

  /// The compression in force for what this end sends; `none` within a process. Between ends that share a store,
  /// nothing is compressed, and this setting has no effect.
  [[nodiscard]] troupe::compression compression() const;

  /// Whether large frames travel as handles to a store that both ends share.
  [[nodiscard]] bool shares_store() const;

  /// Whether both directions use rings in shared memory (link_options::use_rings). The switch to rings happens some
  /// moments after the link opens.
  [[nodiscard]] bool uses_rings() const;

  [[nodiscard]] bool is_open() const;

  /// Briefly holds a lock that senders need: call it now and then, not for every message.
  [[nodiscard]] link_stats stats() const;

  /// Writes pending messages for at most node_options::drain_timeout, then ends the link; link_stats::undelivered
  /// counts the messages that were not written. Returns at once.
  void close();

private:
  [[nodiscard]] caf::actor_system& system() const;
  [[nodiscard]] caf::actor finder_of(std::string name, std::set<std::string> interface,
                                     std::chrono::milliseconds timeout) const;
  [[nodiscard]] static std::chrono::milliseconds longest_lookup(std::chrono::milliseconds timeout);
  /// The peer's spawner, or an actor that answers every request with the reason why there is none.
  [[nodiscard]] caf::actor spawner() const;
  /// The actor that runs the function in the peer, and the function's name; or an actor that answers with the reason
  /// why it cannot run.
  [[nodiscard]] caf::actor runner_of(std::type_index key, std::string& name) const;
  [[nodiscard]] caf::actor refusal_of_undescribed(std::type_index functor) const;
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error>
  find_untyped(std::string_view name, std::set<std::string> interface, std::chrono::milliseconds timeout);

  std::shared_ptr<internal::node_link> core_;
};

} // namespace troupe
