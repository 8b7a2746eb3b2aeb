#include <troupe/serializers/payload.hpp>

#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/msgpack/msgpack_coder.hpp>

namespace troupe {

std::size_t payload::size_bytes() const {
  auto total = header.size_bytes();
  for (const auto& each : frames)
    total += each.size_bytes();
  return total;
}

frame make_header(const header_fields& fields) {
  const context ctx;
  encode_output output;
  msgpack_writer writer(ctx, output);
  writer.begin_map(std::size_t{2} + (fields.schema.empty() ? 0 : 1) + (fields.extra.empty() ? 0 : 1)
                   + (fields.frame_codecs.empty() ? 0 : 1) + (fields.frame_pieces.empty() ? 0 : 1)
                   + (fields.frame_repeats.empty() ? 0 : 1) + (fields.mentions.empty() ? 0 : 1));
  writer.text("f");
  writer.text(fields.family);
  writer.text("t");
  writer.text(fields.type);
  if (!fields.schema.empty()) {
    writer.text("s");
    writer.bytes(fields.schema);
  }
  if (!fields.extra.empty()) {
    writer.text("x");
    writer.bytes(fields.extra);
  }
  if (!fields.frame_codecs.empty()) {
    writer.text("z");
    writer.bytes(fields.frame_codecs);
  }
  if (!fields.frame_pieces.empty()) {
    writer.text("p");
    writer.bytes(fields.frame_pieces);
  }
  if (!fields.frame_repeats.empty()) {
    writer.text("r");
    writer.bytes(fields.frame_repeats);
  }
  if (!fields.mentions.empty()) {
    writer.text("h");
    writer.bytes(fields.mentions);
  }
  return frame::copy_of(output.body().bytes());
}

namespace {

bool read_header(msgpack_reader& reader, header_fields& fields) {
  std::size_t expected = 0;
  if (reader.kind() != value_kind::map)
    return reader.unexpected("a map");
  if (!reader.begin_map(expected))
    return false;
  bool seen[8] = {};
  for (;;) {
    bool more = false;
    if (!reader.next(more))
      return false;
    if (!more)
      break;
    std::string_view name;
    if (!reader.text(name))
      return false;
    const auto index = name.size() == 1 ? std::string_view("ftsxzprh").find(name[0]) : std::string_view::npos;
    if (index == std::string_view::npos) {
      if (!reader.skip())
        return false;
      continue;
    }
    if (seen[index])
      return reader.fail(serialize_errc::malformed, "the field '" + std::string(name) + "' occurs twice");
    seen[index] = true;
    if (index == 0   ? !reader.text(fields.family)
        : index == 1 ? !reader.text(fields.type)
        : index == 2 ? !reader.bytes(fields.schema)
        : index == 3 ? !reader.bytes(fields.extra)
        : index == 4 ? !reader.bytes(fields.frame_codecs)
        : index == 5 ? !reader.bytes(fields.frame_pieces)
        : index == 6 ? !reader.bytes(fields.frame_repeats)
                     : !reader.bytes(fields.mentions))
      return false;
  }
  if (!seen[0] || !seen[1])
    return reader.fail(serialize_errc::malformed, "the header does not name both a family and a type");
  return reader.finish();
}

} // namespace

std::expected<header_fields, serialize_error> parse_header(std::span<const std::byte> header, const limits& bounds) {
  if (header.size() > bounds.header_bytes)
    return detail::failure(serialize_errc::limit_exceeded, "payload header of " + grouped(header.size())
                                                               + " bytes, limit " + grouped(bounds.header_bytes)
                                                               + " (limits::header_bytes)");
  context ctx;
  ctx.limits = bounds;
  msgpack_reader reader(ctx, header, {}, header.size());
  header_fields fields;
  if (!read_header(reader, fields))
    return std::unexpected(reader.error("header", "payload"));
  return fields;
}

} // namespace troupe
