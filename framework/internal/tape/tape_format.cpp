#include <troupe/framework/internal/tape/tape_format.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <type_traits>
#include <utility>

#include <lz4.h>
#include <zstd.h>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/wire/crc32c.hpp>

namespace troupe::internal {

namespace {

constexpr std::array tape_magic{std::byte{'T'}, std::byte{'R'}, std::byte{'O'}, std::byte{'U'},
                                std::byte{'P'}, std::byte{'E'}, std::byte{'T'}, std::byte{'P'}};
constexpr std::size_t checksum_bytes = 4;
constexpr int tape_zstd_level = 1; // The recorder has to follow the link.

/// Writes fields one after the other; integers little-endian.
class field_writer {
public:
  explicit field_writer(std::span<std::byte> to) : rest_(to) {}

  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(rest_.data(), &value, sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
  }

private:
  std::span<std::byte> rest_;
};

/// Reads fields one after the other. Requires: they lie in the bytes.
class field_reader {
public:
  explicit field_reader(bytes_view from) : rest_(from) {}

  template <class T>
  T take() {
    T value;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }

private:
  bytes_view rest_;
};

/// The checksum of all bytes but the last four, which are its place.
std::uint32_t checksum_of(bytes_view head) {
  return crc32c(0, head.first(head.size() - checksum_bytes));
}

} // namespace

// -- a file's head

std::array<std::byte, tape_head_bytes> tape_head_of(const tape_head& head) {
  std::array<std::byte, tape_head_bytes> bytes{};
  field_writer out{bytes};
  out.put(tape_magic);
  out.put(head.version);
  out.put(std::uint16_t{0});
  out.put(head.number);
  out.put(head.recording);
  out.put(head.file);
  out.put(head.started_at);
  out.put(std::uint32_t{0});
  out.put(checksum_of(bytes));
  return bytes;
}

std::expected<tape_head, std::string> read_tape_head(std::span<const std::byte, tape_head_bytes> bytes) {
  field_reader in{bytes};
  if (in.take<std::remove_const_t<decltype(tape_magic)>>() != tape_magic)
    return std::unexpected{"it does not begin like a tape"};
  tape_head head;
  head.version = in.take<std::uint16_t>();
  if (head.version != tape_version) // Another version may lay out the rest in another way.
    return head;
  const auto reserved = in.take<std::uint16_t>();
  head.number = in.take<std::uint32_t>();
  head.recording = in.take<std::uint64_t>();
  head.file = in.take<std::uint64_t>();
  head.started_at = in.take<std::uint64_t>();
  const auto more_reserved = in.take<std::uint32_t>();
  if (in.take<std::uint32_t>() != checksum_of(bytes))
    return std::unexpected{"the head's checksum is wrong"};
  if (reserved != 0 || more_reserved != 0)
    return std::unexpected{"reserved bytes of the head are not zero"};
  return head;
}

// -- blocks

namespace {

/// Returns an empty result if the bytes do not become smaller.
byte_vector compressed(tape_codec by, bytes_view body) {
  byte_vector result(body.size());
  const auto room = body.size();
  std::size_t made = 0;
  if (by == tape_codec::lz4) {
    made = static_cast<std::size_t>(std::max(
        0, LZ4_compress_default(reinterpret_cast<const char*>(body.data()), reinterpret_cast<char*>(result.data()),
                                static_cast<int>(body.size()), static_cast<int>(room))));
  } else if (by == tape_codec::zstd) {
    made = ZSTD_compress(result.data(), room, body.data(), body.size(), tape_zstd_level);
    if (ZSTD_isError(made) != 0)
      made = 0;
  }
  result.resize(made < body.size() ? made : 0);
  return result;
}

} // namespace

void append_tape_block(byte_vector& out, tape_block_head head, bytes_view body) {
  assert(body.size() <= tape_block_bytes_max);
  const auto smaller = compressed(head.codec, body);
  if (smaller.empty())
    head.codec = tape_codec::none;
  const auto stored = smaller.empty() ? body : bytes_view{smaller};
  head.stored_bytes = static_cast<std::uint32_t>(stored.size());
  head.body_bytes = static_cast<std::uint32_t>(body.size());
  head.checksum = crc32c(0, stored);
  std::array<std::byte, tape_block_head_bytes> bytes{};
  field_writer fields{bytes};
  fields.put(tape_block_magic);
  fields.put(head.file);
  fields.put(head.number);
  fields.put(head.stored_bytes);
  fields.put(head.body_bytes);
  fields.put(head.codec);
  fields.put(std::array<std::byte, 3>{});
  fields.put(head.checksum);
  fields.put(checksum_of(bytes));
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.insert(out.end(), stored.begin(), stored.end());
}

std::optional<tape_block_head> read_tape_block_head(std::span<const std::byte, tape_block_head_bytes> bytes,
                                                    std::uint64_t file) {
  field_reader in{bytes};
  if (in.take<std::remove_const_t<decltype(tape_block_magic)>>() != tape_block_magic)
    return std::nullopt;
  tape_block_head head;
  head.file = in.take<std::uint64_t>();
  head.number = in.take<std::uint32_t>();
  head.stored_bytes = in.take<std::uint32_t>();
  head.body_bytes = in.take<std::uint32_t>();
  head.codec = in.take<tape_codec>();
  const auto reserved = in.take<std::array<std::byte, 3>>();
  head.checksum = in.take<std::uint32_t>();
  if (in.take<std::uint32_t>() != checksum_of(bytes) || reserved != std::array<std::byte, 3>{} || head.file != file)
    return std::nullopt;
  const auto is_compressed = head.codec != tape_codec::none;
  if (head.body_bytes > tape_block_bytes_max || head.stored_bytes > head.body_bytes
      || (is_compressed ? head.stored_bytes == head.body_bytes : head.stored_bytes != head.body_bytes))
    return std::nullopt;
  return head;
}

std::expected<void, std::string> restore_tape_block(const tape_block_head& head, bytes_view stored, byte_vector& body) {
  assert(stored.size() == head.stored_bytes);
  if (crc32c(0, stored) != head.checksum)
    return std::unexpected{"the block's checksum is wrong"};
  body.resize(head.body_bytes);
  std::size_t made = 0;
  switch (head.codec) {
  case tape_codec::none:
    std::ranges::copy(stored, body.begin());
    return {};
  case tape_codec::lz4: {
    const auto result =
        LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(body.data()),
                            static_cast<int>(stored.size()), static_cast<int>(body.size()));
    made = result < 0 ? 0 : static_cast<std::size_t>(result);
    break;
  }
  case tape_codec::zstd:
    made = ZSTD_decompress(body.data(), body.size(), stored.data(), stored.size());
    break;
  default:
    return std::unexpected{"the block is compressed by codec " + std::to_string(static_cast<int>(head.codec))
                           + ", which this version does not know"};
  }
  if (made != body.size())
    return std::unexpected{"the block cannot be decompressed"};
  return {};
}

