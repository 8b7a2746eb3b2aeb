#include <troupe/serializers/frame.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace troupe {

namespace {

class heap_block final : public frame_owner {
public:
  explicit heap_block(std::size_t size_bytes)
      : bytes_(static_cast<std::byte*>(::operator new (size_bytes, std::align_val_t{frame::alignment_bytes}))) {}
  ~heap_block() override { ::operator delete (bytes_, std::align_val_t{frame::alignment_bytes}); }

  [[nodiscard]] std::byte* bytes() const { return bytes_; }

private:
  std::byte* const bytes_;
};

class vector_owner final : public frame_owner {
public:
  explicit vector_owner(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

private:
  const std::vector<std::byte> bytes_;
};

} // namespace

frame_owner::~frame_owner() = default;

frame frame::copy_of(std::span<const std::byte> bytes) {
  if (bytes.empty())
    return {};
  std::byte* into = nullptr;
  auto made = uninitialized(bytes.size(), into);
  std::memcpy(into, bytes.data(), bytes.size());
  return made;
}

frame frame::uninitialized(std::size_t size_bytes, std::byte*& into) {
  auto block = std::make_shared<heap_block>(size_bytes);
  into = block->bytes();
  return {{into, size_bytes}, std::move(block)};
}

frame frame::adopt(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<vector_owner>(std::move(bytes));
  auto view = owner->bytes();
  return {view, std::move(owner)};
}

frame frame::slice(std::size_t offset, std::size_t size_bytes) const {
  const auto from = std::min(offset, bytes_.size());
  return {bytes_.subspan(from, std::min(size_bytes, bytes_.size() - from)), owner_};
}

} // namespace troupe
