// One process's end of the network. Start reading here.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <expected>
#include <initializer_list>
#include <memory>
#include <optional>
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
#include <troupe/framework/link.hpp>
#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/message_types.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/node_view.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/framework/out_of_band.hpp>
#include <troupe/framework/publication.hpp>
#include <troupe/framework/reconnect.hpp>
#include <troupe/framework/spawning.hpp>
#include <troupe/framework/system_config.hpp>
#include <troupe/framework/task.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_registry.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe {

/// Owns the links of one actor system, the names under which its actors are found, and its attachment to the host's
/// store. Actors at the other end of a link are ordinary CAF actors.
///
/// Threads: every member from any thread; connect blocks and is not for actors' handlers.
/// Lifetime: declare the registry and the families first, then the actor system, then the node, so that they end in the
/// opposite order: the node refers to all three, actors' messages and object_refs to the former two. Its end writes out
/// what was sent, for the time that the options give, then ends all links. It does not wait for handlers of actors, and
/// may come in one. Where it comes with the last reference to something that a link drops, the links end a
/// moment later, within the actor system's end at the latest. An actor system that ends while a node of it is open ends
/// the process after five seconds, and the log names the node at once.
class TROUPE_EXPORT node {
public:
  /// Opens the store, publishes what the options name, listens where they say, and starts the I/O threads. The registry
  /// gets the types of CAF that cross links; clashes found in it so far are reported now.
  /// Fails with `bad_option` (also where a function of `publish` throws), `name_taken`, `bad_address` or
  /// `cannot_connect` (somebody else listens there).
  [[nodiscard]] static std::expected<node, node_error> open(caf::actor_system& system, type_registry& types,
                                                            const family_set& families, node_options options);

  /// The same with what the configuration says (system_config.hpp, options.md), all of which is checked now: an error
  /// names file and line. Options in code win as a whole: where they are given, the configuration is not looked at.
  [[nodiscard]] static std::expected<node, node_error> open(caf::actor_system& system, type_registry& types,
                                                            const family_set& families) {
    return open_as_configured(system, types, families, {});
  }

  /// The same with what no file can say: `publish` is as node_options::publish.
  ///
  ///     node::open(system, types, families, std::vector<troupe::publication>{{"cup", cup}});
  template <std::same_as<std::vector<publication>> Publications> // A template, so that {} means node_options.
  [[nodiscard]] static std::expected<node, node_error> open(caf::actor_system& system, type_registry& types,
                                                            const family_set& families, Publications publish) {
    return open_as_configured(system, types, families, std::move(publish));
  }

  /// What was moved from can only be assigned to, or destroyed.
  node(node&&) noexcept;
  node& operator=(node&&) noexcept;
  ~node();

  /// Listens at `address`, or at all of `addresses`, beside where this node listens already: for a node that was opened
  /// without `node_options::listen`, so that its actors could be made with the node at hand and published before
  /// anybody dials. Peers come in on the terms of `node_options::accepted_links`. Where one of several addresses fails,
  /// the node listens at none of them. May wait while a host's name is looked up: not for actors' handlers. Fails with
  /// `bad_option`, `bad_address`, `cannot_connect` (somebody listens there already), `link_down` (the node is closing),
  /// or `unsupported` in a callback of a kept link.
  ///
  ///     auto node = troupe::node::open(system, types, families, {.name = "kitchen"});
  ///     auto published = node->publish("cup", system.spawn(cup, &*node));
  ///     auto listening = node->listen("unix://@kitchen");
  [[nodiscard]] std::expected<void, node_error> listen(std::string_view address);
  [[nodiscard]] std::expected<void, node_error> listen(std::span<const std::string> addresses);
  [[nodiscard]] std::expected<void, node_error> listen(std::initializer_list<std::string_view> addresses);

  /// Lets peers find `actor` under `name`, and keeps it alive until unpublished. A peer may ask before: what has to be
  /// there from the first moment on belongs into `node_options::publish`, or in front of `listen`. Fails with
  /// `name_taken` or `bad_option`.
  template <class Handle>
  [[nodiscard]] std::expected<void, node_error> publish(std::string name, const Handle& actor) {
    return publish_untyped(std::move(name), caf::actor_cast<caf::strong_actor_ptr>(actor));
  }

  /// False when nothing had that name. Peers that found the actor keep it.
  bool unpublish(std::string_view name);

  /// Dials a node and shakes hands. Fails with `bad_option`, `bad_address`, `cannot_connect`, `refused`,
  /// `nothing_in_common` (both lists are in the text), `timed_out`, `link_down` (whoever listens there says something
  /// else) or `protocol_violation`; with `unsupported` in a callback of a kept link, where nothing may wait.
  [[nodiscard]] std::expected<link, node_error> connect(std::string_view address, const link_options& options);

  /// The same with what the configuration says about links to that address, or else about all.
  [[nodiscard]] std::expected<link, node_error> connect(std::string_view address);

  /// Dials now, without blocking, and again whenever the link is lost, as the policy says; `events` tell. Fails with
  /// `bad_option` or `bad_address` for what could never lead to a link. Without options and policy it takes those of
  /// the configuration.
  ///
  ///     auto kept = node->keep_connected(address, {}, {.longest_pause = 5s}, {.listener = self});
  [[nodiscard]] std::expected<kept_link, node_error> keep_connected(std::string_view address,
                                                                    const link_options& options,
                                                                    const reconnect_policy& policy,
                                                                    link_events events = {});
  [[nodiscard]] std::expected<kept_link, node_error> keep_connected(std::string_view address, link_events events = {});

