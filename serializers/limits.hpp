// What a decoder accepts at most. Every limit is checked before memory is taken.
#pragma once

#include <cstddef>

#include <troupe/base/sizes.hpp>

namespace troupe {

/// Bounds for one payload. Raising one costs what a hostile peer can make this process spend per message.
struct limits {
  std::size_t header_bytes = 64_KiB; ///< A payload's header, with the type's layout in it.
  std::size_t frames = 65'536;       ///< Frames of one payload.
  std::size_t body_bytes = 1_GiB;    ///< Frame 0, in which everything lies that did not leave out of band.
  std::size_t frame_bytes = 64_GiB;  ///< One out-of-band frame. Views of frames cost no memory of their own.
  std::size_t text_bytes = 1_GiB;    ///< One string, path or field name.
  std::size_t elements = 64 << 20;   ///< Elements of all containers together; contiguous numbers count as one.
  std::size_t depth = 256;           ///< Containers and pointers within each other; costs stack, in encoding too.
  /// The same where each shared object counts wherever a pointer leads to it: dropping a value costs so much stack.
  /// Less than `depth` bounds that as well.
  std::size_t height = 2048;
  /// How often keys of unordered containers are compared with others of their bucket, beyond what each key has free: 64
  /// times a short one, 8 times a long one. A key counts once more for every 32 bytes of it, a path for every 2.
  std::size_t hash_probes = 16 << 20;
  std::size_t memory_bytes = 8_GiB; ///< All that decoding allocates for what types describe.
  /// Allocated bytes per received byte, decompressed, beyond `memory_free_bytes`. Large maps of small numbers, read as
  /// a `record`, may need more: an entry takes about 270 bytes.
  std::size_t memory_ratio = 64;
  /// Every payload may allocate this much, however small it is. The elements of one message divide it among them.
  std::size_t memory_free_bytes = 1_MiB;
  std::size_t decompressed_bytes = 1_GiB; ///< What all compressed frames of one payload become; 0 refuses them.
  /// What one byte of a compressed frame may become. lz4 never makes more than 255 of one; senders keep to it.
  std::size_t decompression_ratio = 256;
  /// One object of another host that an object_ref names, as its source says before a byte has come. Its place in the
  /// store is taken at once, so that others may have to go to disk for it; pages only as its bytes come.
  std::size_t object_bytes = 64_GiB;
};

} // namespace troupe
