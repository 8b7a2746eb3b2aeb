#include <troupe/serializers/payload_bytes.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/serializers/extend/coding.hpp>
#include <troupe/serializers/internal/words/failing.hpp>

namespace troupe {

namespace {

using detail::failure;

constexpr std::array magic{std::byte{'T'}, std::byte{'P'}, std::byte{'a'}, std::byte{'y'}};
constexpr std::uint8_t version = 1;

/// The first bytes of the string. Integers are little-endian. The sizes of the frames follow, then the header, then the
/// frames.
struct bytes_head {
  std::array<std::byte, 4> magic;
  std::uint8_t version;
  std::uint8_t reserved[3]; // Written as zero, refused otherwise.
  std::uint32_t header_bytes;
  std::uint32_t frames;
};
static_assert(sizeof(bytes_head) == 16 && std::has_unique_object_representations_v<bytes_head>);

constexpr std::size_t size_bytes = sizeof(std::uint64_t); // Of the size of one frame.

/// The alignment of large frames within the string, so that arrays can be viewed in place if the string is aligned.
constexpr std::size_t alignment_bytes = frame::alignment_bytes;

/// Padding bytes before a frame of that size that would otherwise begin at `at`.
std::size_t padding_before(std::size_t at, std::size_t frame_bytes) {
  return frame_bytes < out_of_band_bytes ? 0 : (alignment_bytes - at % alignment_bytes) % alignment_bytes;
}

/// The sizes and places that the beginning of a string announces.
struct outline {
  struct part {
    std::size_t at = 0;
    std::size_t bytes = 0;
  };
  std::size_t missing_bytes = 0; // Of the outline while the other members are empty, then of the whole payload.
  part header;
  std::vector<part> frames;
  std::size_t end = 0;
};

std::unexpected<serialize_error> too_long() {
  return failure(serialize_errc::limit_exceeded, "a payload that is longer than this process can address");
}

/// Checks those bytes of the head that have arrived.
std::expected<void, serialize_error> check_begin(std::span<const std::byte> bytes) {
  if (const auto known = std::min(bytes.size(), magic.size());
      !std::equal(magic.begin(), magic.begin() + static_cast<std::ptrdiff_t>(known), bytes.begin()))
    return failure(serialize_errc::malformed, "the bytes are not a payload: they do not begin with \"TPay\"");
  if (bytes.size() > magic.size() && bytes[magic.size()] != std::byte{version})
    return failure(serialize_errc::layout_mismatch, "payload bytes of version "
                                                        + std::to_string(std::to_integer<int>(bytes[magic.size()]))
                                                        + ", this Troupe reads version " + std::to_string(version));
  return {};
}

std::expected<outline, serialize_error> outline_of(std::span<const std::byte> bytes, const limits& bounds) {
  if (auto begins = check_begin(bytes); !begins)
    return std::unexpected(std::move(begins.error()));
  outline found;
  bytes_head head;
  if (bytes.size() < sizeof(head)) {
    found.missing_bytes = sizeof(head) - bytes.size();
    return found;
  }
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (std::ranges::any_of(head.reserved, [](auto each) { return each != 0; }))
    return failure(serialize_errc::malformed, "the reserved bytes of the payload are not zero");
  if (head.header_bytes > bounds.header_bytes)
    return failure(serialize_errc::limit_exceeded, "payload header of " + grouped(head.header_bytes) + " bytes, limit "
                                                       + grouped(bounds.header_bytes) + " (limits::header_bytes)");
  if (head.frames > bounds.frames)
    return failure(serialize_errc::limit_exceeded, "payload of " + grouped(head.frames) + " frames, limit "
                                                       + grouped(bounds.frames) + " (limits::frames)");
  auto at = sizeof(head) + std::size_t{head.frames} * size_bytes;
  if (bytes.size() < at) {
    found.missing_bytes = at - bytes.size();
    return found;
  }
  found.header = {at, head.header_bytes};
  at += head.header_bytes;
  found.frames.reserve(head.frames);
  for (std::size_t i = 0; i < head.frames; ++i) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + sizeof(head) + i * size_bytes, size_bytes);
    const auto most = i == 0 ? bounds.body_bytes : bounds.frame_bytes;
    if (size > most)
      return failure(serialize_errc::limit_exceeded,
                     "frame " + grouped(i) + " of " + grouped(size) + " bytes, limit " + grouped(most)
                         + (i == 0 ? " (limits::body_bytes)" : " (limits::frame_bytes)"));
    const auto padding = padding_before(at, size);
    if (size > std::numeric_limits<std::size_t>::max() - at - padding - alignment_bytes)
      return too_long();
    found.frames.push_back({at + padding, size});
    at += padding + size;
  }
  found.end = at;
  found.missing_bytes = at - std::min(at, bytes.size());
  return found;
}

