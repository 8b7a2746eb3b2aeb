// The bytes of a link: preamble, packet heads, and the binary parts of message, chunk and signature packets.
// Why these fields, and an example worked byte by byte: framework/link-protocol.md. Pure: no sockets, no actors.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/serializers/extend/encode_output.hpp>

namespace troupe::internal {

using bytes_view = std::span<const std::byte>;
using byte_vector = std::vector<std::byte>;

/// First bytes of every link, from both ends: "TROUPE", then the protocol version, little-endian. These bytes are the
/// same in every version, so that two ends of different versions can name both.
inline constexpr std::uint16_t protocol_version = 1;
/// Grows with each feature (features.hpp). Nothing depends on it: it informs people.
inline constexpr std::uint16_t protocol_minor_version = 4;
inline constexpr std::size_t preamble_bytes = 8;
[[nodiscard]] std::array<std::byte, preamble_bytes> make_preamble();
/// Returns the peer's version, or nullopt if this is not a Troupe link.
[[nodiscard]] std::optional<std::uint16_t> read_preamble(std::span<const std::byte, preamble_bytes> bytes);

/// A reader may skip packet kinds and admin operations with unknown numbers from here on; an unknown lower number ends
/// the link.
inline constexpr std::uint8_t first_skippable_number = 128;
/// In a packet's detail byte that holds flags or nothing, a reader has to understand these bits and may skip the
/// others.
inline constexpr std::uint8_t binding_flags = 0x3f;

enum class packet_kind : std::uint8_t {
  admin = 1,        // Detail: admin_op. Body: a msgpack map.
  message = 2,      // Detail: message_flags. Body: message_head, then the elements.
  chunk = 3,        // Detail: chunk_flags. Body: transfer number, total size when first, bytes.
  signature = 4,    // Detail: 0. Body: number, count, aliases.
  header = 5,       // Detail: 0. Body: number, a payload's header.
  value = 6,        // Detail: message_flags. Body: message_head, size. The message goes beside the bytes (inproc only).
  handles = 7,      // Detail: 0. Body: descriptors of the objects that the next message mentions.
  object_chunk = 8, // Detail: 0. Body: object_chunk_head, bytes of the object.
};

/// First bytes of every packet; integers little-endian.
struct packet_head {
  std::uint32_t body_bytes; // Without the head.
  packet_kind kind;
  std::uint8_t detail;        // Its meaning depends on the kind.
  std::uint16_t reserved = 0; // Written as zero, refused otherwise.
};
inline constexpr std::size_t packet_head_bytes = 8;
static_assert(sizeof(packet_head) == packet_head_bytes && std::endian::native == std::endian::little,
              "heads are written as they lie in memory");
[[nodiscard]] constexpr std::array<std::byte, packet_head_bytes> packet_head_of(const packet_head& head) {
  return std::bit_cast<std::array<std::byte, packet_head_bytes>>(head);
}

/// The maximum body of a packet. A frame that does not fit travels ahead of its message in chunks.
inline constexpr std::size_t packet_body_bytes_max = 320 * 1024;
/// The maximum body until the peer has proven itself. This is the most that an unknown peer can make a node hold.
inline constexpr std::size_t unproven_body_bytes_max = 4 * 1024;
/// The maximum body from then on until the link is open.
inline constexpr std::size_t greeting_body_bytes_max = 64 * 1024;
/// The most bytes of a frame in one chunk.
inline constexpr std::size_t chunk_bytes_max = 256 * 1024;
/// Frames up to this size travel inside their message's packet, as long as all of them together stay below
/// `inline_frames_bytes_max`.
inline constexpr std::size_t inline_frame_bytes_max = 64 * 1024;
inline constexpr std::size_t inline_frames_bytes_max = 192 * 1024;

void append_packet_head(byte_vector& out, const packet_head& head);
[[nodiscard]] packet_head read_packet_head(std::span<const std::byte, packet_head_bytes> bytes);

/// The most bytes of a varint.
inline constexpr std::size_t varint_bytes_max = 10;
/// Writes a varint and returns its end. Requires: room for varint_bytes_max.
inline std::byte* put_varint(std::byte* at, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    *at++ = static_cast<std::byte>(value | 0x80);
  *at++ = static_cast<std::byte>(value);
  return at;
}

void append_long_varint(byte_vector& out, std::uint64_t value);
/// Integers of 7 bits a byte, low bits first, at most ten bytes (LEB128).
inline void append_varint(byte_vector& out, std::uint64_t value) {
  if (value < 0x80) // Most are short.
    out.push_back(static_cast<std::byte>(value));
  else
    append_long_varint(out, value);
}

/// Reads what the append functions wrote. Every member checks that the bytes exist. After the first failure all reads
/// fail, so a caller may check once at the end.
class packet_reader {
public:
  explicit packet_reader(bytes_view bytes) : rest_(bytes) {}

