#include <troupe/framework/internal/caf_port/message_pool.hpp>

#include <array>
#include <new>

namespace troupe::internal {

namespace {

constexpr std::size_t class_bytes = 64;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t classes = 0; // Every use after its end shall be seen.
#else
constexpr std::size_t classes = 8; // Blocks of up to 512 bytes.
#endif
constexpr std::size_t blocks_max = 4096; // Of each class, kept by a thread.

struct free_block {
  free_block* next;
};

struct free_list {
  free_block* first = nullptr;
  std::size_t size = 0;
};

thread_local bool thread_ends = false; // Messages may still be dropped after the pool is gone.

struct thread_pool {
  std::array<free_list, classes> lists;

  ~thread_pool() {
    thread_ends = true;
    for (auto& list : lists)
      while (list.first != nullptr) {
        auto* block = list.first;
        list.first = block->next;
        ::operator delete(block);
      }
  }
};

thread_local thread_pool pool;

constexpr std::size_t class_of(std::size_t size_bytes) {
  return (size_bytes - 1) / class_bytes;
}

} // namespace

void* take_block(std::size_t size_bytes) {
  auto which = class_of(size_bytes);
  if (which >= classes)
    return ::operator new(size_bytes);
  if (!thread_ends) {
    auto& list = pool.lists[which];
    if (auto* block = list.first) {
      list.first = block->next;
      --list.size;
      return block;
    }
  }
  return ::operator new((which + 1) * class_bytes);
}

void give_block(void* block, std::size_t size_bytes) noexcept {
  auto which = class_of(size_bytes);
  if (which >= classes || thread_ends || pool.lists[which].size >= blocks_max) {
    ::operator delete(block);
    return;
  }
  auto& list = pool.lists[which];
  list.first = ::new (block) free_block{list.first};
  ++list.size;
}

} // namespace troupe::internal
