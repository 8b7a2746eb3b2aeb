// Seeds for the target that reads tapes: the records of a short recording.
#include <cstring>
#include <string_view>

#include <troupe/framework/internal/tape/tape_format.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/serialize.hpp>

#include "decoding.hpp"
#include "seeds.hpp"
#include "tape.hpp"

namespace fuzz {

using namespace troupe;
using namespace troupe::internal;

namespace {

constexpr auto by_recorder = troupe::tape_side::recorder;
constexpr auto by_peer = troupe::tape_side::peer;

class recorded_link {
public:
  byte_vector records() {
    append_tape_record(out_, tape_recorder_named{.node = "kitchen", .software = "0.1.0"});
    append_tape_record(out_, tape_link_began{.link = 1,
                                             .at = 1,
                                             .recorder_name = "kitchen",
                                             .peer_name = "hall",
                                             .recorder_address = {},
                                             .peer_address = "unix://@hall",
                                             .transport = "unix",
                                             .compression = "none",
                                             .sends = {"typed"},
                                             .accepts = {"typed", "msgpack"},
                                             .features = {"extensions"}});
    append_tape_record(out_, tape_actor_named{.link = 1, .exporter = by_peer, .number = 12, .name = "cup"});
    define(by_recorder, text_);
    define(by_peer, text_);
    message(by_recorder, {.flags = message_flags::request, .receiver = 12, .sender = 3, .request_number = 9}, {});
    message(by_peer, {.flags = message_flags::response, .receiver = 3, .sender = 12, .request_number = 9}, {});
    const auto size = text_.frames[0].size_bytes();
    chunk(4, size, 0, 2, true);
    chunk(4, size, 2, size - 2, false);
    message(by_recorder, {.receiver = 12}, {.place = frame_place::chunks, .size_bytes = size, .transfer = 4});
    message(by_recorder, {.receiver = 12}, {.place = frame_place::stored, .size_bytes = 100'000, .object_index = 7});
    byte_vector described;
    append_object_mention(described, {.what = object_mention::kind::stored, .handle = {}});
    packet(by_recorder, packet_kind::handles, 0, described);
    byte_vector value;
    append_message_head(value, {.receiver = 12});
    append_varint(value, 1'000);
    packet(by_recorder, packet_kind::value, 0, value);
    append_tape_record(out_, tape_object{.link = 1, .at = 2, .index = 7, .size_bytes = 4, .bytes = bytes("abcd")});
    append_tape_record(out_, tape_dropped{.link = 1, .packets = 2, .messages = 1, .bytes = 100, .text = "no"});
    append_tape_record(out_, tape_link_ended{.link = 1, .at = 9, .reason = "done"});
    append_tape_record(out_, tape_ended{.at = 9});
    return out_;
  }

private:
  static bytes_view bytes(std::string_view text) { return std::as_bytes(std::span{text}); }

  void packet(troupe::tape_side writer, packet_kind kind, std::uint8_t detail, const byte_vector& body) {
    append_tape_record(out_,
                       tape_packet{.link = 1, .writer = writer, .at = 5, .kind = kind, .detail = detail, .body = body});
  }
  void define(troupe::tape_side writer, const payload& of) {
    byte_vector body;
    append_signature(body, {.number = 0, .aliases = {"str"}});
    packet(writer, packet_kind::signature, 0, body);
    body.clear();
    append_header(body, {1, of.header.bytes()});
    packet(writer, packet_kind::header, 0, body);
  }
  void message(troupe::tape_side writer, const message_head& head, frame_descriptor where) {
    byte_vector body;
    append_message_head(body, head);
    if (where.size_bytes == 0)
      where.size_bytes = text_.frames[0].size_bytes();
    element_descriptor element{.header_number = 1};
    element.frames = {where};
    element.actors = {{.number = 3}};
    append_element(body, element);
    if (where.place == frame_place::inline_)
      body.insert(body.end(), text_.frames[0].bytes().begin(), text_.frames[0].bytes().end());
    packet(writer, packet_kind::message, head.flags, body);
  }
  void chunk(std::uint64_t transfer, std::uint64_t total, std::size_t offset, std::size_t size, bool first) {
    byte_vector body;
    append_chunk_head(body, {.transfer = transfer, .total_bytes = total}, first);
    const auto piece = text_.frames[0].bytes().subspan(offset, size);
    body.insert(body.end(), piece.begin(), piece.end());
    packet(by_recorder, packet_kind::chunk, first ? chunk_flags::first : std::uint8_t{0}, body);
  }

  const payload text_ = [] {
    const type_registry types;
    auto done = serialize(std::string{"a text that is not long"}, {}, types, families());
    expect(done.has_value(), "a text cannot be encoded");
    return *std::move(done);
  }();
  byte_vector out_;
};

void write(const std::filesystem::path& folder, tape_part part, const std::string& name, bytes_view input) {
  byte_vector whole{static_cast<std::byte>(part)};
  whole.insert(whole.end(), input.begin(), input.end());
  write_seed(folder, "tape", name, whole);
}

} // namespace

void write_tape_seeds(const std::filesystem::path& folder) {
  const auto records = recorded_link{}.records();
  write(folder, tape_part::records, "records", records);
  for (const auto& [codec, name] :
       {std::pair{tape_codec::none, "none"}, {tape_codec::lz4, "lz4"}, {tape_codec::zstd, "zstd"}}) {
    const auto head = tape_head_of({.file = 1});
    byte_vector file{head.begin(), head.end()};
    for (std::uint32_t number = 0; number < 3; ++number)
      append_tape_block(file, {.file = 1, .number = number, .codec = codec}, records);
    write(folder, tape_part::file, std::string{"file."} + name, file);
    if (codec == tape_codec::none)
      continue;
    const auto stored = bytes_view{file}.subspan(head.size() + tape_block_head_bytes);
    byte_vector block;
    append_tape_block(block, {.file = 1, .codec = codec}, records);
    const auto stored_bytes = block.size() - tape_block_head_bytes;
    const auto claimed = static_cast<std::uint32_t>(records.size() - stored_bytes - 1);
    byte_vector input(sizeof claimed);
    std::memcpy(input.data(), &claimed, sizeof claimed);
    input.insert(input.end(), stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(stored_bytes));
    write(folder, codec == tape_codec::lz4 ? tape_part::lz4 : tape_part::zstd, name, input);
  }
}

} // namespace fuzz