  /// Where this node listens: the addresses of its options, then those of `listen`, in their order, with the ports that
  /// the system chose.
  [[nodiscard]] std::vector<std::string> addresses() const;

  /// The open links, dialed and accepted ones.
  [[nodiscard]] std::vector<link> links() const;

  /// What all links together have done, and more. `view` sees the same, and may outlive the node.
  [[nodiscard]] node_stats stats() const;
  [[nodiscard]] node_view view() const noexcept;

  /// Puts `value` into one object of the store (into this process's memory where the node has none), encoded by the
  /// node's `store_families`; an `array` lies there as it is. What is large in it is copied once, to where it stays,
  /// and what several arrays share once for all of them. Objects that it has references to, at most 1,024, live as long
  /// as this one. Those on other hosts are fetched meanwhile, without waiting here: until they have come the new object
  /// lies in this process's memory, where half of the store's capacity is for all such objects; when one of them is
  /// lost, the new one is lost to all other processes. What a value refers to in a process's memory, or in another
  /// store, is copied.
  /// `where` is for the store's summary (TROUPE_RECORD_CALL_SITES). Fails with `store_full`, `disk_full`,
  /// `unserializable`, `object_lost` (of something that it refers to), or `timed_out`: a process that was stopped holds
  /// the store's lock.
  template <class T>
  [[nodiscard]] std::expected<object_ref<T>, node_error>
  put(const T& value, const std::source_location& where = std::source_location::current()) {
    std::expected<internal::object_state_ptr, node_error> state;
    if constexpr (internal::is_array<T>) {
      using element = typename T::value_type;
      if (!value.is_contiguous()) { // Packed into its place.
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
    return object_ref<T>{*std::move(state)};
  }

  /// Room in the store for an array of `count` values, or of that shape, to be filled in place and sealed. Fails with
  /// `store_full` (no room, or so many that no memory could hold them), `disk_full` or `timed_out`, as put().
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

  /// The value of `ref` for the actor `self`, as an ordinary request of it: `then`, `await` or, in blocking actors,
  /// `receive`. The answer is a T, its arrays views of the bytes where they lie, or an error: what object_ref::get()
  /// fails with, as `to_caf_error` makes it. It becomes a value in the actor's own thread. Bytes on another host are
  /// fetched, without end where no time is given; at the actor's end the fetch is cancelled. An actor that nobody
  /// refers to is kept until it is answered. `link_down`: the node has ended.
  ///
  ///     node.fetch(self, ref, 5s).then([=](const spoon& value) { ... }, [=](const caf::error& error) { ... });
  template <class Self, class T>
  requires std::is_class_v<Self>
  [[nodiscard]] auto fetch(Self* self, const object_ref<T>& ref,
                           std::optional<std::chrono::milliseconds> timeout = std::nullopt) const {
    return self->request(internal::make_fetcher(self->system(), ref.state(), internal::kind_of<T>(), timeout),
                         caf::infinite, caf::unit);
  }
  template <class T>
  [[nodiscard]] auto fetch(const caf::scoped_actor& self, const object_ref<T>& ref,
                           std::optional<std::chrono::milliseconds> timeout = std::nullopt) const {
    return fetch(&*self, ref, timeout);
  }

  /// What this node keeps and why: all of its store's objects, with who holds them, and what it has references to on
  /// other hosts. Looks at everything: meant for once in a while. Of other processes it says that they hold an object,
  /// not why; `combined` with theirs (link::memory_summary, or `troupe memory`) it does. Values in the memory of a node
  /// without a store are not listed, but for those that are pinned out of band. Fails with `object_lost` where the
  /// store cannot be asked.
  [[nodiscard]] std::expected<troupe::memory_summary, node_error> memory_summary(const memory_query& query = {}) const;

  /// What it says of itself, its links and its types (inspection.hpp), as peers see it by link::report.
  [[nodiscard]] node_report report(const report_query& query) const;

  /// The attachment to the host's store; null where the options say none.
  [[nodiscard]] const store::object_store* store() const;

private:
  explicit node(std::shared_ptr<internal::node_core> core);
  [[nodiscard]] static std::expected<node, node_error> open_as_configured(caf::actor_system& system,
                                                                          type_registry& types,
                                                                          const family_set& families,
                                                                          std::vector<publication> publish);
  [[nodiscard]] std::expected<void, node_error> publish_untyped(std::string name, caf::strong_actor_ptr actor);
  [[nodiscard]] std::expected<internal::object_state_ptr, node_error>
  put_value(const std::type_info& type, const void* value, const std::source_location& where);
  [[nodiscard]] std::expected<internal::object_state_ptr, node_error>
  put_array(std::span<const std::byte> values, internal::object_layout layout, const std::source_location& where);
  [[nodiscard]] std::expected<std::unique_ptr<internal::object_room>, node_error>
  make_room(std::span<const std::size_t> shape, std::size_t element_bytes, const std::source_location& where);

  std::shared_ptr<internal::node_core> core_; // Null after a move.
};

} // namespace troupe
