// HTTP and WebSocket for programs that are not C++: they send messages to this program's actors as JSON, and read
// objects of its store. README.md beside this file describes what clients see.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/atom.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include <troupe/base/export.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/gateway/view.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/serializers/array.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe {

struct gateway_options {
  /// The address to listen at: "127.0.0.1:8080", "[::1]:8080", "localhost:8080", or a bare port, which means 127.0.0.1.
  /// With port 0 the system chooses a port. At an address that is not loopback, tokens travel in the clear unless
  /// `certificate_file` is set, and open() logs a warning.
  std::string address = "127.0.0.1:0";

  /// The file with the clients' tokens and their rights; README.md describes it. It must belong to this user or root,
  /// and no other user may have access to it (mode 0600). No request is answered without a token.
  std::string token_file;

  /// Names that clients may use for this gateway in the header Host, besides the listening address and, for loopback,
  /// "localhost". A request that names another host is refused, so that a web page cannot reach the gateway by a name
  /// of its own (DNS rebinding). A name without a port stands for the listening port. Add the port 80 (with TLS 443)
  /// for clients that name no port.
  std::vector<std::string> hosts;

  /// Web pages that may use the gateway, as the header Origin names them: "https://example.org". Requests and
  /// WebSockets of other pages are refused. Pages that the gateway itself has served may always use it.
  std::vector<std::string> origins;

  /// A certificate chain and its private key, as PEM files: clients must then use TLS. Both or none.
  std::string certificate_file;
  std::string key_file;

  /// Threads that serve connections. Higher: more requests a second on a host with free processors.
  std::size_t threads = 1;

  /// The time for an actor's answer if the request names none, and the longest time that a request may name.
  std::chrono::milliseconds answer_timeout = std::chrono::seconds(30);
  std::chrono::milliseconds answer_timeout_max = std::chrono::minutes(5);

  /// Limits of what clients can make this process hold. Higher: more is possible, and each client can take more.
  std::size_t connections_max = 512;             ///< At this number, a new connection replaces the longest idle one.
  std::size_t connections_per_address_max = 128; ///< Open connections from one address; further ones are closed.
  std::size_t body_bytes_max = 1_MiB;            ///< The JSON of one request, or one message of a WebSocket.
  std::size_t answer_bytes_max = 16_MiB;         ///< The JSON of one answer.
  std::size_t depth_max = 64;                    ///< Nested lists and objects in JSON.
  std::size_t socket_requests_max = 64;    ///< Messages of a WebSocket that are not answered or consumed. More wait.
  std::size_t socket_questions_max = 64;   ///< Requests of the program that a WebSocket's client has not answered.
  std::size_t socket_outbox_bytes = 4_MiB; ///< Unread by a WebSocket's client; beyond that, the socket is closed.
  /// The memory of one token's messages that actors have not consumed. Beyond that, its messages are refused with
  /// `link_busy`, unless no other one is there.
  std::size_t unconsumed_bytes_max = 64_MiB;
  /// What all clients together have not read of texts of at least 4 KiB and of their outboxes. Beyond that, the
  /// connection that has most of it is closed. Must not be less than `answer_bytes_max` and `socket_outbox_bytes`.
  std::size_t unread_bytes_max = 256_MiB;
  std::size_t object_bytes_max = 64_MiB;                           ///< One object that a client makes.
  std::size_t objects_per_token_max = 1'000;                       ///< Objects that one token has made and not deleted.
  std::chrono::seconds object_lifetime = std::chrono::minutes(10); ///< Of an object that a client has made.
  double requests_per_second = 5'000;  ///< Of one token, in the long run; further ones are refused.
  double requests_burst = 5'000;       ///< Requests that a token may send at once before that rate counts.
  std::size_t guesses_per_minute = 30; ///< Wrong tokens from one address that are answered at once.

  /// Times after which a client that does not go on loses its connection.
  std::chrono::milliseconds header_timeout = std::chrono::seconds(10); ///< From the first byte to the end of a header;
                                                                       ///< also a WebSocket's life without a token.
  std::chrono::milliseconds body_timeout = std::chrono::seconds(30);   ///< For the body, and 1 s more per 32 KiB.
  std::chrono::milliseconds write_timeout = std::chrono::seconds(30);  ///< For the client to take 256 KiB.
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(60);   ///< Between the requests of a connection.
};

/// One kind of message that an exposed actor takes: the aliases of the types of its values, and of its answer's values.
/// An alias in single quotes stands for the atom of that text, such as "'stir'".
struct exposed_message {
  std::vector<std::string> takes;
  std::vector<std::string> gives;
};

