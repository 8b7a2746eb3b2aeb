// Repeats the sample's work on one thread, in plain loops and without the sample's code, and compares every pixel:
// check PICTURE.png FOLDER
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <png.h>

namespace {

struct image {
  int height = 0;
  int width = 0;
  int channels = 0;
  std::vector<unsigned char> values;

  /// The value there; outside the image, that of the nearest pixel.
  [[nodiscard]] int at(int row, int column, int channel) const {
    row = std::max(0, std::min(row, height - 1));
    column = std::max(0, std::min(column, width - 1));
    return values[static_cast<std::size_t>((row * width + column) * channels + channel)];
  }
  [[nodiscard]] int grey(int row, int column) const {
    return (at(row, column, 0) + at(row, column, 1) + at(row, column, 2)) / 3;
  }
};

image read(const std::string& file, int channels) {
  png_image head{};
  head.version = PNG_IMAGE_VERSION;
  image read;
  if (png_image_begin_read_from_file(&head, file.c_str()) == 0)
    std::printf("%s: %s\n", file.c_str(), head.message), std::exit(1);
  head.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  read.values.resize(PNG_IMAGE_SIZE(head));
  if (png_image_finish_read(&head, nullptr, read.values.data(), 0, nullptr) == 0)
    std::printf("%s: %s\n", file.c_str(), head.message), std::exit(1);
  read.height = static_cast<int>(head.height);
  read.width = static_cast<int>(head.width);
  read.channels = channels;
  return read;
}

/// Compares each value with `expected` for its place.
template <class Expected>
void compare(const std::string& file, const image& found, int height, int width, Expected expected) {
  if (found.height != height || found.width != width)
    std::printf("%s is %d x %d\n", file.c_str(), found.width, found.height), std::exit(1);
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column)
      for (int channel = 0; channel < found.channels; ++channel)
        if (found.at(row, column, channel) != expected(row, column, channel))
          std::printf("%s has %d instead of %d at row %d, column %d, channel %d\n", file.c_str(),
                      found.at(row, column, channel), expected(row, column, channel), row, column, channel),
              std::exit(1);
}

} // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 3)
    return 2;
  const std::string folder = arguments[2];
  const auto picture = read(arguments[1], 3);
  compare("blurred.png", read(folder + "/blurred.png", 3), picture.height, picture.width,
          [&](int row, int column, int channel) {
            int sum = 0;
            for (int y = row - 4; y <= row + 4; ++y)
              for (int x = column - 4; x <= column + 4; ++x)
                sum += picture.at(y, x, channel);
            return sum / 81;
          });
  compare("edges.png", read(folder + "/edges.png", 1), picture.height, picture.width, [&](int row, int column, int) {
    constexpr int weights[3] = {1, 2, 1};
    int across = 0, down = 0;
    for (int i = -1; i <= 1; ++i) {
      across += weights[i + 1] * (picture.grey(row + i, column + 1) - picture.grey(row + i, column - 1));
      down += weights[i + 1] * (picture.grey(row + 1, column + i) - picture.grey(row - 1, column + i));
    }
    return std::min(255, std::abs(across) + std::abs(down));
  });
  std::array<std::array<long, 256>, 3> counts{};
  for (std::size_t i = 0; i < picture.values.size(); ++i)
    ++counts[i % 3][picture.values[i]];
  long most = 0;
  for (const auto& channel : counts)
    most = std::max(most, std::ranges::max(channel));
  compare("histogram.png", read(folder + "/histogram.png", 3), 100, 256, [&](int row, int column, int channel) {
    return 99 - row < counts[static_cast<std::size_t>(channel)][static_cast<std::size_t>(column)] * 100 / most ? 255
                                                                                                               : 0;
  });
}
