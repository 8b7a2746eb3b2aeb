#include <troupe/serializers/splitting.hpp>

#include <cassert>
#include <utility>

#include <troupe/serializers/internal/payload/compressing.hpp>
#include <troupe/serializers/internal/payload/pieces.hpp>
#include <troupe/serializers/internal/words/failing.hpp>

namespace troupe {

std::expected<payload, serialize_error> split_frames(const payload& of, std::size_t piece_bytes_max) {
  assert(piece_bytes_max > 0);
  auto fields = parse_header(of.header.bytes(), {.header_bytes = of.header.size_bytes()});
  if (!fields)
    return std::unexpected(fields.error());
  auto known = std::vector<std::size_t>(of.frames.size(), 1);
  if (!fields->frame_pieces.empty()) {
    auto read = detail::read_pieces(fields->frame_pieces, of.frames.size());
    if (!read)
      return std::unexpected(read.error());
    known = std::move(*read);
  }
  std::vector<detail::frame_form> forms(of.frames.size());
  if (!fields->frame_codecs.empty()) {
    auto read = detail::read_frame_codecs(fields->frame_codecs, of.frames.size());
    if (!read)
      return std::unexpected(read.error());
    forms = std::move(*read);
  }
  payload made;
  byte_buffer codecs;
  std::size_t at = 0;
  for (auto& pieces : known) {
    const auto before = made.frames.size();
    for (const auto end = at + pieces; at < end; ++at) {
      const auto& each = of.frames[at];
      if (forms[at].codec != detail::frame_codec::none && each.size_bytes() > piece_bytes_max)
        return detail::failure(serialize_errc::not_supported,
                               "frame " + grouped(at) + " of " + grouped(each.size_bytes())
                                   + " bytes is compressed, and cannot be split into pieces of "
                                   + grouped(piece_bytes_max));
      std::size_t offset = 0;
      do {
        made.frames.push_back(each.slice(offset, piece_bytes_max));
        detail::append_form(codecs, forms[at]);
        offset += piece_bytes_max;
      } while (offset < each.size_bytes());
    }
    pieces = made.frames.size() - before;
  }
  if (made.frames.size() == of.frames.size())
    return of;
  byte_buffer note;
  detail::append_pieces(note, known);
  fields->frame_pieces = note.bytes();
  if (!fields->frame_codecs.empty())
    fields->frame_codecs = codecs.bytes();
  made.header = make_header(*fields);
  return made;
}

std::expected<payload, serialize_error> join_frames(const payload& of, const limits& bounds) {
  auto fields = parse_header(of.header.bytes(), bounds);
  if (!fields)
    return std::unexpected(fields.error());
  if (fields->frame_pieces.empty())
    return of;
  if (!fields->frame_codecs.empty())
    return detail::failure(serialize_errc::not_supported,
                           "compressed pieces cannot be joined without decompressing them: deserialize the payload");
  auto joined = detail::join_pieces(fields->frame_pieces, of.frames, bounds);
  if (!joined)
    return std::unexpected(joined.error());
  fields->frame_pieces = {};
  return payload{make_header(*fields), std::move(joined->frames)};
}

} // namespace troupe