/// What clients are told of an exposed actor.
struct exposure {
  /// For people, in the schema.
  std::string description = {};
  /// The messages that clients may send. Empty: all that can be decoded. For a typed actor, expose() fills this in.
  std::vector<exposed_message> messages = {};
};

/// What a gateway has done so far.
struct gateway_stats {
  std::uint64_t connections_open = 0;
  std::uint64_t connections = 0;      ///< Accepted so far.
  std::uint64_t connections_shed = 0; ///< Closed to make room for others, or because there was none.
  std::uint64_t connections_cut = 0;  ///< Closed because their clients did not read (`unread_bytes_max`).
  std::uint64_t unread_bytes = 0;     ///< What counts against `unread_bytes_max` now.
  std::uint64_t sockets_open = 0;     ///< WebSockets among the open connections.
  std::uint64_t requests = 0;         ///< Answered, also by a refusal.
  std::uint64_t refused = 0;          ///< Requests that were answered by a status of 400 or more.
  std::uint64_t wrong_tokens = 0;
  std::uint64_t objects = 0;             ///< Exposed now, or made by clients and not gone yet.
  std::uint64_t client_object_bytes = 0; ///< Of the objects that clients have made.
};

namespace web {

class gateway_core;

/// The bytes of an exposed object, and how clients read them.
struct object_page {
  std::string head; // Precedes the bytes.
  frame bytes;
  std::string content_type;
};

/// Loads a page. Blocks for as long as object_ref::get() does with that timeout.
using page_loader = std::function<std::expected<object_page, node_error>(std::chrono::milliseconds timeout)>;

/// The page of an array: the bytes themselves for arrays of bytes, else the format .npy of numpy.
[[nodiscard]] TROUPE_EXPORT object_page array_page(const frame& elements, number_kind kind, bool is_bytes,
                                                   const std::vector<std::size_t>& shape);
/// The page of another value: the JSON of the family `json`.
[[nodiscard]] TROUPE_EXPORT std::expected<object_page, node_error>
value_page(std::type_index type, const void* value, const type_registry& types, const family_set& families);

/// Keeps an array's elements for a frame that borrows them.
template <array_element T>
struct kept_array final : frame_owner {
  explicit kept_array(array<T> elements) : value(std::move(elements)) {}
  const array<T> value;
};

template <array_element T>
[[nodiscard]] object_page page_of(const array<T>& value) {
  const auto kept = std::make_shared<const kept_array<T>>(value.contiguous());
  return array_page(frame(std::as_bytes(kept->value.span()), kept), kind_of<T>,
                    std::is_same_v<T, std::byte> || std::is_same_v<T, char>, kept->value.shape());
}

/// The type of a value in a message of a typed actor.
struct signature_part {
  std::type_index type;
  std::string atom; // Not empty: the value is this atom.
};
template <class T>
struct part_of_signature {
  static signature_part make() { return {typeid(T), {}}; }
};
template <caf::atom_value Atom>
struct part_of_signature<caf::atom_constant<Atom>> {
  static signature_part make() { return {typeid(caf::atom_value), caf::to_string(Atom)}; }
};

struct signature_types {
  std::vector<signature_part> takes;
  std::vector<signature_part> gives;
};
template <class Signature>
struct types_of_signature;
template <class... Ins, class... Outs>
struct types_of_signature<caf::typed_mpi<caf::detail::type_list<Ins...>, caf::output_tuple<Outs...>>> {
  static signature_types all() { return {{part_of_signature<Ins>::make()...}, {part_of_signature<Outs>::make()...}}; }
};
template <class Handle>
struct types_of_actor {
  static std::vector<signature_types> all() { return {}; }
};
template <class... Signatures>
struct types_of_actor<caf::typed_actor<Signatures...>> {
  static std::vector<signature_types> all() { return {types_of_signature<Signatures>::all()...}; }
};

} // namespace web

/// Serves HTTP and WebSockets: messages to actors that the program exposes, and bytes of objects that it exposes.
///
/// Threads: any thread may call every member. open(), drain() and the destructor block; do not call them in actors'
/// handlers. The gateway has `gateway_options::threads` threads for connections, one that reads long texts of JSON, and
/// two that wait for the store. Lifetime: the node must outlive the gateway and must not be moved meanwhile. The
/// destructor cuts all connections, see drain(); actors that monitor the handle of a WebSocket are told.
class TROUPE_EXPORT gateway {
public:
  /// Reads the tokens and listens. Logs a warning if the process may not open as many files as it may have connections,
  /// and 32 more (RLIMIT_NOFILE).
  /// Fails with
  /// - `bad_option`: the token file or a certificate cannot be used, or other users have access to it; or a limit is 0.
  /// - `bad_address`, or `cannot_connect` if the address is in use.
  ///
  ///     auto gateway = troupe::gateway::open(*node, {.address = "127.0.0.1:8080", .token_file = "tokens"});
  [[nodiscard]] static std::expected<gateway, node_error> open(node& of, gateway_options options);

