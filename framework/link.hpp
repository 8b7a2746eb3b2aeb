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
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/link_stats.hpp>
#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

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
  explicit link(std::shared_ptr<internal::node_link> core) : core_(std::move(core)) {}

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

  /// Whether the bytes of both directions go through rings (link_options::use_rings), which begins some moments after
  /// the link is open.
  [[nodiscard]] bool uses_rings() const;

  [[nodiscard]] bool is_open() const;

  /// Takes a lock that senders need, for moments: meant for once in a while, not for every message.
  [[nodiscard]] link_stats stats() const;

  /// Writes what was sent so far, within node_options::drain_timeout, then ends the link; link_stats::undelivered
  /// counts what had not left. Returns at once.
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

  std::shared_ptr<internal::node_link> core_;
};

} // namespace troupe
