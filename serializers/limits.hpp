// The limits of a decoder. Each limit is checked before memory is allocated.
#pragma once

#include <cstddef>

#include <troupe/base/sizes.hpp>

namespace troupe {

/// Limits for one payload. A higher limit lets a hostile peer make this process spend more per message. A value
/// that exceeds a limit fails with `limit_exceeded`, and the text names the limit. Encoding checks `header_bytes`,
/// `frames`, `depth` and `height` as well, so that the sender learns what a receiver with the same limits would refuse.
struct limits {
  std::size_t header_bytes = 64_KiB; ///< A payload's header, including the type's layout.
  std::size_t frames = 65'536;       ///< Frames of one payload.
  std::size_t body_bytes = 1_GiB;    ///< Frame 0, which holds everything that is not out of band.
  std::size_t frame_bytes = 64_GiB;  ///< One out-of-band frame. Views of frames cost no memory of their own.
  std::size_t text_bytes = 1_GiB;    ///< One string, path or field name.
  std::size_t elements = 64 << 20;   ///< Elements of all containers together; contiguous numbers count as one.
  std::size_t depth = 256;           ///< Nested containers and pointers. Each level takes stack, also in encoding.
  /// The nesting depth if a shared object counts once for each pointer that leads to it. The destructors of the value
  /// may recurse so deep. If `height` is less than `depth`, it bounds the depth as well.
  std::size_t height = 2048;
  /// Comparisons of keys of unordered containers with other keys of their bucket. For each key the first 64 comparisons
  /// (8 for a long key) are not counted. A comparison counts once more for every 32 bytes of the key, or for every 2
  /// bytes if the key is a std::filesystem::path.
  std::size_t hash_probes = 16 << 20;
  std::size_t memory_bytes = 8_GiB; ///< All memory that decoding allocates for described types.
  /// The bytes that decoding may allocate for each received byte (counted after decompression), in addition to
  /// `memory_free_bytes`. Large maps of small numbers may need more if they are read as a `record`, because an entry
  /// takes about 270 bytes.
  std::size_t memory_ratio = 64;
  /// The bytes that every payload may allocate, however small it is. The elements of one message share them.
  std::size_t memory_free_bytes = 1_MiB;
  std::size_t decompressed_bytes = 1_GiB; ///< All compressed frames of one payload, decompressed; 0 refuses them.
  /// Decompressed bytes per compressed byte of a frame. lz4 stays below 255. Senders keep to this limit.
  std::size_t decompression_ratio = 256;
  /// One object of another host that an object_ref names, by the size that its source announces. The object's place in
  /// the store is reserved at once, which may spill other objects. Pages are taken only as its bytes arrive.
  std::size_t object_bytes = 64_GiB;

  friend bool operator==(const limits&, const limits&) = default;
};

} // namespace troupe
