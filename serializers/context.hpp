// What every codec is told about the journey of the value it encodes or decodes.
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

/// Whether the elements of a collection, and the alternatives of a variant, are encoded together or one by one, each
/// with the first family that carries it.
enum class iterate : std::uint8_t {
  automatic, ///< Together where a family carries the whole, else one by one.
  elements,  ///< One by one.
  whole,     ///< Together, or not at all.
};

class context_extension;

/// Whose a context_extension or kept_mentions is. Each but `unknown` belongs to one class: who sees it may cast to that
/// class.
enum class extension_kind : std::uint8_t {
  unknown, ///< Of the user's, or a test's.
  link,    ///< Of a message over a link (codec_mentions), or what is kept of one (listed_mentions).
};

/// The handles, and their like, that a payload within another one mentions. Only the outer payload can name them. They
/// are kept beside the inner payload, in the order in which it numbers them.
class TROUPE_EXPORT kept_mentions {
public:
  kept_mentions() = default;
  kept_mentions(const kept_mentions&) = delete;
  kept_mentions& operator=(const kept_mentions&) = delete;
  virtual ~kept_mentions();

  [[nodiscard]] virtual extension_kind kind() const noexcept { return extension_kind::unknown; }
  /// What the payload is decoded with. Must not outlive this.
  [[nodiscard]] virtual std::unique_ptr<context_extension> reading() const = 0;
};

/// Base of what the user of this folder hands to codecs of types that it knows itself, such as a link's tables.
class TROUPE_EXPORT context_extension {
public:
  context_extension() = default;
  context_extension(const context_extension&) = delete;
  context_extension& operator=(const context_extension&) = delete;
  virtual ~context_extension();

  [[nodiscard]] virtual extension_kind kind() const noexcept { return extension_kind::unknown; }

  /// Encoding: for a payload within this one, which shall mean the same wherever it is passed on to: it collects what
  /// that payload mentions. Null: such a payload can mention nothing. Default: null.
  [[nodiscard]] virtual std::unique_ptr<context_extension> for_part();
  /// Of one that for_part() gave: what was mentioned; null where nothing was.
  [[nodiscard]] virtual std::shared_ptr<const kept_mentions> kept() const;
  /// Encoding: mentions in this payload all that one within it does. Gives what the header of the inner one says of
  /// it. Default: fails.
  [[nodiscard]] virtual std::expected<std::vector<std::byte>, serialize_error> mention_all(const kept_mentions& what);
  /// Decoding: what a payload within this one mentions, by what its header says. Default: fails.
  [[nodiscard]] virtual std::expected<std::shared_ptr<const kept_mentions>, serialize_error>
  find_all(std::span<const std::byte> note);
};

/// Handed to every codec. Valid for one call only; codecs keep neither the context nor its texts.
struct context {
  std::string_view sender;    ///< Who sends, as text; empty when nobody in particular. Over a link the node's name,
                              ///< which other nodes may have as well.
  std::string_view recipient; ///< Who receives.
  /// Over a link: where the two ends are, in the form in which nodes listen ("tcp://10.0.0.2:4000"), as this end's
  /// connection has it. Empty where an end has no address: a unix socket's dialing end, and that of an inproc link.
  std::string_view sender_address;
  std::string_view recipient_address;
  /// Over a link: the ids of the two nodes. No two actor systems have the same, nor has one that was started again.
  std::string_view sender_node;
  std::string_view recipient_node;
  /// Over a link: by what the references of a node are told from those of its predecessors; 0 for one without a store.
  std::uint64_t sender_incarnation = 0;
  std::uint64_t recipient_incarnation = 0;
  std::string_view transport; ///< "unix", "tcp", ...; empty outside a link.
  bool same_host = false;
  bool shared_store = false;                           ///< Both ends have one store open and agreed to use it.
  troupe::compression compression = compression::none; ///< Encoding: of large frames; none where a store is shared.
  troupe::limits limits;
  context_extension* extension = nullptr;
  /// Whether shared pointers may form circles, in either direction. Such objects keep each other alive until somebody
  /// cuts the circle: links refuse them unless link_options::allow_cycles says otherwise.
  bool allow_cycles = true;
  /// Decoding: where the circles that arrive are counted, which bounds them. Null: nowhere. Outlives the call.
  circle_account* circles = nullptr;
  /// Where types are found by what a value says of itself: pointers to derived classes by their alias, and types
  /// without a description that have a codec of the registry's. Null: neither can travel. Outlives the call.
  const type_registry* types = nullptr;
  /// Encoding: the families for payloads inside this one, in order. Decoding: those that are accepted there.
  std::span<const family* const> families;
  troupe::iterate iterate = troupe::iterate::automatic;
  /// Keeps the value that is being encoded alive and unchanged: when set, contiguous arrays inside the value leave as
  /// frames that borrow the value's own memory. When null they are copied.
  std::shared_ptr<const frame_owner> value_owner;
  /// Decoding: how many of the frames' bytes are those of earlier frames again. The sender has not spent them.
  std::size_t repeated_bytes = 0;
  /// Decoding a payload inside another: all that it holds was found to be of accepted families.
  bool parts_are_checked = false;
  /// Where the memory is added that decoding takes: decoding adds what it has charged, encoding what a receiver of the
  /// same types will charge. Null: nowhere. Outlives the call.
  std::size_t* taken_bytes = nullptr;
};

} // namespace troupe
