#include "text_reader.hpp"

#include <troupe/troupe.hpp>

#include <utility>

namespace wordcount {

caf::behavior text_reader::make_behavior() {
  return {[this](next_block) { return read_block(); }};
}

caf::result<block_read> text_reader::read_block() {
  while (!files_.done()) {
    auto room = node_.make_array<char>(files_.wanted_bytes());
    if (!room)
      return troupe::to_caf_error(room.error());
    const auto size = files_.fill(room->values());
    if (size == 0)
      continue; // The word is longer than the room: try again with more.
    room->shrink(size);
    auto text = std::move(*room).seal();
    if (!text)
      return troupe::to_caf_error(text.error());
    return block_read{*std::move(text), files_.totals(), files_.problems()};
  }
  return block_read{std::nullopt, files_.totals(), files_.problems()};
}

} // namespace wordcount
