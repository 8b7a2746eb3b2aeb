// The bytes of a tape: heads, blocks and records. What they mean: framework/tape-format.md. Pure: no files, no threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/tape.hpp>

namespace troupe::internal {

// -- a file's head

inline constexpr std::uint16_t tape_version = 1;
inline constexpr std::size_t tape_head_bytes = 48;

/// The first bytes of a file.
struct tape_head {
  std::uint16_t version = tape_version;
  std::uint32_t number = 0;    // Of the file in its recording, from 0.
  std::uint64_t recording = 0; // Random; the same in all files of a recording.
  std::uint64_t file = 0;      // Random; its blocks repeat it.
  std::uint64_t started_at =
      0; // Of the recording, in nanoseconds since 1970-01-01 UTC. Times in records count from it.
  bool operator==(const tape_head&) const = default;
};

[[nodiscard]] std::array<std::byte, tape_head_bytes> tape_head_of(const tape_head& head);
/// Reads the head of any version as far as all versions have it. Fails with the reason if this is not a tape's head.
[[nodiscard]] std::expected<tape_head, std::string> read_tape_head(std::span<const std::byte, tape_head_bytes> bytes);

// -- blocks

inline constexpr std::size_t tape_block_head_bytes = 40;
/// The most bytes of a block's records.
inline constexpr std::size_t tape_block_bytes_max = 4 * 1024 * 1024;
inline constexpr std::array tape_block_magic{std::byte{0xb1}, std::byte{0x6f}, std::byte{0x7c}, std::byte{0xa4},
                                             std::byte{'T'},  std::byte{'A'},  std::byte{'P'},  std::byte{'E'}};

enum class tape_codec : std::uint8_t { none = 0, lz4 = 1, zstd = 2 };

/// What precedes the stored bytes of a block.
struct tape_block_head {
  std::uint64_t file = 0;         // tape_head::file.
  std::uint32_t number = 0;       // In the file, from 0.
  std::uint32_t stored_bytes = 0; // As they follow; at most tape_block_bytes_max.
  std::uint32_t body_bytes = 0;   // Of the records, decompressed; at most tape_block_bytes_max.
  tape_codec codec = tape_codec::none;
  std::uint32_t checksum = 0; // CRC-32C of the stored bytes.
  bool operator==(const tape_block_head&) const = default;
};

/// Appends head and stored bytes of a block. The body is compressed if that makes it smaller. Requires: the body has at
/// most tape_block_bytes_max. The `number` and `file` of `head` are used, and its codec.
void append_tape_block(byte_vector& out, tape_block_head head, bytes_view body);

/// Reads a block's head. Returns nullopt if the bytes are not one, or it exceeds a bound, or it belongs to another
/// file.
[[nodiscard]] std::optional<tape_block_head>
read_tape_block_head(std::span<const std::byte, tape_block_head_bytes> bytes, std::uint64_t file);

/// Restores the body of a block into `body`, whose memory is reused. Fails with the reason.
[[nodiscard]] std::expected<void, std::string> restore_tape_block(const tape_block_head& head, bytes_view stored,
                                                                  byte_vector& body);

// -- records

/// The most bytes of a name, an address or a reason in a record.
inline constexpr std::size_t tape_text_bytes_max = 4096;
/// The most texts of a list in a record.
inline constexpr std::size_t tape_texts_max = 1024;

/// Names the recording node. The first record of a file.
struct tape_recorder_named {
  std::string_view node;
  std::string_view software;
};

/// A link from the time at which it was open. Repeated at the beginning of later files.
struct tape_link_began {
  std::uint64_t link = 0; // From 1; the number of the link in the recording.
  std::uint64_t at = 0;   // Nanoseconds since the recording began, as in all records.
  bool is_repeated = false;
  std::uint64_t protocol = protocol_version; // Of the link protocol.
  std::string_view recorder_name;
  std::string_view peer_name;
  std::string_view recorder_address;
  std::string_view peer_address;
  std::string_view transport;
  std::string_view compression; // What the recording end compresses by.
  std::vector<std::string_view> sends;
  std::vector<std::string_view> accepts;
  std::vector<std::string_view> features;
};

/// A packet of the link protocol.
struct tape_packet {
  std::uint64_t link = 0;
  tape_side writer = tape_side::recorder;
  bool is_repeated = false; // A definition that travelled earlier and is still in force.
  std::uint64_t at = 0;
  packet_kind kind = packet_kind::message;
  std::uint8_t detail = 0;
  bytes_view body;
};

/// A published name of an actor.
struct tape_actor_named {
  std::uint64_t link = 0;
  tape_side exporter = tape_side::recorder; // The end that has given the number.
  std::uint64_t number = 0;
  std::string_view name;
};

/// Bytes of an object in the store that the ends of a link share.
struct tape_object {
  enum class how : std::uint8_t { bytes = 0, gone = 1 }; // Gone: freed before it was recorded.
  std::uint64_t link = 0;
  std::uint64_t at = 0;
  std::uint64_t store = 0;
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  how state = how::bytes;
  std::uint64_t size_bytes = 0; // Of the object.
  std::uint64_t offset = 0;     // Of these bytes in the object.
  bytes_view bytes;
};

enum class tape_loss : std::uint8_t {
  too_slow = 1,    // The recorder's queue was full.
  write_error = 2, // The file could not be written; the text says why.
  no_room = 3,     // The tape has reached its bound.
};

/// What a link carried and the tape does not have.
struct tape_dropped {
  std::uint64_t link = 0;
  tape_side writer = tape_side::recorder;
  tape_loss why = tape_loss::too_slow;
  std::uint64_t first_at = 0;
  std::uint64_t last_at = 0;
  std::uint64_t packets = 0;
  std::uint64_t messages = 0; // Of the packets.
  std::uint64_t bytes = 0;    // Of the packets with their heads.
  std::string_view text;
};

struct tape_link_ended {
  std::uint64_t link = 0;
  std::uint64_t at = 0;
  std::string_view reason;
};

enum class tape_end_reason : std::uint8_t {
  closed = 1,    // The recording is over.
  continued = 2, // The recording goes on in another file.
  no_room = 3,   // The tape has reached its bound.
};

/// The last record of a file. If it is missing, the recorder was killed, or the file was cut.
struct tape_ended {
  std::uint64_t at = 0;
  tape_end_reason why = tape_end_reason::closed;
};

/// Of a later version of Troupe.
struct tape_unknown {
  std::uint8_t kind = 0;
};

using tape_record = std::variant<tape_recorder_named, tape_link_began, tape_packet, tape_actor_named, tape_object,
                                 tape_dropped, tape_link_ended, tape_ended, tape_unknown>;

/// The most bytes that a record takes beside the body of its packet or the bytes of its object, if it has one.
inline constexpr std::size_t tape_record_head_bytes_max = 128;

void append_tape_record(byte_vector& out, const tape_recorder_named& record);
void append_tape_record(byte_vector& out, const tape_link_began& record);
/// The body consists of two parts: record.body, and `end`.
void append_tape_record(byte_vector& out, const tape_packet& record, bytes_view end = {});
void append_tape_record(byte_vector& out, const tape_actor_named& record);
void append_tape_record(byte_vector& out, const tape_object& record);
void append_tape_record(byte_vector& out, const tape_dropped& record);
void append_tape_record(byte_vector& out, const tape_link_ended& record);
void append_tape_record(byte_vector& out, const tape_ended& record);

/// Reads the next record of a block's body. Its texts and bytes lie in the body. Returns nullopt if the bytes are not a
/// record; the reader has then failed. Requires: bytes are left.
[[nodiscard]] std::optional<tape_record> read_tape_record(packet_reader& in);

[[nodiscard]] constexpr tape_side other_end(tape_side side) noexcept {
  return side == tape_side::peer ? tape_side::recorder : tape_side::peer;
}

/// Whether a packet of that kind can be on a tape.
[[nodiscard]] constexpr bool is_recorded(packet_kind kind) noexcept {
  return kind == packet_kind::message || kind == packet_kind::chunk || kind == packet_kind::signature
         || kind == packet_kind::header || kind == packet_kind::value || kind == packet_kind::handles;
}
[[nodiscard]] constexpr bool is_definition(packet_kind kind) noexcept {
  return kind == packet_kind::signature || kind == packet_kind::header;
}
[[nodiscard]] constexpr bool is_message(packet_kind kind) noexcept {
  return kind == packet_kind::message || kind == packet_kind::value;
}

} // namespace troupe::internal
