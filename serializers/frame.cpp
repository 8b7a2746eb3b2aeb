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

/// Up to this size, a frame's bytes lie directly behind their owner, which saves an allocation. Longer frames have
/// memory of their own, because a weak_ptr to the owner would keep all of it allocated.
constexpr std::size_t short_bytes_max = 4096;

/// Allocates `extra_bytes` behind the single object that allocate_shared makes.
template <class T>
struct with_bytes_behind {
  using value_type = T;

  std::size_t extra_bytes = 0;

  explicit with_bytes_behind(std::size_t extra) : extra_bytes(extra) {}
  template <class U>
  explicit with_bytes_behind(const with_bytes_behind<U>& other) : extra_bytes(other.extra_bytes) {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T) + extra_bytes)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory); }
  friend bool operator==(const with_bytes_behind&, const with_bytes_behind&) = default;
};

class short_block final : public frame_owner {
public:
  /// The aligned bytes behind this object. Requires: the object was allocated with enough bytes behind it.
  [[nodiscard]] std::byte* bytes() {
    const auto behind = reinterpret_cast<std::uintptr_t>(this + 1);
    return reinterpret_cast<std::byte*>(this + 1) + (-behind) % frame::alignment_bytes;
  }
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
  if (size_bytes <= short_bytes_max) {
    auto block = std::allocate_shared<short_block>(with_bytes_behind<short_block>{size_bytes + frame::alignment_bytes});
    into = block->bytes();
    return {{into, size_bytes}, std::move(block)};
  }
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
