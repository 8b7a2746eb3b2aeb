// The context of a codec: the sender and receiver of the value, the link between them, and the limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/compression.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

class circle_account;
class family;
class type_registry;

/// Whether the elements of a collection, and the alternative of a variant, are encoded together or one by one. If one
/// by one, each is encoded by the first family that carries it.
enum class iterate : std::uint8_t {
  automatic, ///< Together if a family carries the whole value, else one by one.
  elements,  ///< One by one.
  whole,     ///< Together; fails if no family carries the whole value.
};

class context_extension;

/// The origin of a context_extension or kept_mentions. Each kind except `unknown` belongs to one class, to which the
/// object may be cast.
enum class extension_kind : std::uint8_t {
  unknown, ///< A class of the user or of a test.
  link,    ///< Belongs to a message over a link (codec_mentions), or was kept from one (listed_mentions).
};

/// The handles and similar references that a nested payload mentions. Only the outer payload can name them. Therefore
/// they are kept beside the inner payload, in the order in which the inner payload numbers them.
class TROUPE_EXPORT kept_mentions {
public:
  kept_mentions() = default;
  kept_mentions(const kept_mentions&) = delete;
  kept_mentions& operator=(const kept_mentions&) = delete;
  virtual ~kept_mentions();

  [[nodiscard]] virtual extension_kind kind() const noexcept { return extension_kind::unknown; }
  /// The extension for decoding that payload. Must not outlive this object.
  [[nodiscard]] virtual std::unique_ptr<context_extension> reading() const = 0;
};

/// Base class for state that a caller hands to the codecs of its own types, such as the tables of a link. Used by one
/// encoding or decoding at a time.
class TROUPE_EXPORT context_extension {
public:
  context_extension() = default;
  context_extension(const context_extension&) = delete;
  context_extension& operator=(const context_extension&) = delete;
  virtual ~context_extension();

  [[nodiscard]] virtual extension_kind kind() const noexcept { return extension_kind::unknown; }

  /// Encoding: returns an extension that collects the mentions of a nested payload, so that the payload's bytes stay
  /// valid wherever it is passed on. Null: such a payload cannot mention anything. Default: null.
  [[nodiscard]] virtual std::unique_ptr<context_extension> for_part();
  /// The mentions collected by an extension that for_part() returned; null if there are none.
  [[nodiscard]] virtual std::shared_ptr<const kept_mentions> kept() const;
  /// Encoding: mentions in this payload everything that the nested payload mentions. Returns the note for the header of
  /// the nested payload. Default: fails with `out_of_band_handle`.
  [[nodiscard]] virtual std::expected<std::vector<std::byte>, serialize_error> mention_all(const kept_mentions& what);
  /// Decoding: finds the mentions of a nested payload by the note in its header. Default: fails with
  /// `out_of_band_handle`.
  [[nodiscard]] virtual std::expected<std::shared_ptr<const kept_mentions>, serialize_error>
  find_all(std::span<const std::byte> note);
};

/// Handed to every codec. Valid for one call only: a codec must keep neither the context nor its texts.
struct context {
  std::string_view sender; ///< The sender, for texts. Over a link, the node's name, which is not unique. May be empty.
  std::string_view recipient; ///< The receiver, likewise.
  /// Over a link: the addresses of the two ends, in the form in which nodes listen ("tcp://10.0.0.2:4000"), as this
  /// end's connection reports them. Empty if an end has no address: the dialing end of a unix socket, and the dialing
  /// end of an inproc link.
  std::string_view sender_address;
  std::string_view recipient_address;
  /// Over a link: the ids of the two nodes. Unique per actor system; after a restart, an actor system has a new id.
  std::string_view sender_node;
  std::string_view recipient_node;
  /// Over a link: numbers that distinguish a node's references from those of its predecessors. 0 for a node without a
  /// store.
  std::uint64_t sender_incarnation = 0;
  std::uint64_t recipient_incarnation = 0;
  std::string_view transport; ///< "unix", "tcp", ...; empty outside a link.
  bool same_host = false;
  bool shared_store = false; ///< Both ends have the same store open and have agreed to use it.
  troupe::compression compression = compression::none; ///< Encoding: for large frames. None if a store is shared.
  troupe::limits limits;
  context_extension* extension = nullptr;
  /// Whether shared pointers may form cycles, in encoding and decoding. The objects of a cycle keep each other alive
  /// until the program breaks the cycle. Therefore links refuse cycles unless link_options::allow_cycles is set.
  bool allow_cycles = true;
  /// Whether values may contain references to objects, also empty ones, which the receiver has to count or to find. If
  /// not, they are refused, in encoding and decoding.
  bool allow_references = true;
  /// Decoding: counts and limits the memory of cycles that arrive. Null: not counted. Must outlive the call.
  circle_account* circles = nullptr;
  /// The registry for types that a value itself names: classes behind pointers to a base, by their alias, and types
  /// that have a codec in the registry but no description. Null: neither can travel. Must outlive the call.
  const type_registry* types = nullptr;
  /// Encoding: the families for nested payloads, in order of preference. Decoding: the families that are accepted in
  /// nested payloads.
  std::span<const family* const> families;
  troupe::iterate iterate = troupe::iterate::automatic;
  /// Keeps the encoded value alive and unchanged. If it is set, contiguous arrays inside the value leave as frames that
  /// borrow the value's memory. If it is null, they are copied.
  std::shared_ptr<const frame_owner> value_owner;
  /// Decoding: the number of bytes of the frames that repeat earlier frames. The sender has not sent these bytes, so
  /// they do not raise the memory budget.
  std::size_t repeated_bytes = 0;
  /// Decoding a nested payload: whether all payloads inside it are known to be of accepted families.
  bool parts_are_checked = false;
  /// A counter of the memory that decoding takes, in bytes. Decoding adds the bytes that it has charged. Encoding adds
  /// the bytes that a receiver of the same types will charge. Null: not counted. Must outlive the call.
  std::size_t* taken_bytes = nullptr;
};

} // namespace troupe
