#include <troupe/serializers/typed/typed_family.hpp>

#include <algorithm>

#include <troupe/serializers/internal/typed/schema_reader.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe {

namespace {

// The body's first byte. Append only.
constexpr std::uint8_t by_description = 1; // The fingerprint of the layout and the value follow.
constexpr std::uint8_t by_own_codec = 2;   // Nothing follows; header and frames are the codec's.

constexpr std::size_t prefix_bytes = 1 + sizeof(std::uint32_t);

using detail::failure;

} // namespace

std::string typed_family::unsupported(const type_entry& entry) const {
  return entry.unsupported();
}

std::span<const std::byte> typed_family::schema(const type_entry& entry) const {
  return entry.schema();
}

std::expected<void, serialize_error> typed_family::encode(const type_entry& entry, const void* value,
                                                          const context& ctx, encode_output& output) const {
  if (!entry.is_supported())
    return failure(serialize_errc::not_supported, name(), entry.alias(), entry.unsupported());
  const detail::taken_mark before(ctx);
  for (const auto keeps_repeats : {false, true}) {
    detail::typed_writer writer(ctx, output);
    if (keeps_repeats)
      writer.keep_repeats();
    writer.reserve(prefix_bytes);
    writer.put(by_description);
    writer.put(entry.fingerprint());
    if (!entry.codecs().typed_write(writer, value))
      return std::unexpected(writer.error(entry.alias(), name()));
    writer.finish();
    if (!writer.found_repeats() || 1 + output.frames().size() <= ctx.limits.frames)
      break;
    output.clear(); // Too many frames: write it again, without frames for small arrays.
    before.restore();
  }
  return {};
}

std::expected<void, serialize_error> typed_family::decode(const type_entry& entry, void* target,
                                                          const header_fields& header, std::span<const frame> frames,
                                                          const context& ctx) const {
  if (frames.empty() || frames[0].size_bytes() == 0)
    return failure(serialize_errc::malformed, name(), entry.alias(), "the body is empty");
  const auto body = frames[0].bytes();
  const auto behind = frames.subspan(1);
  const auto form = std::to_integer<std::uint8_t>(body[0]);
  if (form == by_own_codec)
    return failure(serialize_errc::layout_mismatch, name(), entry.alias(),
                   "has a codec of its own at the sender, but not here");
  if (form != by_description)
    return failure(serialize_errc::malformed, name(), entry.alias(),
                   "a body of the unknown form " + std::to_string(form));
  if (!entry.is_supported())
    return failure(serialize_errc::not_supported, name(), entry.alias(), entry.unsupported());
  if (body.size() < prefix_bytes)
    return failure(serialize_errc::malformed, name(), entry.alias(), "the body ends within its fingerprint");

  std::uint32_t fingerprint = 0;
  std::memcpy(&fingerprint, body.data() + 1, sizeof(fingerprint));
  auto received = body.size();
  for (const auto& each : behind)
    received += each.size_bytes();
  received -= std::min(received, ctx.repeated_bytes);
  if (fingerprint == entry.fingerprint()) [[likely]] {
    detail::typed_reader reader(ctx, body.subspan(prefix_bytes), behind, received);
    if (entry.codecs().typed_read(reader, target) && reader.finish())
      return {};
    return std::unexpected(reader.error(entry.alias(), name()));
  }
  // The sender has another version of the type. Its layout guides decoding, field by field.
  if (header.schema.empty() || detail::fingerprint_of(header.schema) != fingerprint)
    return failure(serialize_errc::layout_mismatch, name(), entry.alias(),
                   "the sender has another version of the type ("
                       + detail::fingerprints_text(fingerprint, entry.fingerprint())
                       + ") and did not send its layout; build both ends from one version of it");
  detail::schema_reader reader(ctx, header.schema, body, prefix_bytes, behind, received);
  if (entry.codecs().visit_read(reader, target) && reader.finish())
    return {};
  return std::unexpected(reader.error(entry.alias(), name()));
}

} // namespace troupe
