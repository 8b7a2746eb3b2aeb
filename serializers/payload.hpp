// Payloads: values in encoded form, with a header that describes the form.
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

/// One encoded value. Self-contained: it can be forwarded unchanged, or stored and decoded later.
struct TROUPE_EXPORT payload {
  frame header;              ///< A msgpack map, see header_fields.
  std::vector<frame> frames; ///< Frame 0 is the body; the others are out of band.

  /// Header and frames together.
  [[nodiscard]] std::size_t size_bytes() const;
};

/// The content of a payload's header. Views into the header's bytes.
struct header_fields {
  std::string_view family;           ///< "f"
  std::string_view type;             ///< "t": the type's alias.
  std::span<const std::byte> schema; ///< "s": the sender's layout of the type, for families that need it. If empty, the
                                     ///< receiver assumes its own layout.
  std::span<const std::byte> extra;  ///< "x": what the codec itself added.
  std::span<const std::byte> frame_codecs;  ///< "z": which frames are compressed, and how; empty: none.
  std::span<const std::byte> frame_pieces;  ///< "p": which frames are pieces of one; empty: none.
  std::span<const std::byte> frame_repeats; ///< "r": which frames repeat earlier ones; empty: none.
  std::span<const std::byte> mentions;      ///< "h": which of the outer payload's handles this payload mentions.
};

[[nodiscard]] TROUPE_EXPORT frame make_header(const header_fields& fields);

/// Skips fields of other names. Fails with `malformed` or `limit_exceeded`.
[[nodiscard]] TROUPE_EXPORT std::expected<header_fields, serialize_error>
parse_header(std::span<const std::byte> header, const limits& bounds = {});

} // namespace troupe
