#include <troupe/serializers/extend/encode_output.hpp>

#include <algorithm>
#include <new>

#include <troupe/base/sizes.hpp>

namespace troupe {

void byte_buffer::grow(std::size_t count) {
  constexpr std::size_t smallest = 512;
  const auto capacity = std::max({smallest, capacity_ * 2, size_ + count});
  // realloc extends a large block in place, or moves it by its pages, without filling a second block.
  auto* const grown = static_cast<std::byte*>(std::realloc(data_.get(), capacity));
  if (grown == nullptr)
    throw std::bad_alloc();
  static_cast<void>(data_.release());
  data_.reset(grown);
  capacity_ = capacity;
}

} // namespace troupe
