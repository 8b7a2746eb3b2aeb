#include <troupe/framework/internal/wire/packet.hpp>

#include <bit>
#include <cassert>
#include <cstring>

#include <troupe/base/sizes.hpp>
#include <troupe/base/varint.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>

namespace troupe::internal {

static_assert(std::endian::native == std::endian::little, "the link's integers are written as they lie in memory");

namespace {

constexpr std::string_view magic = "TROUPE";

template <class T>
T read_raw(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

void append_bytes(byte_vector& out, bytes_view bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

} // namespace

std::array<std::byte, preamble_bytes> make_preamble() {
  std::array<std::byte, preamble_bytes> result{};
  std::memcpy(result.data(), magic.data(), magic.size());
  std::memcpy(result.data() + magic.size(), &protocol_version, sizeof(protocol_version));
  return result;
}

std::optional<std::uint16_t> read_preamble(std::span<const std::byte, preamble_bytes> bytes) {
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    return std::nullopt;
  return read_raw<std::uint16_t>(bytes.data() + magic.size());
}

void append_packet_head(byte_vector& out, const packet_head& head) {
  assert(head.body_bytes <= packet_body_bytes_max);
  assert(head.reserved == 0);
  append_bytes(out, packet_head_of(head));
}

packet_head read_packet_head(std::span<const std::byte, packet_head_bytes> bytes) {
  return {.body_bytes = read_raw<std::uint32_t>(bytes.data()),
          .kind = static_cast<packet_kind>(bytes[4]),
          .detail = static_cast<std::uint8_t>(bytes[5]),
          .reserved = read_raw<std::uint16_t>(bytes.data() + 6)};
}

void append_long_varint(byte_vector& out, std::uint64_t value) {
  write_varint(value, [&](std::byte each) { out.push_back(each); });
}

std::uint8_t packet_reader::byte() {
  auto one = take(1);
  return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one[0]);
}

std::string packet_reader::fault() const {
  if (fault_.what.empty())
    return "the bytes end within it, or a number is not in its shortest spelling";
  if (fault_.value == 0 && fault_.limit == 0)
    return std::string{fault_.what};
  return std::string{fault_.what} + ": " + grouped(fault_.value) + ", limit " + grouped(fault_.limit);
}

std::uint64_t packet_reader::long_varint() {
  std::uint64_t value = 0;
  const auto fault = read_varint<varint_spelling::shortest>(value, [this](std::byte& next) {
    next = std::byte{byte()};
    return ok_;
  });
  if (fault == varint_fault::none)
    return value;
  fail();
  return 0;
}

std::string_view packet_reader::text(std::uint64_t size_max) {
  auto bytes = take(varint_up_to(size_max));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void append_message_head(byte_vector& out, const message_head& head) {
  append_bytes(out, written_message_head{head}.bytes());
  if ((head.flags & message_flags::extended) != 0) {
    append_varint(out, head.extensions.size());
    append_bytes(out, head.extensions);
  }
}

bytes_view read_extensions(packet_reader& in) {
  const auto map = in.take(in.varint_up_to(extension_bytes_max));
  if (in.ok() && !is_extension_map(map))
    in.fail();
  return map;
}

void append_element(byte_vector& out, const element_descriptor& element) {
  append_varint(out, element.header_number);
  if (element.header_number == 0) {
    append_varint(out, element.header.size());
    append_bytes(out, element.header);
  }
  append_varint(out, element.frames.size());
  for (const auto& frame : element.frames) {
    append_varint(out, frame.size_bytes << frame_place_bits | static_cast<std::uint64_t>(frame.place));
    if (frame.place == frame_place::chunks) {
      append_varint(out, frame.transfer);
    } else if (frame.place == frame_place::stored) {
      append_varint(out, frame.object_index);
      append_varint(out, frame.object_generation);
      append_varint(out, frame.object_offset);
    }
  }
  append_varint(out, element.actors.size() << 1 | (element.objects > 0 ? 1 : 0));
  if (element.objects > 0)
    append_varint(out, element.objects);
  for (const auto& actor : element.actors) {
    append_varint(out, actor.readers ? 1 : 0);
    append_varint(out, actor.number);
  }
}

namespace {

void read_mentions(packet_reader& in, element_descriptor& element, const element_limits& limits) {
  element.actors.clear();
  auto count = in.varint();
  if (count >> 1 > limits.actors_max)
    in.fail("actors mentioned", count >> 1, limits.actors_max);
  element.objects = (count & 1) != 0 ? in.varint_up_to(message_objects_max, "objects mentioned") : 0;
  if ((count & 1) != 0 && element.objects == 0)
    in.fail("it says that it mentions objects, and mentions none", 0, 0); // A second encoding of no objects.
  count >>= 1;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    auto side = in.varint_up_to(1, "the side of an actor that is mentioned");
    element.actors.push_back({.number = in.varint(), .readers = side == 1});
  }
}

} // namespace

void read_element(packet_reader& in, element_descriptor& element, const element_limits& limits) {
  element.frames.clear();
  element.header = {};
  element.header_number = in.varint();
  if (element.header_number == 0)
    element.header =
        in.take(in.varint_up_to(limits.header_bytes_max, "bytes of a payload's header (receive_limits.header_bytes)"));
  auto count = in.varint_up_to(limits.frames_max, "frames (receive_limits.frames)");
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    frame_descriptor frame;
    auto size_and_place = in.varint();
    frame.size_bytes = size_and_place >> frame_place_bits;
    frame.place = static_cast<frame_place>(size_and_place & ((1u << frame_place_bits) - 1));
    switch (frame.place) {
    case frame_place::inline_:
      break;
    case frame_place::chunks:
      frame.transfer = in.varint();
      break;
    case frame_place::stored:
      frame.object_index = static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX, "the index of a stored frame"));
      frame.object_generation =
          static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX, "the generation of a stored frame"));
      frame.object_offset = in.varint();
      break;
    default:
      in.fail("the place of a frame", static_cast<std::uint64_t>(frame.place),
              static_cast<std::uint64_t>(frame_place::stored));
    }
    if (frame.size_bytes > limits.frame_bytes_max)
      in.fail("bytes of a frame", frame.size_bytes, limits.frame_bytes_max);
    element.frames.push_back(frame);
  }
  read_mentions(in, element, limits);
}

