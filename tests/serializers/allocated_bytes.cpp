// Replaces operator new for the whole test program. In a file of its own, since otherwise the compiler inlines one half
// of a pair and warns that the other half does not match.
#include "allocated_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

std::atomic<std::size_t> allocated_bytes = 0;

namespace {

/// Null if there is no memory.
void* counted_or_null(std::size_t size, std::size_t alignment) noexcept {
  allocated_bytes += size;
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), std::max<std::size_t>(size, 1)) != 0)
    return nullptr;
  return memory;
}

void* counted(std::size_t size, std::size_t alignment) {
  auto* const memory = counted_or_null(size, alignment);
  if (memory == nullptr)
    throw std::bad_alloc();
  return memory;
}

} // namespace

void* operator new(std::size_t size) {
  return counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted_or_null(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_or_null(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