  std::uint8_t byte();
  std::uint64_t varint() {
    if (!rest_.empty() && static_cast<std::uint8_t>(rest_[0]) < 0x80) { // Most are short.
      auto value = static_cast<std::uint64_t>(rest_[0]);
      rest_ = rest_.subspan(1);
      return value;
    }
    return long_varint();
  }
  /// Reads a varint and fails if it exceeds `max`.
  std::uint64_t varint_up_to(std::uint64_t max, std::string_view of_what = "a number") {
    auto value = varint();
    if (value <= max)
      return value;
    fail(of_what, value, max);
    return 0;
  }
  bytes_view take(std::uint64_t size_bytes) {
    if (!ok_ || size_bytes > rest_.size()) {
      fail();
      return {};
    }
    auto result = rest_.first(static_cast<std::size_t>(size_bytes));
    rest_ = rest_.subspan(result.size());
    return result;
  }
  /// Requires: at least `bytes` are left.
  void skip(std::size_t bytes) noexcept { rest_ = rest_.subspan(bytes); }
  std::string_view text(std::uint64_t size_max);

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bytes_view rest() const noexcept { return rest_; }
  /// Whether everything was read without failure.
  [[nodiscard]] bool finished() const noexcept { return ok_ && rest_.empty(); }
  void fail() noexcept {
    ok_ = false;
    rest_ = {};
  }
  /// Fails with a reason. The first reason is kept. Requires: the text outlives this object.
  void fail(std::string_view what, std::uint64_t value, std::uint64_t limit) noexcept {
    if (ok_)
      fault_ = {what, value, limit};
    fail();
  }
  /// Describes what could not be read. Requires: not ok().
  [[nodiscard]] std::string fault() const;

private:
  std::uint64_t long_varint();

  struct reason {
    std::string_view what; // Empty: the bytes end too early, or a varint is not in its shortest form.
    std::uint64_t value = 0;
    std::uint64_t limit = 0;
  };

  bytes_view rest_;
  bool ok_ = true;
  reason fault_;
};

/// Bits of a message packet's detail byte.
struct message_flags {
  static constexpr std::uint8_t urgent = 1;    // CAF's high priority.
  static constexpr std::uint8_t request = 2;   // A response is expected.
  static constexpr std::uint8_t response = 4;  // Answers a request.
  static constexpr std::uint8_t returned = 8;  // The sender is an actor of the reader, for which the writer forwards.
  static constexpr std::uint8_t extended = 16; // An extension map follows the head; with feature::extensions only.
  static constexpr std::uint8_t repeated = 64; // Its stored frames are counted already; with feature::handle_windows
                                               // only.
  static constexpr std::uint8_t known = 31 | repeated;
};

/// CAF's request ids have 60 bits; higher bits are CAF's flags.
inline constexpr std::uint64_t request_number_max = 0x0fff'ffff'ffff'ffff;

/// Identifies a request: the asking actor, and CAF's request id without flags.
struct question_key {
  std::uint64_t asker = 0;
  std::uint64_t number = 0;
  bool operator==(const question_key&) const = default;
};

/// The fields before a message's elements.
struct message_head {
  std::uint8_t flags = 0;
  std::uint64_t receiver = 0;       // Number of an actor that the reader of the packet has exported.
  std::uint64_t sender = 0;         // Number of an actor that the writer exports (or, returned, the reader); 0: none.
  std::uint64_t request_number = 0; // Only with message_flags::request or response.
  std::uint64_t signature = 0;
  bytes_view extensions = {}; // message_extensions.hpp; only with message_flags::extended. Lives as long as the packet.
};

/// Fails the reader if the bytes are not a map or too long.
[[nodiscard]] bytes_view read_extensions(packet_reader& in);

/// The bytes of a head without its extensions.
class written_message_head {
public:
  /// For five numbers.
  static constexpr std::size_t size_max = 5 * varint_bytes_max;

