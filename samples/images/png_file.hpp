// Reads and writes PNG files with libpng.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace images {

struct image_size {
  std::size_t height = 0;
  std::size_t width = 0;
};

/// Reads red, green and blue into the memory that `room` returns for the size. Throws std::runtime_error.
image_size read_png(const std::string& file, const std::function<std::span<std::uint8_t>(image_size)>& room);

/// Writes one channel (gray) or three. Throws std::runtime_error.
void write_png(const std::string& file, image_size size, std::size_t channels, std::span<const std::uint8_t> values);

} // namespace images
