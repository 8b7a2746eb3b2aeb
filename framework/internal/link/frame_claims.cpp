#include <troupe/framework/internal/link/frame_claims.hpp>

#include <string>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

std::expected<void, node_error> frame_claims::on_chunk(std::uint8_t flags, bytes_view body) {
  if (const auto unknown = flags & binding_flags & ~chunk_flags::first; unknown != 0)
    return violation("a chunk has flags " + std::to_string(unknown)
                     + ", which have to be understood, and this version does not know them");
  const bool first = (flags & chunk_flags::first) != 0;
  packet_reader in{body};
  const auto head = read_chunk_head(in, first);
  if (!in.ok())
    return violation("chunk of " + grouped(body.size()) + " bytes is cut short");
  if (in.rest().size() > chunk_bytes_max)
    return violation("chunk of " + grouped(in.rest().size()) + " bytes, limit " + grouped(chunk_bytes_max));
  return transfers_.add_chunk(head, first, in.rest());
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
