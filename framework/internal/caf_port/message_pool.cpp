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

// Without a destructor, so that using it costs no check: `emptying` sees to its end.
struct thread_pool {
  std::array<free_list, classes> lists;
  bool has_end = false; // `emptying` is made.
  bool ended = false;   // Messages may still be dropped after the thread's pool is gone.
};

constinit thread_local thread_pool pool;

struct emptying {
  ~emptying() {
    pool.ended = true;
    for (auto& list : pool.lists)
      while (list.first != nullptr) {
        auto* block = list.first;
        list.first = block->next;
        ::operator delete(block);
      }
  }
};

[[gnu::noinline]] void arrange_end() {
  [[maybe_unused]] thread_local const emptying at_thread_end;
  pool.has_end = true;
}

constexpr std::size_t class_of(std::size_t size_bytes) {
  return (size_bytes - 1) / class_bytes;
}

} // namespace

void* take_block(std::size_t size_bytes) {
  auto which = class_of(size_bytes);
  if (which >= classes)
    return ::operator new(size_bytes);
  auto& list = pool.lists[which];
  auto* block = list.first;
  if (block == nullptr)
    return ::operator new((which + 1) * class_bytes);
  list.first = block->next;
  --list.size;
  return block;
}

void give_block(void* block, std::size_t size_bytes) noexcept {
  auto which = class_of(size_bytes);
  if (which >= classes || pool.ended || pool.lists[which].size >= blocks_max) {
    ::operator delete(block);
    return;
  }
  if (!pool.has_end)
    arrange_end();
  auto& list = pool.lists[which];
  list.first = ::new (block) free_block{list.first};
  ++list.size;
}

} // namespace troupe::internal
