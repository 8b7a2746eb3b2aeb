// TROUPE_SERIALIZE_VERBOSE=1: every payload that is encoded or decoded is shown on the standard error output, with its
// fields and where they lie.
#pragma once

#include <span>
#include <string_view>

#include <troupe/serializers/family.hpp>

namespace troupe::detail {

/// Whether the environment asks for it; read when the program starts.
extern const bool is_tracing;

/// A family was passed over, or failed.
void trace_refusal(std::string_view doing, const type_entry& entry, const family& by, const serialize_error& why);
/// What was encoded, or is to be decoded.
void trace_payload(std::string_view doing, const type_entry& entry, const family& by, const header_fields& header,
                   std::span<const frame> frames, const context& ctx);

/// Which of its frames are compressed, and what that has left of them; `frames` as they travel.
void trace_compression(const type_entry& entry, std::span<const std::byte> frame_codecs, std::span<const frame> frames);

} // namespace troupe::detail
