// Fuzzes the reader of tapes. The first byte of the input says what the rest is: see tape_part in tape.hpp. Checksums
// are correct except in whole files, because hardly any input would otherwise come past them.
#include "tape.hpp"

#include "decoding.hpp"

#include <troupe/framework/internal/tape/tape_format.hpp>
#include <troupe/framework/internal/wire/crc32c.hpp>
#include <troupe/framework/tape.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <variant>

namespace {

using namespace troupe;
using namespace troupe::internal;

constexpr std::uint64_t file_id = 42;
// Small, so that inputs reach them.
constexpr tape_limits few{.links = 8,
                          .definition_bytes = 64_KiB,
                          .frame_bytes = 4_KiB,
                          .open_frame_bytes = 8_KiB,
                          .open_requests = 8,
                          .frames = 64,
                          .object_bytes = 8_KiB};

byte_vector with_head() {
  const auto head = tape_head_of({.file = file_id});
  return {head.begin(), head.end()};
}

/// A block whose stored bytes are the input, whatever they are. Its first four bytes say how large it claims to be.
byte_vector compressed_block(tape_codec codec, bytes_view input) {
  std::uint32_t claimed = 0;
  std::memcpy(&claimed, input.data(), std::min(input.size(), sizeof claimed));
  const auto stored = input.subspan(std::min(input.size(), sizeof claimed));
  auto file = with_head();
  // A compressed block must promise more than it stores. The bytes are those of append_tape_block().
  byte_vector whole;
  append_tape_block(whole, {.file = file_id}, stored);
  const auto body_bytes = static_cast<std::uint32_t>(stored.size()) + 1
                          + claimed % (tape_block_bytes_max - static_cast<std::uint32_t>(stored.size()));
  std::memcpy(whole.data() + 24, &body_bytes, sizeof body_bytes);
  whole[28] = static_cast<std::byte>(codec);
  const auto checksum = crc32c(0, bytes_view{whole}.first(tape_block_head_bytes - 4));
  std::memcpy(whole.data() + tape_block_head_bytes - 4, &checksum, sizeof checksum);
  file.insert(file.end(), whole.begin(), whole.end());
  return file;
}

std::optional<byte_vector> file_of(std::uint8_t part, bytes_view input) {
  switch (static_cast<fuzz::tape_part>(part)) {
  case fuzz::tape_part::file:
    return byte_vector{input.begin(), input.end()};
  case fuzz::tape_part::records: {
    auto file = with_head();
    append_tape_block(file, {.file = file_id}, input);
    return file;
  }
  case fuzz::tape_part::lz4:
    return compressed_block(tape_codec::lz4, input);
  case fuzz::tape_part::zstd:
    return compressed_block(tape_codec::zstd, input);
  }
  return std::nullopt;
}

void check(const tape_message& message, std::uint64_t number) {
  fuzz::expect(message.number == number, "a message has number", std::to_string(message.number));
  fuzz::expect(message.elements.size() <= 256 * 1024, "elements", std::to_string(message.elements.size()));
  for (const auto& element : message.elements) {
    fuzz::expect(element.frames.size() == element.content.frames.size(), "frames and their rows differ");
    for (std::size_t i = 0; i < element.frames.size(); ++i)
      fuzz::expect(!element.frames[i].is_recorded
                       || element.frames[i].size_bytes == element.content.frames[i].size_bytes(),
                   "a frame has another size than it says");
    if (element.missing.empty())
      static_cast<void>(to_record(element));
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const auto file = file_of(data[0], std::as_bytes(std::span(data + 1, size - 1)));
  if (!file)
    return 0;
  auto opened = tape::read(*file, few);
  if (!opened)
    return 0;
  std::uint64_t messages = 0;
  std::uint64_t events = 0;
  auto has_ended = false;
  while (auto event = opened->next()) {
    fuzz::expect(!has_ended, "an event comes after the end");
    fuzz::expect(++events <= 10'000'000, "there is no end of events");
    has_ended = std::holds_alternative<tape_end>(*event);
    if (const auto* message = std::get_if<tape_message>(&*event))
      check(*message, ++messages);
    if (const auto* damage = std::get_if<tape_damage>(&*event)) {
      fuzz::expect(damage->begin <= damage->end && damage->end <= file->size(), "damage lies beyond the file");
      fuzz::expect(damage->what.size() <= 4'096, "a long text", std::to_string(damage->what.size()));
    }
  }
  fuzz::expect(has_ended, "the tape has no end");
  return 0;
}