  gateway(gateway&&) noexcept;
  gateway& operator=(gateway&&) noexcept;
  ~gateway();

  /// Lets clients whose tokens may do so send messages to `actor`, as /actors/NAME. Keeps the actor alive until it is
  /// withdrawn. Exposing a name again replaces its actor, also for open WebSockets.
  /// Fails with `bad_option` if the name is empty, longer than 200 bytes or contains anything but letters, digits,
  /// '-', '_' and '.', or if the actor is null; or with `unserializable` if a type of a message has no alias.
  template <class Handle>
  [[nodiscard]] std::expected<void, node_error> expose(std::string name, const Handle& actor, exposure how = {}) {
    return expose_actor(std::move(name), caf::actor_cast<caf::actor>(actor), std::move(how),
                        web::types_of_actor<Handle>::all());
  }
  /// Returns false if no actor is exposed under that name. Open WebSockets to it get errors from now on.
  bool withdraw(std::string_view name);

  /// Lets clients whose tokens may do so read the object as /objects/ID. Keeps the object alive until it is withdrawn.
  /// An array is served as it lies in the store: arrays of std::byte and char as their bytes, all other arrays in the
  /// format .npy. Any other value is served as JSON. Exposing an id again replaces its object.
  /// Fails with `bad_option` if the id is not as a name must be for expose(), or if the reference is empty.
  template <class T>
  [[nodiscard]] std::expected<void, node_error> expose_object(std::string id, const object_ref<T>& object) {
    auto load = [object, this_types = &types(), this_families = &families()](
                    std::chrono::milliseconds timeout) -> std::expected<web::object_page, node_error> {
      auto value = object.get(timeout);
      if (!value)
        return std::unexpected{std::move(value).error()};
      if constexpr (internal::is_array<T>)
        return web::page_of(*value);
      else
        return web::value_page(typeid(T), &*value, *this_types, *this_families);
    };
    return expose_page(std::move(id), object.empty(), std::move(load));
  }
  /// Returns false if no object is exposed under that id.
  bool withdraw_object(std::string_view id);

  /// Serves the page at /view, which shows what the source tells (view.hpp). Clients need the right `view`, and `act`
  /// for orders. Calling it again replaces the source. Nothing is asked, and no thread runs, while nobody looks, except
  /// one that waits. Requires: `source` is not null.
  void serve_view(std::shared_ptr<view_source> source);
  /// Serves the page for the gateway's own node. With `takes_orders`, holders of the right `act` may close and
  /// reconfigure its links, and free its out-of-band pins.
  void serve_own_view(bool takes_orders = false);

  /// Reads the token file again. Connections keep their tokens' old rights for the requests under way. Fails with
  /// `bad_option` as open() does; the old tokens then stay.
  [[nodiscard]] std::expected<void, node_error> reload_tokens();

  /// Ends the gateway's work. No client is accepted any more, and idle connections are closed. Requests under way are
  /// answered, and their connections closed then; so are WebSockets once none of their requests and messages is under
  /// way (close code 1001). Blocks for at most `patience`. Afterwards the gateway serves nobody; destroy it.
  /// Fails with `timed_out` if connections are left after `patience`; the text says how many. They are cut by the
  /// destructor.
  ///
  ///     auto drained = gateway->drain(5s);
  std::expected<void, node_error> drain(std::chrono::milliseconds patience);

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Such as "http://127.0.0.1:8080".
  [[nodiscard]] const std::string& url() const noexcept;
  [[nodiscard]] gateway_stats stats() const;

private:
  explicit gateway(std::shared_ptr<web::gateway_core> core);
  [[nodiscard]] std::expected<void, node_error> expose_actor(std::string name, caf::actor actor, exposure how,
                                                             const std::vector<web::signature_types>& typed);
  [[nodiscard]] std::expected<void, node_error> expose_page(std::string id, bool is_empty, web::page_loader load);
  [[nodiscard]] const type_registry& types() const;
  [[nodiscard]] const family_set& families() const;

  std::shared_ptr<web::gateway_core> core_; // Null after a move.
};

} // namespace troupe