namespace {

void append_name(byte_vector& out, const handles::object_id& name) {
  append_varint(out, name.store);
  append_varint(out, name.index);
  append_varint(out, name.generation);
}

handles::object_id read_name(packet_reader& in) {
  handles::object_id name;
  name.store = in.varint();
  name.index = static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX));
  name.generation = static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX));
  return name;
}

// The low bits are the kind of mention: a handle's mode, or another kind. The high bits tell which fields follow.
constexpr std::uint64_t mode_lost = 0;
constexpr std::uint64_t mode_stored = 5;
constexpr std::uint64_t mode_mask = 7;
constexpr std::uint64_t has_offer = 8;
constexpr std::uint64_t has_mark = 16;
constexpr std::uint64_t has_home = 32;     // Its name and the proof follow.
constexpr std::uint64_t has_own_home = 64; // The proof follows; the name is the handle's own.
constexpr std::uint64_t is_repeated = 128; // Counted for its receiver since an earlier message.
constexpr std::uint64_t first_byte_max = 255;

std::uint64_t first_byte_of(const object_mention& mention) {
  const auto repeated = mention.is_repeated ? is_repeated : 0;
  switch (mention.what) {
  case object_mention::kind::lost:
    return mode_lost;
  case object_mention::kind::stored:
    return mode_stored | repeated;
  case object_mention::kind::counted:
    break;
  }
  const auto& handle = mention.handle;
  auto result = static_cast<std::uint64_t>(handle.mode) | repeated;
  if (handle.offer)
    result |= has_offer;
  if (handle.mark != 0)
    result |= has_mark;
  if (handle.home)
    result |= handle.home->name == handle.name ? has_own_home : has_home;
  return result;
}

/// Whether a mention of that kind may have these fields.
bool is_possible(std::uint64_t first_byte) {
  const auto mode = first_byte & mode_mask;
  const auto is = [mode](handles::handle_mode which) { return mode == static_cast<std::uint64_t>(which); };
  const auto is_handle = mode != mode_lost && mode < mode_stored;
  return mode <= mode_stored && (mode != mode_lost || (first_byte & is_repeated) == 0)
         && ((first_byte & (has_offer | has_mark)) == 0 || is(handles::handle_mode::behind))
         && ((first_byte & (has_home | has_own_home)) == 0 || (is_handle && !is(handles::handle_mode::yours)))
         && (first_byte & (has_home | has_own_home)) != (has_home | has_own_home);
}

