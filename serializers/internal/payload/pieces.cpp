#include <troupe/serializers/internal/payload/pieces.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include <troupe/serializers/internal/payload/varint_note.hpp>
#include <troupe/serializers/internal/words/failing.hpp>

namespace troupe::detail {

namespace {

std::size_t pieces_of(std::size_t size_bytes, std::size_t piece_bytes_max) {
  return size_bytes == 0 ? 1 : (size_bytes - 1) / piece_bytes_max + 1;
}

bool lie_in_one(std::span<const frame> pieces) {
  const auto* at = pieces[0].bytes().data();
  for (const auto& each : pieces) {
    if (each.owner() != pieces[0].owner() || each.bytes().data() != at)
      return false;
    at += each.size_bytes();
  }
  return true;
}

frame joined(std::span<const frame> pieces, std::size_t size_bytes) {
  std::byte* into = nullptr;
  auto made = frame::uninitialized(size_bytes, into);
  for (const auto& each : pieces) {
    if (each.size_bytes() > 0)
      std::memcpy(into, each.bytes().data(), each.size_bytes());
    into += each.size_bytes();
  }
  return made;
}

} // namespace

std::expected<std::vector<std::size_t>, serialize_error> read_pieces(std::span<const std::byte> note,
                                                                     std::size_t frame_count) {
  std::vector<std::size_t> pieces;
  std::size_t left = frame_count;
  while (!note.empty()) {
    std::uint64_t count = 0;
    if (!take_varint(note, count) || count == 0 || count > left)
      return failure(serialize_errc::malformed, "the header says how many pieces frame " + grouped(pieces.size())
                                                    + " consists of, which is wrong: " + grouped(left) + " are left");
    left -= count;
    pieces.push_back(static_cast<std::size_t>(count));
  }
  if (left > 0)
    return failure(serialize_errc::malformed,
                   grouped(left) + " frames are left over after the pieces that the header describes");
  return pieces;
}

void append_pieces(byte_buffer& note, std::span<const std::size_t> pieces) {
  for (const auto count : pieces)
    append_varint(note, count);
}

void split_output(std::size_t piece_bytes_max, const limits& bounds, std::size_t note_bytes_max,
                  encode_output& output) {
  const auto& frames = output.frames();
  std::vector<std::size_t> pieces{1}; // The body is not split.
  std::size_t count = 1;
  for (const auto& each : frames)
    count += pieces.emplace_back(pieces_of(each.size_bytes(), piece_bytes_max));
  if (count == 1 + frames.size() || count > bounds.frames || note_bytes_max / varint_bytes_max < pieces.size())
    return;
  std::vector<frame> split;
  split.reserve(count - 1);
  for (std::size_t i = 0; i < frames.size(); ++i)
    for (std::size_t piece = 0; piece < pieces[i + 1]; ++piece)
      split.push_back(frames[i].slice(piece * piece_bytes_max, piece_bytes_max));
  append_pieces(output.frame_pieces(), pieces);
  output.replace(std::move(split));
}

std::expected<joined_frames, serialize_error> join_pieces(std::span<const std::byte> note,
                                                          std::span<const frame> frames, const limits& bounds) {
  const auto pieces = read_pieces(note, frames.size());
  if (!pieces)
    return std::unexpected(pieces.error());
  joined_frames made;
  made.frames.reserve(pieces->size());
  std::size_t at = 0;
  for (const auto count : *pieces) {
    const auto parts = frames.subspan(std::exchange(at, at + count), count);
    std::size_t size_bytes = 0;
    for (const auto& each : parts)
      size_bytes += each.size_bytes();
    const auto is_body = made.frames.empty();
    if (const auto most = is_body ? bounds.body_bytes : bounds.frame_bytes; size_bytes > most)
      return failure(serialize_errc::limit_exceeded,
                     "frame " + grouped(made.frames.size()) + " of " + grouped(size_bytes) + " bytes in "
                         + grouped(count) + " pieces, limit " + grouped(most)
                         + (is_body ? " (limits::body_bytes)" : " (limits::frame_bytes)"));
    if (lie_in_one(parts)) {
      made.frames.emplace_back(std::span(parts[0].bytes().data(), size_bytes), parts[0].owner());
      continue;
    }
    if (size_bytes > bounds.memory_bytes - made.taken_bytes)
      return failure(serialize_errc::limit_exceeded, "frame " + grouped(made.frames.size()) + " of "
                                                         + grouped(size_bytes) + " bytes to be joined, limit "
                                                         + grouped(bounds.memory_bytes) + " (limits::memory_bytes)");
    made.taken_bytes += size_bytes;
    made.frames.push_back(joined(parts, size_bytes));
  }
  return made;
}

} // namespace troupe::detail
