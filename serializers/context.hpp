// What every codec is told about the journey of the value it encodes or decodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <troupe/framework/base/export.hpp>
#include <troupe/serializers/compression.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/limits.hpp>

namespace troupe {

class family;
class type_registry;

/// Whether the elements of a collection, and the alternatives of a variant, are encoded together or one by one, each
/// with the first family that carries it.
enum class iterate : std::uint8_t {
  automatic, ///< Together where a family carries the whole, else one by one.
  elements,  ///< One by one.
  whole,     ///< Together, or not at all.
};

/// Base of what the user of this folder hands to codecs of types that it knows itself, such as a link's tables.
class TROUPE_EXPORT context_extension {
public:
  context_extension() = default;
  context_extension(const context_extension&) = delete;
  context_extension& operator=(const context_extension&) = delete;
  virtual ~context_extension();
};

/// Handed to every codec. Valid for one call only; codecs keep neither the context nor its texts.
struct context {
  std::string_view sender;    ///< Who sends, as text; empty when nobody in particular.
  std::string_view recipient; ///< Who receives.
  std::string_view transport; ///< "unix", "tcp", ...; empty outside a link.
  bool same_host = false;
  bool shared_store = false;                           ///< Both ends have one store open and agreed to use it.
  troupe::compression compression = compression::none; ///< Encoding: of large frames; none where a store is shared.
  troupe::limits limits;
  context_extension* extension = nullptr;
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
};

} // namespace troupe