handles::adoption_offer read_offer(packet_reader& in) {
  handles::adoption_offer offer;
  offer.exporter.node = in.varint();
  offer.exporter.incarnation = in.varint();
  offer.name = read_name(in);
  offer.token = in.varint();
  return offer;
}

} // namespace

void append_object_mention(byte_vector& out, const object_mention& mention) {
  const auto& handle = mention.handle;
  append_varint(out, first_byte_of(mention));
  append_varint(out, handle.size_bytes);
  append_name(out, handle.name);
  if (mention.what != object_mention::kind::counted)
    return;
  if (handle.offer) {
    append_varint(out, handle.offer->exporter.node);
    append_varint(out, handle.offer->exporter.incarnation);
    append_name(out, handle.offer->name);
    append_varint(out, handle.offer->token);
  }
  if (handle.mark != 0) {
    append_varint(out, handle.mark);
    append_varint(out, handle.hops);
  }
  if (handle.home) {
    if (handle.home->name != handle.name)
      append_name(out, handle.home->name);
    append_varint(out, handle.home->proof);
  }
}

object_mention read_object_mention(packet_reader& in) {
  object_mention result;
  const auto first_byte = in.varint_up_to(first_byte_max);
  if (!is_possible(first_byte))
    in.fail();
  const auto mode = first_byte & mode_mask;
  result.is_repeated = (first_byte & is_repeated) != 0;
  auto& handle = result.handle;
  handle.size_bytes = in.varint();
  handle.name = read_name(in);
  if (mode == mode_lost)
    return result;
  if (mode == mode_stored) {
    result.what = object_mention::kind::stored;
    return result;
  }
  result.what = object_mention::kind::counted;
  handle.mode = static_cast<handles::handle_mode>(mode);
  if ((first_byte & has_offer) != 0)
    handle.offer = read_offer(in);
  if ((first_byte & has_mark) != 0) {
    handle.mark = in.varint();
    if (handle.mark == 0)
      in.fail();
    handle.hops = static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX));
  }
  if ((first_byte & (has_home | has_own_home)) != 0) {
    const auto is_other = (first_byte & has_home) != 0;
    const auto name = is_other ? read_name(in) : handle.name;
    if (is_other && name == handle.name) // The valid encoding is has_own_home.
      in.fail();
    handle.home = handles::home_name{name, in.varint()};
  }
  return result;
}

void append_object_chunk_head(byte_vector& out, const object_chunk_head& head) {
  append_varint(out, head.what.request);
  append_varint(out, head.what.offset);
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof head.checksum>>(head.checksum);
  append_bytes(out, bytes);
}

object_chunk_head read_object_chunk_head(packet_reader& in) {
  object_chunk_head head;
  head.what.request = in.varint();
  head.what.offset = in.varint();
  std::array<std::byte, sizeof head.checksum> bytes{};
  if (const auto read = in.take(bytes.size()); read.size() == bytes.size())
    std::ranges::copy(read, bytes.begin());
  head.checksum = std::bit_cast<std::uint32_t>(bytes);
  head.what.size_bytes = in.rest().size();
  return head;
}

void append_chunk_head(byte_vector& out, const chunk_head& head, bool first) {
  append_varint(out, head.transfer);
  if (first)
    append_varint(out, head.total_bytes);
}

chunk_head read_chunk_head(packet_reader& in, bool first) {
  chunk_head head{.transfer = in.varint()};
  if (first)
    head.total_bytes = in.varint();
  return head;
}

void append_header(byte_vector& out, const header_definition& definition) {
  append_varint(out, definition.number);
  append_bytes(out, definition.header);
}

std::optional<header_definition> read_header(bytes_view body) {
  packet_reader in{body};
  header_definition definition{.number = in.varint(), .header = in.rest()};
  if (!in.ok())
    return std::nullopt;
  return definition;
}

void append_signature(byte_vector& out, const signature_definition& definition) {
  assert(definition.aliases.size() <= signature_aliases_max);
  append_varint(out, definition.number);
  append_varint(out, definition.aliases.size());
  for (const auto& alias : definition.aliases) {
    append_varint(out, alias.size());
    append_bytes(out, std::as_bytes(std::span{alias}));
  }
}

std::optional<signature_definition> read_signature(bytes_view body) {
  packet_reader in{body};
  signature_definition definition{.number = in.varint()};
  auto count = in.varint_up_to(signature_aliases_max);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i)
    definition.aliases.emplace_back(in.text(alias_bytes_max));
  if (!in.finished())
    return std::nullopt;
  return definition;
}

} // namespace troupe::internal
