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

/// One encoded value. It is self-contained: it can be forwarded unchanged, or stored and decoded later. Copies share
/// the memory of the frames.
struct TROUPE_EXPORT payload {
  frame header;              ///< A msgpack map; parse_header() reads it.
  std::vector<frame> frames; ///< Frame 0 is the body; the others are out of band.

  /// The size of the header and all frames together.
  [[nodiscard]] std::size_t size_bytes() const;
};

/// The content of a payload's header. The members view the header's bytes and are valid as long as these.
struct header_fields {
  std::string_view family;           ///< "f"
  std::string_view type;             ///< "t": the type's alias.
  std::span<const std::byte> schema; ///< "s": the sender's layout of the type, for families that need it. If empty, the
                                     ///< receiver assumes its own layout.
  std::span<const std::byte> extra;  ///< "x": the bytes that the codec itself added.
  std::span<const std::byte> frame_codecs;  ///< "z": which frames are compressed, and how; empty: none.
  std::span<const std::byte> frame_pieces;  ///< "p": which frames are pieces of one; empty: none.
  std::span<const std::byte> frame_repeats; ///< "r": which frames repeat earlier ones; empty: none.
  std::span<const std::byte> mentions;      ///< "h": which of the outer payload's handles this payload mentions.
};

/// The header with these fields. Empty fields other than family and type are left out.
[[nodiscard]] TROUPE_EXPORT frame make_header(const header_fields& fields);

/// Reads a header. Skips fields of other names. Fails with `limit_exceeded` (header_bytes, and the limits of its
/// content), or with `malformed` if the bytes are not such a map, a field occurs twice, or the family or the type is
/// missing.
[[nodiscard]] TROUPE_EXPORT std::expected<header_fields, serialize_error>
parse_header(std::span<const std::byte> header, const limits& bounds = {});

} // namespace troupe
