#include "png_file.hpp"

#include <stdexcept>

#include <png.h>

namespace images {

namespace {

void check(bool done, const std::string& file, png_image& image) {
  if (done)
    return;
  const std::string why = image.message;
  png_image_free(&image);
  throw std::runtime_error(file + ": " + why);
}

} // namespace

image_size read_png(const std::string& file, const std::function<std::span<std::uint8_t>(image_size)>& room) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  check(png_image_begin_read_from_file(&image, file.c_str()) != 0, file, image);
  image.format = PNG_FORMAT_RGB;
  const image_size size{.height = image.height, .width = image.width};
  const auto values = room(size);
  if (values.size() < PNG_IMAGE_SIZE(image)) {
    png_image_free(&image);
    throw std::runtime_error(file + ": there is no room for it");
  }
  check(png_image_finish_read(&image, nullptr, values.data(), 0, nullptr) != 0, file, image);
  return size;
}

void write_png(const std::string& file, image_size size, std::size_t channels, std::span<const std::uint8_t> values) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(size.width);
  image.height = static_cast<png_uint_32>(size.height);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  image.flags = PNG_IMAGE_FLAG_FAST; // Compresses less, for speed.
  if (values.size() < PNG_IMAGE_SIZE(image))
    throw std::runtime_error(file + ": there are fewer values than pixels");
  check(png_image_write_to_file(&image, file.c_str(), 0, values.data(), 0, nullptr) != 0, file, image);
}

} // namespace images
