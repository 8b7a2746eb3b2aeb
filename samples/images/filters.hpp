// The filters. Each handles one tile of a picture and knows nothing of actors and stores.
#pragma once

#include <span>

#include "messages.hpp"

namespace images {

/// Distance in pixels that a filter looks beyond its tile.
inline constexpr std::size_t blur_reach = 4;
inline constexpr std::size_t edges_reach = 1;

/// The area that a filter reads for `tile`: `reach` more pixels on each side, clipped to the picture.
[[nodiscard]] area grown(const area& tile, std::size_t reach, const pixels& picture);

/// Each value becomes the mean of the 9 x 9 square around it. Beyond the picture's edge the outermost pixels are
/// repeated.
void blur(const pixels& picture, const area& tile, std::span<std::uint8_t> to);

/// The gradient of the mean of red, green and blue, by Sobel's operator. The result has one channel.
void edges(const pixels& picture, const area& tile, std::span<std::uint8_t> to);

/// The number of occurrences of each value, by channel.
void histogram(const pixels& picture, const area& tile, std::span<std::uint64_t> to);

} // namespace images
