// One process's end of the network. Start reading here.
#pragma once

#include <algorithm>
#include <chrono>
#include <expected>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/duration.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/unit.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/actor_codecs.hpp>
#include <troupe/framework/fwd.hpp>
#include <troupe/framework/internal/caf_port/actors/fetcher.hpp>
#include <troupe/framework/lasting.hpp>
#include <troupe/framework/link.hpp>
#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/message_types.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/framework/out_of_band.hpp>
#include <troupe/framework/publication.hpp>
#include <troupe/framework/reconnect.hpp>
#include <troupe/framework/remote_call.hpp>
#include <troupe/framework/span.hpp>
#include <troupe/framework/spawn_request.hpp>
#include <troupe/framework/system_config.hpp>
#include <troupe/framework/weak_node.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_registry.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe {

/// The network end of one actor system. A node has the system's links, the names under which peers find its actors, and
/// an attachment to the host's store. Actors at the other end of a link are ordinary CAF actors.
///
/// Threads: any thread may call every member. `open`, `connect` and `listen` block; do not call them in actors'
/// handlers.
/// Lifetime: declare the registry and the families first, then the actor system, then the node, so that they are
/// destroyed in reverse order. The node refers to all three. Messages and object_refs refer to the registry and the
/// families.
/// The destructor writes pending messages for at most `drain_timeout`, then ends all links. It does not wait for
/// actors' handlers, and may run in one. On an I/O thread of a node it does not wait at all; the links then end a
/// moment later, at the latest when the actor system ends.
/// If an actor system ends while one of its nodes is open, the log names the node. The library calls std::terminate if
/// the node is still open 5 s later. It also does so if an actor's handler still runs on a thread of an ended node 60 s
/// after the actor system began to wait for it.
class TROUPE_EXPORT node {
public:
  /// Opens the store, publishes the names in the options, listens at the options' addresses, and starts the I/O
  /// threads. Options that are not set take their values from the configuration (system_config.hpp, options.md), or
  /// else their defaults. Adds those types of CAF that cross links to `types`. Logs a warning for each registered type
  /// that none of `families` can carry. Blocks while host names are looked up.
  /// Fails with
  /// - `bad_option`: also if a function of `publish` throws, and for every error in the configuration; the text then
  ///   names file and line.
  /// - `name_taken`, `bad_address`.
  /// - `cannot_connect`: an address is in use.
  /// - `timed_out`: a host name was not found in time, or another process holds the lock file of a socket.
  ///
  ///     auto node = troupe::node::open(system, types, families, {.name = "kitchen", .publish = {{"cup", cup}}});
  [[nodiscard]] static std::expected<node, node_error> open(caf::actor_system& system, type_registry& types,
                                                            const family_set& families, node_options options = {});

  /// A moved-from node can only be assigned to or destroyed.
  node(node&&) noexcept;
  node& operator=(node&&) noexcept;
  ~node();

  /// Listens at `address`, or at all of `addresses`, in addition to the addresses at which this node already listens. A
  /// node opened without `node_options::listen` can use it to make and publish its actors before any peer dials.
  /// `node_options::accepted_links` are the options of links that peers dial. If one of several addresses fails, the
  /// node listens at none of them. Blocks while host names are looked up.
  /// Fails with
  /// - `bad_option`, `bad_address`, or as in open with `cannot_connect` or `timed_out`.
  /// - `link_down`: the node is closing.
  /// - `unsupported`: the call is on an I/O thread of a node, such as in a callback of a reconnecting link.
  ///
  ///     auto node = troupe::node::open(system, types, families, {.name = "kitchen"});
  ///     auto published = node->publish("cup", system.spawn(cup, &*node));
  ///     auto listening = node->listen("unix://@kitchen");
  [[nodiscard]] std::expected<void, node_error> listen(std::string_view address);
  [[nodiscard]] std::expected<void, node_error> listen(std::span<const std::string> addresses);
  [[nodiscard]] std::expected<void, node_error> listen(std::initializer_list<std::string_view> addresses);