  explicit written_message_head(const message_head& head) {
    auto* end = put_varint(bytes_.data(), head.receiver);
    end = put_varint(end, head.sender);
    if ((head.flags & (message_flags::request | message_flags::response)) != 0)
      end = put_varint(end, head.request_number);
    end = put_varint(end, head.signature);
    size_ = static_cast<std::size_t>(end - bytes_.data());
  }
  [[nodiscard]] bytes_view bytes() const noexcept { return std::span{bytes_}.first(size_); }

private:
  std::array<std::byte, size_max> bytes_;
  std::size_t size_;
};

void append_message_head(byte_vector& out, const message_head& head);
[[nodiscard]] inline message_head read_message_head(packet_reader& in, std::uint8_t flags) {
  constexpr auto numbered = message_flags::request | message_flags::response;
  message_head head{.flags = flags};
  // Unknown binding flags would change the meaning; a message cannot be a request and an answer at once.
  if ((flags & binding_flags & ~message_flags::known) != 0 || (flags & numbered) == numbered)
    in.fail();
  head.flags &= message_flags::known;
  head.receiver = in.varint();
  head.sender = in.varint();
  if ((flags & numbered) != 0)
    head.request_number = in.varint_up_to(request_number_max);
  head.signature = in.varint();
  if ((flags & numbered) != 0 && head.request_number == 0)
    in.fail();
  if ((flags & message_flags::extended) != 0)
    head.extensions = read_extensions(in);
  return head;
}

/// Where a frame's bytes are.
enum class frame_place : std::uint8_t {
  inline_ = 0, // In the packet, after the descriptors of its element.
  chunks = 1,  // In chunks that arrived before.
  stored = 2,  // In the store that both ends share; one count of the object is in flight to the reader.
};

inline constexpr unsigned frame_place_bits = 2; // The low bits of a number whose other bits are the frame's size.

struct frame_descriptor {
  frame_place place = frame_place::inline_;
  std::uint64_t size_bytes = 0;
  std::uint64_t transfer = 0; // chunks
  // stored
  std::uint32_t object_index = 0;
  std::uint32_t object_generation = 0;
  std::uint64_t object_offset = 0;
};

/// An actor that an element mentions, in the order of the payload's mentions. Every mention counts one.
struct actor_mention {
  std::uint64_t number = 0;
  bool readers = false; // Exported by the reader of the packet; false: by its writer.
};

/// One element of a message: a payload. A header that is used repeatedly was sent before, under a number.
struct element_descriptor {
  std::uint64_t header_number = 0; // 0: in `header`; n: in the writer's n-th header packet.
  bytes_view header = {};
  std::vector<frame_descriptor> frames = {};
  std::vector<actor_mention> actors = {};
  std::uint64_t objects = 0; // The number of mentioned objects: the element's share of the descriptors ahead of the
                             // message.
};

void append_element(byte_vector& out, const element_descriptor& element);

/// The most actors that one element may mention.
inline constexpr std::size_t element_actors_max = 65'536;

/// The most objects that one message may mention.
inline constexpr std::size_t message_objects_max = 65'536;

/// The cost of mentioning one of the writer's actors or an object, against the window. It is about the memory of the
/// proxy.
inline constexpr std::size_t mention_cost_bytes = 256;

/// Bounds on an element's descriptor.
struct element_limits {
  std::uint64_t header_bytes_max;
  std::uint64_t frames_max;
  std::uint64_t actors_max;
  std::uint64_t frame_bytes_max;
};
/// Reads into `element`, reusing its vectors. The inline bytes are then next in the reader.
void read_element(packet_reader& in, element_descriptor& element, const element_limits& limits);

/// The most frequent form of an element: a header by its number, one inline frame, and no actors. Numbers and size have
/// at most two bytes.
struct plain_element {
  std::uint64_t header_number = 0;
  bytes_view body = {};
};
/// Writes such an element as append_element() does. The body may have any size.
inline void append_plain_element(byte_buffer& out, std::uint64_t header_number, bytes_view body) {
  out.reserve(2 * varint_bytes_max + 2 + body.size());
  auto* at = put_varint(out.end(), header_number);
  *at++ = std::byte{1}; // Frames.
  at = put_varint(at,
                  (std::uint64_t{body.size()} << frame_place_bits) | static_cast<std::uint64_t>(frame_place::inline_));
  *at++ = std::byte{0}; // Actors and objects.
  if (!body.empty())
    std::memcpy(at, body.data(), body.size());
  out.advance_to(at + body.size());
}

/// Reads nothing and returns nullopt if the next element has another form.
[[nodiscard]] inline std::optional<plain_element> read_plain_element(packet_reader& in) {
  // Uses registers only: no call, and the bytes are examined in place.
  const auto rest = in.rest();
  constexpr std::size_t descriptor_bytes_max = 6;
  std::array<std::byte, descriptor_bytes_max> padded;
  const auto* bytes = rest.data();
  if (rest.size() < padded.size()) [[unlikely]] {
    padded.fill(std::byte{0});
    std::ranges::copy(rest, padded.begin());
    bytes = padded.data();
  }
  const auto byte_at = [bytes](std::size_t at) { return static_cast<std::uint32_t>(bytes[at]); };
  std::size_t at = 0;
  // Returns a number of one or two bytes; 0 if it is longer, or zero.
  const auto number = [&]() -> std::uint32_t {
    const auto low = byte_at(at++);
    if (low < 0x80)
      return low;
    const auto high = byte_at(at++);
    return high < 0x80 ? (low & 0x7f) | high << 7 : 0; // A zero high byte fails the check of the shortest form below.
  };
  plain_element result{.header_number = number()};
  const auto number_is_shortest = at == 1 || result.header_number >= 0x80;
  const auto frames = byte_at(at++);
  const auto size_at = at;
  const auto size_and_place = number();
  const auto size_is_shortest = at == size_at + 1 || size_and_place >= 0x80;
  const auto actors = byte_at(at++);
  const std::size_t size = size_and_place >> frame_place_bits;
  const auto place = static_cast<frame_place>(size_and_place & ((1u << frame_place_bits) - 1));
  if (result.header_number == 0 || !number_is_shortest || frames != 1 || !size_is_shortest || actors != 0
      || place != frame_place::inline_ || at > rest.size() || size > rest.size() - at)
    return std::nullopt;
  result.body = rest.subspan(at, size);
  in.skip(at + size);
  return result;
}

/// How a message mentions an object: by a counted handle, by a handle in flight in the store that both ends share, or
/// as lost.
struct object_mention {
  enum class kind : std::uint8_t { lost = 0, counted = 1, stored = 2 };
  kind what = kind::lost;
  handles::handle_descriptor handle; // For `counted`; for the other kinds only its name and size are set.
  bool is_repeated = false;          // Counted for the receiver already; see feature::handle_windows.
};

/// The most bytes of an object mention.
inline constexpr std::size_t object_mention_bytes_max = 128;

void append_object_mention(byte_vector& out, const object_mention& mention);
[[nodiscard]] object_mention read_object_mention(packet_reader& in);

/// The fields before the bytes of a pulled object.
struct object_chunk_head {
  handles::pull_chunk what;
  std::uint32_t checksum = 0; // CRC32C of the object's bytes up to the end of this chunk.
};

void append_object_chunk_head(byte_vector& out, const object_chunk_head& head);
/// Sets `what.size_bytes` to the number of bytes that follow.
[[nodiscard]] object_chunk_head read_object_chunk_head(packet_reader& in);

/// Bits of a chunk packet's detail byte.
struct chunk_flags {
  static constexpr std::uint8_t first = 1; // The total size follows the number.
};

/// The fields before a chunk's bytes.
struct chunk_head {
  std::uint64_t transfer = 0;
  std::uint64_t total_bytes = 0; // Only in the first chunk.
};

void append_chunk_head(byte_vector& out, const chunk_head& head, bool first);
[[nodiscard]] chunk_head read_chunk_head(packet_reader& in, bool first);

/// Gives a number to a list of type aliases. It is sent once, before the first message that uses it.
struct signature_definition {
  std::uint64_t number = 0;
  std::vector<std::string> aliases = {};
};
inline constexpr std::size_t signature_aliases_max = 256;
inline constexpr std::size_t alias_bytes_max = 1024;

/// Gives a number, counted from 1, to a payload's header. It is sent once, before the first element that uses it.
struct header_definition {
  std::uint64_t number = 0;
  bytes_view header = {};
};

void append_header(byte_vector& out, const header_definition& definition);
[[nodiscard]] std::optional<header_definition> read_header(bytes_view body);

void append_signature(byte_vector& out, const signature_definition& definition);
[[nodiscard]] std::optional<signature_definition> read_signature(bytes_view body);

} // namespace troupe::internal
