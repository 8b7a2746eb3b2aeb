// What an input for the target `tape` is.
#pragma once

#include <cstdint>

namespace fuzz {

/// The first byte of an input.
enum class tape_part : std::uint8_t {
  file = 0,    ///< A whole file.
  records = 1, ///< The records of one block.
  lz4 = 2,     ///< The claimed size of a block (4 bytes), and its compressed bytes.
  zstd = 3,
};

} // namespace fuzz