// -- records

namespace {

enum class record_number : std::uint8_t {
  recorder_named = 1,
  link_began = 2,
  packet = 3,
  actor_named = 4,
  object = 5,
  dropped = 6,
  link_ended = 7,
  ended = 8,
};

constexpr std::uint64_t from_peer = 1;
constexpr std::uint64_t repeated = 2;
constexpr std::uint64_t known_packet_flags = from_peer | repeated;

void append_text(byte_vector& out, std::string_view text) {
  text = text.substr(0, tape_text_bytes_max);
  append_varint(out, text.size());
  const auto bytes = std::as_bytes(std::span{text});
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_texts(byte_vector& out, std::span<const std::string_view> texts) {
  texts = texts.first(std::min(texts.size(), tape_texts_max));
  append_varint(out, texts.size());
  for (const auto& each : texts)
    append_text(out, each);
}

std::string_view take_text(packet_reader& in) {
  return in.text(tape_text_bytes_max);
}

std::vector<std::string_view> take_texts(packet_reader& in) {
  std::vector<std::string_view> texts;
  const auto count = in.varint_up_to(tape_texts_max);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i)
    texts.push_back(take_text(in));
  return texts;
}

/// A record whose content `append` writes. Contents are short, except for bytes that follow as `end`.
template <class Append>
void append_framed(byte_vector& out, record_number kind, std::size_t more_bytes, Append&& append) {
  static thread_local byte_vector content;
  content.clear();
  append(content);
  out.push_back(static_cast<std::byte>(kind));
  append_varint(out, content.size() + more_bytes);
  out.insert(out.end(), content.begin(), content.end());
}

tape_side side_of(std::uint64_t flags) {
  return (flags & from_peer) != 0 ? tape_side::peer : tape_side::recorder;
}

} // namespace

