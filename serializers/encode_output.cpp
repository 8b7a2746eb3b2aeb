#include <troupe/serializers/encode_output.hpp>

#include <algorithm>

#include <troupe/framework/base/sizes.hpp>

namespace troupe {

void byte_buffer::grow(std::size_t count) {
  constexpr std::size_t smallest = 512;
  const auto capacity = std::max({smallest, capacity_ * 2, size_ + count});
  auto data = std::make_unique_for_overwrite<std::byte[]>(capacity);
  if (size_ > 0)
    std::memcpy(data.get(), data_.get(), size_);
  data_ = std::move(data);
  capacity_ = capacity;
}

} // namespace troupe
