#include <troupe/framework/internal/link/frame_claims.hpp>

#include <string>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

bool is_first(std::uint8_t flags) {
  return (flags & chunk_flags::first) != 0;
}

std::expected<void, node_error> check(std::uint8_t flags, std::size_t chunk_bytes) {
  if (const auto unknown = flags & binding_flags & ~chunk_flags::first; unknown != 0)
    return violation("a chunk has flags " + std::to_string(unknown)
                     + ", which are mandatory, and this version does not know them");
  if (chunk_bytes > chunk_bytes_max)
    return violation("chunk of " + grouped(chunk_bytes) + " bytes, limit " + grouped(chunk_bytes_max));
  return {};
}

} // namespace

std::expected<void, node_error> frame_claims::on_chunk(std::uint8_t flags, bytes_view body) {
  packet_reader in{body};
  const auto head = read_chunk_head(in, is_first(flags));
  if (auto good = check(flags, in.rest().size()); !good)
    return good;
  if (!in.ok())
    return violation("chunk of " + grouped(body.size()) + " bytes is cut short");
  return transfers_.add_chunk(head, is_first(flags), in.rest());
}

std::expected<chunk_place, node_error> frame_claims::on_chunk_begin(std::uint8_t flags, bytes_view begin,
                                                                    std::size_t body_bytes) {
  packet_reader in{begin};
  const auto head = read_chunk_head(in, is_first(flags));
  if (!in.ok()) // The head has not arrived completely yet.
    return chunk_place{};
  const auto chunk_bytes = body_bytes - (begin.size() - in.rest().size());
  if (auto good = check(flags, chunk_bytes); !good)
    return std::unexpected{std::move(good).error()};
  return transfers_.begin_chunk(head, is_first(flags), in.rest(), chunk_bytes);
}

std::expected<frame, node_error> frame_claims::claim(packet_reader& in, const frame_descriptor& where, bool is_body) {
  switch (where.place) {
  case frame_place::inline_: {
    const auto bytes = in.take(where.size_bytes);
    if (!in.ok())
      return violation("frame of " + grouped(where.size_bytes) + " bytes reaches beyond its packet");
    return is_body ? frame{bytes, nullptr} : frame::copy_of(bytes);
  }
  case frame_place::chunks:
    return transfers_.claim(where.transfer, where.size_bytes);
  case frame_place::stored:
    return stored_.receive_frame(where);
  }
  return violation("a frame's place is not known");
}

} // namespace troupe::internal