  /// Lets peers find `actor` under `name`, and keeps the actor alive until the name is unpublished or the node ends. A
  /// peer may look up a name before it is published. A name that must exist from the start belongs in
  /// `node_options::publish`, or is published before `listen`.
  /// Fails with `name_taken`, with `bad_option` if the name has no or more than 1,024 bytes or the actor is null, or
  /// with `link_down` after drain().
  template <class Handle>
  [[nodiscard]] std::expected<void, node_error> publish(std::string name, const Handle& actor) {
    return publish_untyped(std::move(name), caf::actor_cast<caf::strong_actor_ptr>(actor));
  }

  /// Withdraws the name. Returns false if nothing is published under it. Peers that have found the actor keep their
  /// handles.
  bool unpublish(std::string_view name);

  /// From now on sends a troupe::dead_letter (dead_letter.hpp) to `receiver` for each message that a link of this node
  /// could not deliver: it was not sent (no family, no alias, a full or lost link, dropped for a newer one), or it came
  /// and could not be decoded. A null handle ends this. Answers, and messages that were written to a connection before
  /// it was lost, make no letters. At most 1,000 letters and 16 MiB wait for the receiver; further ones are only
  /// counted (node_stats::dead_letters_lost). The same holds for letters about messages that the receiver itself sends.
  /// The node keeps the receiver alive. Fails with `bad_option` for an actor of another process.
  [[nodiscard]] std::expected<void, node_error> dead_letters(const caf::actor& receiver);

  /// From now on passes the spans of sampled messages to `sink`, which replaces the previous one; null ends this. Each
  /// message that is sent over a link of this node without a context begins a sampled trace with the probability
  /// `sample`. Messages with a context keep its decision. An exporter for OTLP is otlp/trace_exporter.hpp. Fails with
  /// `bad_option` if `sample` is not between 0 and 1.
  [[nodiscard]] std::expected<void, node_error> record_spans(std::shared_ptr<span_sink> sink, double sample = 0.01);

  /// Dials a node and performs the handshake. Blocks until the link is open, at most link_options::connect_timeout.
  /// Options that are not set take the values of the configuration for this address, or else their defaults.
  /// Fails with
  /// - `bad_option`, `bad_address`, `cannot_connect`, `refused`, `timed_out`, `protocol_violation`.
  /// - `nothing_in_common`: the text has the lists of both ends.
  /// - `another_peer`: the listener is not the node of link_options::peer_identity.
  /// - `version_mismatch`: the listener speaks another version of the link protocol; the text has both.
  /// - `link_down`: the listener speaks another protocol, or a node is closing.
  /// - `unsupported`: the call is on an I/O thread of a node, such as in a callback of a reconnecting link.
  [[nodiscard]] std::expected<link, node_error> connect(std::string_view address, const link_options& options = {});

  /// Dials now and again each time the link is lost, as the policy says, and reports to the receivers of the events.
  /// Does not block. Options that are not set take the values of the configuration for this address, or else their
  /// defaults.
  /// Fails with
  /// - `bad_option`, `bad_address`: no dial could ever succeed, the policy is invalid, or the listener is an actor of
  ///   another process.
  /// - `link_down`: this node is closing.
  ///
  ///     auto kept = node->keep_connected(address, {.policy = {.longest_pause = 5s}, .events = {.listener = self}});
  [[nodiscard]] std::expected<reconnecting_link, node_error> keep_connected(std::string_view address,
                                                                            reconnect_options options = {});

