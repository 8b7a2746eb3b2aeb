#include "filters.hpp"

#include <algorithm>
#include <cmath>

namespace images {

namespace {

/// A picture whose outermost pixels extend beyond its edge: a place outside has the value of the nearest place inside.
struct clamped {
  const pixels& of;

  int operator()(std::ptrdiff_t row, std::ptrdiff_t column, std::size_t channel) const {
    const auto nearest = [this](std::ptrdiff_t at, std::size_t dimension) {
      return std::clamp<std::ptrdiff_t>(at, 0, static_cast<std::ptrdiff_t>(of.shape()[dimension]) - 1);
    };
    return of[nearest(row, 0), nearest(column, 1), channel];
  }
};

template <class Function>
void for_each_place(const area& tile, Function function) {
  for (auto row = tile.row; row < tile.row + tile.height; ++row)
    for (auto column = tile.column; column < tile.column + tile.width; ++column)
      function(static_cast<std::ptrdiff_t>(row), static_cast<std::ptrdiff_t>(column));
}

} // namespace

area grown(const area& tile, std::size_t reach, const pixels& picture) {
  const auto row = tile.row - std::min(tile.row, reach);
  const auto column = tile.column - std::min(tile.column, reach);
  return {.row = row,
          .column = column,
          .height = std::min(tile.row + tile.height + reach, picture.shape()[0]) - row,
          .width = std::min(tile.column + tile.width + reach, picture.shape()[1]) - column};
}

void blur(const pixels& picture, const area& tile, std::span<std::uint8_t> to) {
  constexpr auto reach = static_cast<std::ptrdiff_t>(blur_reach);
  constexpr auto count = (2 * reach + 1) * (2 * reach + 1);
  const clamped at{picture};
  auto next = to.begin();
  for_each_place(tile, [&](std::ptrdiff_t row, std::ptrdiff_t column) {
    for (std::size_t channel = 0; channel < picture.shape()[2]; ++channel) {
      std::ptrdiff_t sum = 0;
      for (auto down = -reach; down <= reach; ++down)
        for (auto right = -reach; right <= reach; ++right)
          sum += at(row + down, column + right, channel);
      *next++ = static_cast<std::uint8_t>(sum / count);
    }
  });
}

void edges(const pixels& picture, const area& tile, std::span<std::uint8_t> to) {
  const clamped at{picture};
  const auto mean = [&](std::ptrdiff_t row, std::ptrdiff_t column) {
    return (at(row, column, 0) + at(row, column, 1) + at(row, column, 2)) / 3;
  };
  auto next = to.begin();
  for_each_place(tile, [&](std::ptrdiff_t y, std::ptrdiff_t x) {
    const auto right = mean(y - 1, x + 1) + 2 * mean(y, x + 1) + mean(y + 1, x + 1);
    const auto left = mean(y - 1, x - 1) + 2 * mean(y, x - 1) + mean(y + 1, x - 1);
    const auto below = mean(y + 1, x - 1) + 2 * mean(y + 1, x) + mean(y + 1, x + 1);
    const auto above = mean(y - 1, x - 1) + 2 * mean(y - 1, x) + mean(y - 1, x + 1);
    *next++ = static_cast<std::uint8_t>(std::min(std::abs(right - left) + std::abs(below - above), 255));
  });
}

void histogram(const pixels& picture, const area& tile, std::span<std::uint64_t> to) {
  std::ranges::fill(to, 0);
  const auto first = [](std::size_t at) { return static_cast<std::ptrdiff_t>(at); };
  const auto view = picture.slice(0, first(tile.row), first(tile.row + tile.height))
                        .slice(1, first(tile.column), first(tile.column + tile.width)); // A view of the same memory.
  for (std::size_t channel = 0; channel < picture.shape()[2]; ++channel)
    for (const auto value : view.select(2, channel))
      ++to[channel * 256 + value];
}

} // namespace images
