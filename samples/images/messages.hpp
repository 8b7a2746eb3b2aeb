// The messages between the coordinator and its workers. Pixels never travel, only references to them.
#pragma once

#include <caf/all.hpp>
#include <troupe/framework/message_types.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace images {

using pixels = troupe::array<std::uint8_t>; // Shape: (height, width, channels).
using pixels_ref = troupe::object_ref<pixels>;
using counts = troupe::array<std::uint64_t>; // Shape: (channels, 256).
using counts_ref = troupe::object_ref<counts>;

enum class filter { blur, edges, histogram };
TROUPE_DESCRIBE_ENUM(filter, blur, edges, histogram)

struct area {
  std::size_t row = 0;
  std::size_t column = 0;
  std::size_t height = 0;
  std::size_t width = 0;
};
TROUPE_DESCRIBE(area, row, column, height, width)

/// One unit of work.
struct tile {
  filter what = filter::blur;
  area where;
  pixels_ref picture; // The whole picture, because a filter looks beyond its tile's edge.
};
TROUPE_DESCRIBE(tile, what, where, picture)

/// A worker's answer. One of the two references is empty.
struct filtered_tile {
  pixels_ref image; // As large as the tile.
  counts_ref histogram;
  std::size_t bytes_read = 0; // Bytes of the picture read in place.
};
TROUPE_DESCRIBE(filtered_tile, image, histogram, bytes_read)

/// A worker's first message.
struct registration {
  std::int64_t process = 0;
  caf::actor worker; // Answers a tile with a filtered_tile.
};
TROUPE_DESCRIBE(registration, process, worker)

inline void add_message_types(troupe::type_registry& types) {
  types.add<tile>("images.tile").add<filtered_tile>("images.filtered_tile").add<registration>("images.registration");
}

} // namespace images