void append_tape_record(byte_vector& out, const tape_recorder_named& record) {
  append_framed(out, record_number::recorder_named, 0, [&](byte_vector& to) {
    append_text(to, record.node);
    append_text(to, record.software);
  });
}

void append_tape_record(byte_vector& out, const tape_link_began& record) {
  append_framed(out, record_number::link_began, 0, [&](byte_vector& to) {
    append_varint(to, record.link);
    append_varint(to, record.is_repeated ? repeated : 0);
    append_varint(to, record.at);
    append_varint(to, record.protocol);
    for (const auto text : {record.recorder_name, record.peer_name, record.recorder_address, record.peer_address,
                            record.transport, record.compression})
      append_text(to, text);
    append_texts(to, record.sends);
    append_texts(to, record.accepts);
    append_texts(to, record.features);
  });
}

void append_tape_record(byte_vector& out, const tape_packet& record, bytes_view end) {
  append_framed(out, record_number::packet, record.body.size() + end.size(), [&](byte_vector& to) {
    append_varint(to, record.link);
    append_varint(to, static_cast<std::uint64_t>(record.writer) | (record.is_repeated ? repeated : 0));
    append_varint(to, record.at);
    to.push_back(static_cast<std::byte>(record.kind));
    to.push_back(static_cast<std::byte>(record.detail));
  });
  out.insert(out.end(), record.body.begin(), record.body.end());
  out.insert(out.end(), end.begin(), end.end());
}

void append_tape_record(byte_vector& out, const tape_actor_named& record) {
  append_framed(out, record_number::actor_named, 0, [&](byte_vector& to) {
    append_varint(to, record.link);
    append_varint(to, static_cast<std::uint64_t>(record.exporter));
    append_varint(to, record.number);
    append_text(to, record.name);
  });
}

void append_tape_record(byte_vector& out, const tape_object& record) {
  append_framed(out, record_number::object, record.bytes.size(), [&](byte_vector& to) {
    append_varint(to, record.link);
    append_varint(to, record.at);
    append_varint(to, record.store);
    append_varint(to, record.index);
    append_varint(to, record.generation);
    append_varint(to, static_cast<std::uint64_t>(record.state));
    append_varint(to, record.size_bytes);
    append_varint(to, record.offset);
  });
  out.insert(out.end(), record.bytes.begin(), record.bytes.end());
}

void append_tape_record(byte_vector& out, const tape_dropped& record) {
  append_framed(out, record_number::dropped, 0, [&](byte_vector& to) {
    append_varint(to, record.link);
    append_varint(to, static_cast<std::uint64_t>(record.writer));
    append_varint(to, static_cast<std::uint64_t>(record.why));
    append_varint(to, record.first_at);
    append_varint(to, record.last_at);
    append_varint(to, record.packets);
    append_varint(to, record.messages);
    append_varint(to, record.bytes);
    append_text(to, record.text);
  });
}

void append_tape_record(byte_vector& out, const tape_link_ended& record) {
  append_framed(out, record_number::link_ended, 0, [&](byte_vector& to) {
    append_varint(to, record.link);
    append_varint(to, record.at);
    append_text(to, record.reason);
  });
}

void append_tape_record(byte_vector& out, const tape_ended& record) {
  append_framed(out, record_number::ended, 0, [&](byte_vector& to) {
    append_varint(to, record.at);
    append_varint(to, static_cast<std::uint64_t>(record.why));
  });
}

