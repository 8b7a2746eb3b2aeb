// The filters, on one tile of a picture each. They know nothing of actors and stores.
#pragma once

#include <span>

#include "messages.hpp"

namespace images {

/// How far a filter looks beyond its tile.
inline constexpr std::size_t blur_reach = 4;
inline constexpr std::size_t edges_reach = 1;

/// What a filter of that reach reads for `tile`: so much more on each side, as far as the picture goes.
[[nodiscard]] area grown(const area& tile, std::size_t reach, const pixels& picture);

/// Each value becomes the mean of its square of 9 x 9; beyond the picture's edge its outermost pixels count again.
void blur(const pixels& picture, const area& tile, std::span<std::uint8_t> to);

/// How steeply the mean of red, green and blue changes (Sobel's operator), in one channel.
void edges(const pixels& picture, const area& tile, std::span<std::uint8_t> to);

/// How often each value is there, by channel.
void histogram(const pixels& picture, const area& tile, std::span<std::uint64_t> to);

} // namespace images
