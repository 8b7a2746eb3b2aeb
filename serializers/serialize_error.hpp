// The one error type of serializers/.
#pragma once

#include <cstdint>
#include <expected>

#include <troupe/base/error.hpp>

namespace troupe {

/// Why encoding or decoding failed, grouped by what the caller can do. Values travel between nodes: append only.
enum class serialize_errc : std::uint8_t {
  none = 0,
  // Describe, register or list something.
  not_supported = 1,  // This family cannot carry the type; the next one in the list may.
  unknown_type = 2,   // The registry has no such type or alias.
  unknown_family = 3, // No family of that name was added.
  clash = 4,          // Two types of one alias, or two families of one name.
  // The sender and this process disagree.
  refused_family = 5,  // The payload's family is not in the list of deserializers.
  type_mismatch = 6,   // The payload carries another type than the one asked for.
  layout_mismatch = 7, // The sender's version of the type cannot be read as this process's.
  // The bytes are not what a well-behaved sender writes.
  malformed = 8,
  limit_exceeded = 9, // Raise the limit that the text names, or send less.
  // A user's own code, or the value itself, refuses.
  codec_failed = 10,
  out_of_band_handle = 11, // A handle was to be serialized outside a message, where nothing can track it.
  sent_as_text = 12,       // The sender could not encode the value and sent this text instead.
  not_loaded = 13,         // A library of families is missing, or does not fit this program.
};

using serialize_error = basic_error<serialize_errc>;

} // namespace troupe
