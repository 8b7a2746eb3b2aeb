// TROUPE_SERIALIZE_VERBOSE=1: shows every payload that is encoded or decoded on the standard error output, with its
// fields and their places.
#pragma once

#include <span>
#include <string_view>

#include <troupe/serializers/family.hpp>

namespace troupe::detail {

/// Whether that environment variable is set. It is read when the program starts.
extern const bool is_tracing;

/// Shows that a family was skipped, or failed.
void trace_refusal(std::string_view doing, const type_entry& entry, const family& by, const serialize_error& why);
/// Shows a payload that was encoded, or is about to be decoded.
void trace_payload(std::string_view doing, const type_entry& entry, const family& by, const header_fields& header,
                   std::span<const frame> frames, const context& ctx);

/// Shows which frames are compressed, with their sizes before and after. `frames` are the frames as they travel.
void trace_compression(const type_entry& entry, std::span<const std::byte> frame_codecs, std::span<const frame> frames);

} // namespace troupe::detail
