#include <troupe/framework/internal/caf_port/message_pool.hpp>

#include <algorithm>
#include <array>
#include <new>

namespace troupe::internal {

namespace {

// GCC says so by macros, clang by features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TROUPE_IS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TROUPE_IS_SANITIZED
#endif
#endif

constexpr std::size_t class_bytes = 64;
#ifdef TROUPE_IS_SANITIZED
constexpr std::size_t classes = 0; // Every use after its end shall be seen.
#else
constexpr std::size_t classes = 8; // Blocks of up to 512 bytes.
#endif
constexpr std::size_t blocks_max = 4096; // Of each class, kept by a thread.
// After so many blocks given back, those that lay there unused all the while are let go.
constexpr std::size_t period = 16 * blocks_max;

struct free_block {
  free_block* next;
};

/// A thread keeps no more blocks than it has once missed: one that drops what others have made, as a scheduler's thread
/// does with what came over links, would only fill up.
struct free_list {
  free_block* first = nullptr;
  std::size_t size = 0;
  std::size_t size_max = 0; // How many are worth keeping.
  std::size_t least = 0;    // The smallest size of this period.
  std::size_t given = 0;    // In this period.
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

[[gnu::noinline]] void* make_block(free_list& missed, std::size_t size_bytes) {
  if (missed.size_max < blocks_max)
    ++missed.size_max;
  return ::operator new(size_bytes);
}

void end_period(free_list& list) {
  for (auto unused = list.least; unused > 0; --unused) {
    auto* block = list.first;
    list.first = block->next;
    ::operator delete(block);
  }
  list.size -= list.least;
  list.size_max -= list.least;
  list.least = list.size;
  list.given = 0;
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
    return make_block(list, (which + 1) * class_bytes);
  list.first = block->next;
  list.least = std::min(list.least, --list.size);
  return block;
}

void give_block(void* block, std::size_t size_bytes) noexcept {
  auto which = class_of(size_bytes);
  if (which >= classes || pool.ended || pool.lists[which].size >= pool.lists[which].size_max) {
    ::operator delete(block);
    return;
  }
  if (!pool.has_end)
    arrange_end();
  auto& list = pool.lists[which];
  list.first = ::new (block) free_block{list.first};
  ++list.size;
  if (++list.given == period)
    end_period(list);
}

} // namespace troupe::internal