  /// Returns a handle to the actor that is published as `name` at one of the addresses. The node dials the addresses,
  /// keeps their links, and looks up the name; the first answer counts. If the actor or its link ends, or its name is
  /// withdrawn or published anew, the node looks it up again at all addresses.
  /// - While there is no actor, messages wait in order, as `queue` and `patience` say. Then a request fails with
  ///   `link_busy` or `link_down`; the text says since when and why. Any other message becomes a dead letter.
  /// - If the link is lost, requests under way fail with `link_down`, or are repeated, as `retry` says. Without
  /// `retry`,
  ///   each message is delivered at most once, and the messages of one sender arrive in order.
  /// - Actors that monitor the handle learn when it is given up, not of each interruption; `events` tell of those.
  /// Does not block. Options that are not set take the values of the configuration for each address, or else their
  /// defaults. The handle is an ordinary actor of this process. When the node ends, its messages fail with `link_down`.
  /// Fails with `bad_option`, `bad_address`, or with `link_down` if this node is closing.
  ///
  ///     auto pricer = node->lasting<pricer_actor>({"tcp://a:4400", "tcp://b:4400"}, "pricer", {.patience = 30s});
  template <class Handle = caf::actor>
  [[nodiscard]] std::expected<Handle, node_error> lasting(std::span<const std::string> addresses, std::string name,
                                                          lasting_options options = {}) {
    auto made = lasting_untyped(addresses, std::move(name), system().message_types<Handle>(), std::move(options));
    if (!made)
      return std::unexpected{std::move(made).error()};
    return caf::actor_cast<Handle>(*std::move(made));
  }
  template <class Handle = caf::actor>
  [[nodiscard]] std::expected<Handle, node_error> lasting(std::string_view address, std::string name,
                                                          lasting_options options = {}) {
    const std::string owned{address};
    return lasting<Handle>(std::span{&owned, 1}, std::move(name), std::move(options));
  }
  template <class Handle = caf::actor>
  [[nodiscard]] std::expected<Handle, node_error> lasting(std::initializer_list<std::string_view> addresses,
                                                          std::string name, lasting_options options = {}) {
    const std::vector<std::string> owned(addresses.begin(), addresses.end());
    return lasting<Handle>(std::span{owned}, std::move(name), std::move(options));
  }

  /// Ends the node's work, then closes the node. New peers are not accepted, and all names are withdrawn. Lasting
  /// handles of peers move to another address that has the name. Requests that have come, or still come over open
  /// links, are answered. When all of them are answered, every message is consumed and no more come, the links are
  /// closed, as in the destructor. Blocks for at most `patience`, and then for at most `drain_timeout`. A handler of a
  /// peer's request must not call it, because that request would be waited for. Fails with
  /// - `timed_out`: after `patience`, requests are not answered or messages not consumed; the text says how many. The
  ///   node is closed all the same.
  /// - `unsupported`: the call is on an I/O thread of a node. Nothing has happened.
  /// - `bad_option`: `patience` is negative. Nothing has happened.
  ///
  ///     auto drained = node->drain(5s); // See also drain_on_signal (drain_on_signal.hpp).
  std::expected<void, node_error> drain(std::chrono::milliseconds patience);

  /// The actor system that the node was opened for.
  [[nodiscard]] caf::actor_system& system() const;

  /// The types and the families that the node was opened with.
  [[nodiscard]] const type_registry& types() const;
  [[nodiscard]] const family_set& families() const;

  /// The name that this node was opened with.
  [[nodiscard]] const std::string& name() const;

  /// What no other node has, and this one proves to each peer: 64 hexadecimal digits, chosen when it was opened. With
  /// link_options::peer_identity, a peer makes sure that an address leads to this node.
  [[nodiscard]] std::string identity() const;

  /// The addresses at which this node listens: first those of its options, then those of `listen`, in order. They
  /// contain the ports that the system chose.
  [[nodiscard]] std::vector<std::string> addresses() const;

  /// The open links, both dialed and accepted.
  [[nodiscard]] std::vector<link> links() const;

  /// The totals of all links and of the node.
  [[nodiscard]] node_stats stats() const;
  /// A reference that shows the same totals and may outlive the node.
  [[nodiscard]] weak_node weak() const noexcept;