/// Whether all padding is zero, so that each payload has exactly one string.
bool has_clean_padding(std::span<const std::byte> bytes, const outline& found) {
  auto at = found.header.at + found.header.bytes;
  for (const auto& each : found.frames) {
    if (std::ranges::any_of(bytes.subspan(at, each.at - at), [](auto byte) { return byte != std::byte{}; }))
      return false;
    at = each.at + each.bytes;
  }
  return true;
}

/// Reads a string. `make` makes the payload from its outline.
std::expected<payload_from_bytes, serialize_error> read(std::span<const std::byte> bytes, const limits& bounds,
                                                        auto&& make) {
  auto found = outline_of(bytes, bounds);
  if (!found)
    return std::unexpected(std::move(found.error()));
  if (found->missing_bytes > 0)
    return payload_from_bytes{{}, found->missing_bytes, 0, bytes};
  if (!has_clean_padding(bytes, *found))
    return failure(serialize_errc::malformed, "the bytes between the payload's frames are not zero");
  if (auto header = parse_header(bytes.subspan(found->header.at, found->header.bytes), bounds); !header)
    return std::unexpected(std::move(header.error()));
  return payload_from_bytes{make(*found), 0, found->end, bytes.subspan(found->end)};
}

payload copied(std::span<const std::byte> bytes, const outline& found) {
  std::size_t small_bytes = 0;
  for (const auto& each : found.frames)
    small_bytes += each.bytes < out_of_band_bytes ? each.bytes : 0;
  std::byte* into = nullptr;
  const auto small = small_bytes > 0 ? frame::uninitialized(small_bytes, into) : frame();
  std::size_t used = 0;
  payload made{frame::copy_of(bytes.subspan(found.header.at, found.header.bytes)), {}};
  made.frames.reserve(found.frames.size());
  for (const auto& each : found.frames) {
    const auto content = bytes.subspan(each.at, each.bytes);
    if (each.bytes >= out_of_band_bytes) {
      made.frames.push_back(frame::copy_of(content));
    } else {
      if (!content.empty())
        std::memcpy(into + used, content.data(), content.size());
      made.frames.push_back(content.empty() ? frame() : small.slice(used, content.size()));
      used += content.size();
    }
  }
  return made;
}

} // namespace

std::expected<std::vector<std::byte>, serialize_error> to_bytes(const payload& of) {
  if (auto header = parse_header(of.header.bytes(), {.header_bytes = of.header.size_bytes()}); !header)
    return std::unexpected(std::move(header.error()));
  else if (!header->mentions.empty())
    return failure(serialize_errc::out_of_band_handle,
                   "the payload arrived in a message and contains handles, which are valid only in that message: get() "
                   "its value, and serialize the values that the handles refer to");
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  if (of.header.size_bytes() > most || of.frames.size() > most)
    return too_long();
  std::vector<std::byte> made;
  const auto known_bytes = sizeof(bytes_head) + of.frames.size() * (size_bytes + alignment_bytes) + of.size_bytes();
  made.reserve(known_bytes);
  const auto append = [&](const void* from, std::size_t count) {
    const auto* const begin = static_cast<const std::byte*>(from);
    made.insert(made.end(), begin, begin + count);
  };
  const bytes_head head{magic,
                        version,
                        {},
                        static_cast<std::uint32_t>(of.header.size_bytes()),
                        static_cast<std::uint32_t>(of.frames.size())};
  append(&head, sizeof(head));
  for (const auto& each : of.frames) {
    const std::uint64_t size = each.size_bytes();
    append(&size, size_bytes);
  }
  append(of.header.bytes().data(), of.header.size_bytes());
  for (const auto& each : of.frames) {
    made.resize(made.size() + padding_before(made.size(), each.size_bytes()));
    append(each.bytes().data(), each.size_bytes());
  }
  return made;
}

std::expected<payload_from_bytes, serialize_error> from_bytes(std::span<const std::byte> bytes, const limits& bounds) {
  return read(bytes, bounds, [&](const outline& found) { return copied(bytes, found); });
}

std::expected<payload_from_bytes, serialize_error> from_bytes(const frame& bytes, const limits& bounds) {
  return read(bytes.bytes(), bounds, [&](const outline& found) {
    payload made{bytes.slice(found.header.at, found.header.bytes), {}};
    made.frames.reserve(found.frames.size());
    for (const auto& each : found.frames)
      made.frames.push_back(bytes.slice(each.at, each.bytes));
    return made;
  });
}

} // namespace troupe