namespace {

tape_recorder_named take_recorder_named(packet_reader& in) {
  tape_recorder_named record;
  record.node = take_text(in);
  record.software = take_text(in);
  return record;
}

tape_link_began take_link_began(packet_reader& in) {
  tape_link_began record;
  record.link = in.varint();
  record.is_repeated = (in.varint() & repeated) != 0;
  record.at = in.varint();
  record.protocol = in.varint();
  for (auto* text : {&record.recorder_name, &record.peer_name, &record.recorder_address, &record.peer_address,
                     &record.transport, &record.compression})
    *text = take_text(in);
  record.sends = take_texts(in);
  record.accepts = take_texts(in);
  record.features = take_texts(in);
  return record;
}

tape_packet take_packet(packet_reader& in) {
  tape_packet record;
  record.link = in.varint();
  const auto flags = in.varint_up_to(known_packet_flags, "the flags of a packet");
  record.writer = side_of(flags);
  record.is_repeated = (flags & repeated) != 0;
  record.at = in.varint();
  record.kind = static_cast<packet_kind>(in.byte());
  record.detail = in.byte();
  if (in.ok() && in.rest().size() > packet_body_bytes_max)
    in.fail("bytes of a packet", in.rest().size(), packet_body_bytes_max);
  record.body = in.rest();
  return record;
}

tape_actor_named take_actor_named(packet_reader& in) {
  tape_actor_named record;
  record.link = in.varint();
  record.exporter = side_of(in.varint_up_to(from_peer));
  record.number = in.varint();
  record.name = take_text(in);
  return record;
}

tape_object take_object(packet_reader& in) {
  tape_object record;
  record.link = in.varint();
  record.at = in.varint();
  record.store = in.varint();
  record.index = static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX));
  record.generation = static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX));
  record.state = static_cast<tape_object::how>(in.varint_up_to(static_cast<std::uint64_t>(tape_object::how::gone)));
  record.size_bytes = in.varint();
  record.offset = in.varint();
  record.bytes = in.rest();
  if (record.offset > record.size_bytes || record.bytes.size() > record.size_bytes - record.offset)
    in.fail("bytes of an object beyond its end", record.bytes.size(), 0);
  return record;
}

tape_dropped take_dropped(packet_reader& in) {
  tape_dropped record;
  record.link = in.varint();
  record.writer = side_of(in.varint_up_to(from_peer));
  record.why = static_cast<tape_loss>(in.varint_up_to(UINT8_MAX));
  record.first_at = in.varint();
  record.last_at = in.varint();
  record.packets = in.varint();
  record.messages = in.varint();
  record.bytes = in.varint();
  record.text = take_text(in);
  return record;
}

tape_link_ended take_link_ended(packet_reader& in) {
  tape_link_ended record;
  record.link = in.varint();
  record.at = in.varint();
  record.reason = take_text(in);
  return record;
}

tape_ended take_ended(packet_reader& in) {
  tape_ended record;
  record.at = in.varint();
  record.why = static_cast<tape_end_reason>(in.varint_up_to(UINT8_MAX));
  return record;
}

tape_record take_record(record_number kind, packet_reader& in) {
  switch (kind) {
  case record_number::recorder_named:
    return take_recorder_named(in);
  case record_number::link_began:
    return take_link_began(in);
  case record_number::packet:
    return take_packet(in);
  case record_number::actor_named:
    return take_actor_named(in);
  case record_number::object:
    return take_object(in);
  case record_number::dropped:
    return take_dropped(in);
  case record_number::link_ended:
    return take_link_ended(in);
  case record_number::ended:
    return take_ended(in);
  }
  return tape_unknown{static_cast<std::uint8_t>(kind)};
}

} // namespace

std::optional<tape_record> read_tape_record(packet_reader& in) {
  const auto kind = static_cast<record_number>(in.byte());
  const auto content = in.take(in.varint_up_to(tape_block_bytes_max));
  if (!in.ok())
    return std::nullopt;
  packet_reader within{content};
  auto record = take_record(kind, within);
  if (within.ok()) // Bytes behind the known fields are of a later version.
    return record;
  in.fail();
  return std::nullopt;
}

} // namespace troupe::internal
