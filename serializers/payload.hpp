// Payloads: values in encoded form, with a header that says how.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string_view>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

/// One encoded value. Self-contained: it can be forwarded, or stored and decoded later, as it is.
struct TROUPE_EXPORT payload {
  frame header;              ///< A msgpack map, see header_fields.
  std::vector<frame> frames; ///< Frame 0 is the body; those behind it were left out of band.

  /// Header and frames together.
  [[nodiscard]] std::size_t size_bytes() const;
};

/// What a payload's header says. Views into the header's bytes.
struct header_fields {
  std::string_view family;           ///< "f"
  std::string_view type;             ///< "t": the type's alias.
  std::span<const std::byte> schema; ///< "s": the sender's layout of the type, for families that need it; may be empty,
                                     ///< then the sender's layout must be the receiver's own.
  std::span<const std::byte> extra;  ///< "x": what the codec itself added.
  std::span<const std::byte> frame_codecs;  ///< "z": which frames are compressed, and how; empty: none is.
  std::span<const std::byte> frame_pieces;  ///< "p": which frames are pieces of one; empty: none is.
  std::span<const std::byte> frame_repeats; ///< "r": which frames are earlier ones again; empty: none is.
  std::span<const std::byte> mentions; ///< "h": which handles that the payload around mentions are this one's, too.
};

[[nodiscard]] TROUPE_EXPORT frame make_header(const header_fields& fields);

/// Fields of other names are skipped. Fails with `malformed` or `limit_exceeded`.
[[nodiscard]] TROUPE_EXPORT std::expected<header_fields, serialize_error>
parse_header(std::span<const std::byte> header, const limits& bounds = {});

} // namespace troupe
