// The error types of serializers/.
#pragma once

#include <cstdint>
#include <expected>
#include <stdexcept>

#include <troupe/base/error.hpp>
#include <troupe/base/export.hpp>

namespace troupe {

/// Why encoding or decoding failed, grouped by what the caller can do. Values travel between nodes: append only.
enum class serialize_errc : std::uint8_t {
  none = 0,
  // Describe, register or list something.
  not_supported = 1,  // The family cannot carry the type, or no listed family can; the next one in the list may.
  unknown_type = 2,   // The registry has no such type or alias.
  unknown_family = 3, // No family of that name was added.
  clash = 4,          // A library adds a family under a name that is taken or reserved.
  // The sender and this process disagree.
  refused_family = 5,  // The payload's family is not in the list of deserializers.
  type_mismatch = 6,   // The payload carries another type than the requested one.
  layout_mismatch = 7, // The sender's version of the type cannot be read as this process's.
  // A well-behaved sender does not write such bytes.
  malformed = 8,
  limit_exceeded = 9, // Raise the limit that the text names, or send less.
  // A user's own code, or the value itself, refuses.
  codec_failed = 10,       // A codec threw an exception, or failed by itself.
  out_of_band_handle = 11, // A handle would be serialized outside a message, where nothing can track it.
  sent_as_text = 12,       // The sender could not encode the value and sent this text instead.
  not_loaded = 13,         // A library of families is missing, or does not fit this program.
};

using serialize_error = basic_error<serialize_errc>;

/// Thrown if a program registers a type, a function or a family that contradicts an earlier registration or cannot be
/// registered. This is a mistake in the program. The registry stays as it was.
class TROUPE_EXPORT registration_error : public std::logic_error {
public:
  using std::logic_error::logic_error;
  registration_error(const registration_error&) = default;
  registration_error& operator=(const registration_error&) = default;
  ~registration_error() override;
};

} // namespace troupe