  /// Puts `value` into one object of the store, or of this process's memory if the node has no store. The node's
  /// `store_families` encode the value; an `array` is stored as it lies in memory. Large parts are copied once, to
  /// their final place. A part that several arrays share is copied once for all of them.
  /// Blocks while it copies. If the store is full, it also waits for room, at most store::options::full_grace (1 s by
  /// default). Actors' handlers may call it; it then occupies their thread for that time.
  /// The new object keeps alive the objects to which `value` refers, at most 1,024 different ones. Referenced objects
  /// on other hosts are fetched in the background. Until they have arrived, the new object lies in this process's
  /// memory. Several new objects that wait in this way may take half of the store's capacity together; a single one may
  /// take all of it. If a referenced object is lost meanwhile, the new object is lost to all other processes.
  /// Referenced objects in a process's memory, or in another store, are copied.
  /// `where` is the call site in the store's summary (TROUPE_RECORD_CALL_SITES).
  /// Fails with
  /// - `store_full`: the store has no room for the bytes or for one more object, or this process has no memory.
  /// - `disk_full`: the spill directory has no room either.
  /// - `object_lost`: an object to which `value` refers is lost, or the store is unusable.
  /// - `timed_out`: a stopped process holds the store's lock.
  /// - `unserializable`: T has no alias; or no family of `store_families` carries the value; or the value contains an
  ///   actor handle, more than 1,024 references, a reference to an object that would have to be copied and contains
  ///   references itself, or a reference that only another node of this process can fetch.
  template <class T>
  [[nodiscard]] std::expected<object_ref<T>, node_error>
  put(const T& value, const std::source_location& where = std::source_location::current()) {
    std::expected<internal::object_state_ptr, node_error> state;
    if constexpr (internal::is_array<T>) {
      using element = typename T::value_type;
      if (!value.is_contiguous()) { // Pack the elements into the new object.
        auto build = make_array<element>(value.shape(), where);
        if (!build)
          return std::unexpected{std::move(build).error()};
        std::ranges::copy(value, build->values().begin());
        return std::move(*build).seal();
      }
      state = put_array(std::as_bytes(value.span()),
                        {.element = internal::element_name<element>(),
                         .shape = {value.shape().begin(), value.shape().end()},
                         .header = {},
                         .frames = {}},
                        where);
    } else {
      state = put_value(typeid(T), &value, where);
    }
    if (!state)
      return std::unexpected{std::move(state).error()};
    return internal::ref_to<T>(*std::move(state));
  }

  /// Reserves room in the store, or in this process's memory, for an array of `count` values, or of `shape`. The
  /// program fills it in place and seals it. Blocks for room as put() does. Fails with `store_full` (no room, or more
  /// values than any memory could hold), `disk_full`, `object_lost` or `timed_out`, as put() does.
  template <array_element T>
  [[nodiscard]] std::expected<array_builder<T>, node_error>
  make_array(std::size_t count, const std::source_location& where = std::source_location::current()) {
    return make_array<T>(std::vector{count}, where);
  }
  template <array_element T>
  [[nodiscard]] std::expected<array_builder<T>, node_error>
  make_array(std::vector<std::size_t> shape, const std::source_location& where = std::source_location::current()) {
    auto room = make_room(shape, sizeof(T), where);
    if (!room)
      return std::unexpected{std::move(room).error()};
    return array_builder<T>{*std::move(room), std::move(shape)};
  }

  /// Requests the value of `ref` for the actor `self`, as an ordinary request: use `then`, `await` or, in blocking
  /// actors, `receive`. The answer is a T or an error, which to_node_error() converts. Arrays in the value are views of
  /// the bytes in place. The actor's own thread decodes the bytes.
  /// Bytes on another host are fetched; without a timeout there is no limit. If the actor ends, its fetch is cancelled.
  /// Until the answer, the actor is kept alive even if nothing refers to it. If the store has moved the object to disk,
  /// the call may restore the object on the calling thread. It then blocks for the disk and for room, as
  /// object_ref::get() with that timeout does.
  /// Fails with `object_lost`, `link_down`, `store_full`, `disk_full`, `fetch_timed_out`, `undecodable`,
  /// `refused_family`, `object_freed` or `unsupported` (the object refers to too many objects), as object_ref::get()
  /// does.
  ///
  ///     node.fetch(self, ref, 5s).then([=](const spoon& value) { ... }, [=](const caf::error& error) { ... });
  template <class Self, class T>
  requires std::is_class_v<Self>
  [[nodiscard]] auto fetch(Self* self, const object_ref<T>& ref,
                           std::optional<std::chrono::milliseconds> timeout = std::nullopt) const {
    return self->request(
        internal::make_fetcher(self->system(), internal::state_of(ref), internal::kind_of<T>(), timeout), caf::infinite,
        caf::unit);
  }
  template <class T>
  [[nodiscard]] auto fetch(const caf::scoped_actor& self, const object_ref<T>& ref,
                           std::optional<std::chrono::milliseconds> timeout = std::nullopt) const {
    return fetch(&*self, ref, timeout);
  }

  /// Reports which objects this node keeps, and why: all objects of its store with their holders, and the objects on
  /// other hosts to which the node refers. The call visits every object, so do not make it often. Of another process,
  /// the summary tells only that it holds an object. To learn why, pass this summary and that of the other process
  /// (link::memory_summary, or `troupe memory`) to combined(). If the node has no store, values in its memory are
  /// listed only if they are pinned out of band. Fails with `object_lost` if the store cannot be read.
  [[nodiscard]] std::expected<troupe::memory_summary, node_error> memory_summary(const memory_query& query = {}) const;

  /// Reports on this node, its links and its types (node_report.hpp), as peers see it through link::report.
  [[nodiscard]] node_report report(const report_query& query) const;

  /// Tells what happens in this node (node_activity.hpp), as peers see it through link::activity.
  [[nodiscard]] node_activity activity(const activity_query& query) const;

  /// Closes or reconfigures a link of this node, or unpins an object, as link::order has a peer's node do it
  /// (node_order in node_activity.hpp), and logs it. The log names `by` as the giver of the order. Blocks while a link
  /// is reconfigured, at most for the timeout. Fails with
  /// - `not_found`: this node has no open link of that number, or no such pin.
  /// - `bad_option`, `nothing_in_common`, `timed_out`, `link_down`: as link::reconfigure.
  /// - `bad_option`: the order lacks what it needs, or has what it does not need.
  std::expected<void, node_error> order(const node_order& what, std::string_view by,
                                        std::chrono::milliseconds timeout = std::chrono::seconds(10));

  /// The attachment to the host's store; null if the node has none.
  [[nodiscard]] const store::object_store* store() const;

  /// @private
  [[nodiscard]] const std::shared_ptr<internal::node_core>& core() const noexcept { return core_; }

private:
  explicit node(std::shared_ptr<internal::node_core> core);
  [[nodiscard]] std::expected<void, node_error> publish_untyped(std::string name, caf::strong_actor_ptr actor);
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> lasting_untyped(std::span<const std::string> addresses,
                                                                                 std::string name,
                                                                                 std::set<std::string> interface,
                                                                                 lasting_options options);
  [[nodiscard]] std::expected<internal::object_state_ptr, node_error>
  put_value(const std::type_info& type, const void* value, const std::source_location& where);
  [[nodiscard]] std::expected<internal::object_state_ptr, node_error>
  put_array(std::span<const std::byte> values, internal::object_layout layout, const std::source_location& where);
  [[nodiscard]] std::expected<std::unique_ptr<internal::object_room>, node_error>
  make_room(std::span<const std::size_t> shape, std::size_t element_bytes, const std::source_location& where);

  std::shared_ptr<internal::node_core> core_; // Null after a move.
};

} // namespace troupe
