#include <troupe/framework/internal/caf_port/message_pool.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include <troupe/framework/internal/caf_port/returned_blocks.hpp>

namespace troupe::internal {

namespace {

// GCC reports sanitizers by macros, clang by features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TROUPE_IS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TROUPE_IS_SANITIZED
#endif
#endif

constexpr std::size_t class_bytes = 64;
#ifdef TROUPE_IS_SANITIZED
constexpr std::size_t classes = 0; // Disabled, so that sanitizers see every use after free.
#else
constexpr std::size_t classes = 8; // Blocks of up to 512 bytes.
#endif
constexpr std::size_t blocks_max = 4096; // Kept per thread and class.
// A period ends after this many blocks have come back. The list then frees the blocks that were unused throughout.
constexpr std::size_t period = 16 * blocks_max;
// Blocks are sent home in groups of this size, since each transfer costs a contended cache line.
constexpr std::size_t travelling_max = 16;

/// The place to which one thread's blocks come back. Never destroyed, because a block may outlive its thread. Another
/// thread then takes the place over.
struct pool_home {
  struct alignas(64) door {
    returned_blocks blocks;
  };
  std::array<door, classes> doors;
  pool_home* next_vacant = nullptr;
};

/// Free blocks, ready for the thread that allocated them.
struct free_list {
  free_block* first = nullptr;
  std::size_t size = 0;
  std::size_t least = 0; // The smallest size in this period.
  std::size_t given = 0; // Returned in this period.

  void push(free_block* block) noexcept {
    block->next = first;
    first = block;
    ++size;
    ++given;
  }
  free_block* pop() noexcept {
    auto* block = first;
    first = block->next;
    least = std::min(least, --size);
    return block;
  }
};

/// Blocks of another thread that are sent home together.
struct travelling_blocks {
  pool_home* to = nullptr;
  free_block* first = nullptr;
  free_block* last = nullptr;
  std::size_t count = 0;
};

// Trivially destructible, so that each use costs no check: `leaving` cleans up at the thread's end.
struct thread_pool {
  pool_home* home = nullptr; // Null before the thread's first block, and after the thread's end.
  std::array<free_list, classes> lists;
  std::array<travelling_blocks, classes> travelling;
  bool has_end = false; // `leaving` has been constructed.
  bool ended = false;   // Messages may still be dropped after the thread's pool has gone.
};

constinit thread_local thread_pool pool;

std::mutex vacant_mutex;
pool_home* vacant_homes = nullptr; // Guarded by vacant_mutex.

[[nodiscard]] std::size_t class_of(std::size_t size_bytes) {
  return (size_bytes + sizeof(pool_home*) - 1) / class_bytes;
}

/// The block's last bytes hold a pointer to its home.
[[nodiscard]] void* tail_of(void* block, std::size_t which) {
  return static_cast<std::byte*>(block) + (which + 1) * class_bytes - sizeof(pool_home*);
}
[[nodiscard]] pool_home* home_of(void* block, std::size_t which) {
  pool_home* home;
  std::memcpy(&home, tail_of(block, which), sizeof home);
  return home;
}

void let_go(free_block* chain) {
  while (chain != nullptr)
    ::operator delete(std::exchange(chain, chain->next));
}

void send_home(travelling_blocks& blocks, std::size_t which) {
  const auto sent = std::exchange(blocks, {});
  if (sent.count == 0)
    return;
  if (!sent.to->doors[which].blocks.push(sent.first, sent.last, sent.count, blocks_max)) {
    sent.last->next = nullptr;
    let_go(sent.first);
  }
}

struct leaving {
  ~leaving() {
    pool.ended = true;
    for (std::size_t which = 0; which < classes; ++which) {
      send_home(pool.travelling[which], which);
      let_go(pool.lists[which].first);
      pool.lists[which] = {};
    }
    auto* home = std::exchange(pool.home, nullptr);
    if (home == nullptr)
      return;
    for (auto& each : home->doors)
      let_go(each.blocks.close());
    const std::lock_guard guard{vacant_mutex};
    home->next_vacant = vacant_homes;
    vacant_homes = home;
  }
};

[[gnu::noinline]] void arrange_end() {
  [[maybe_unused]] thread_local const leaving at_thread_end;
  pool.has_end = true;
}

[[nodiscard]] pool_home* find_home() {
  pool_home* found;
  {
    const std::lock_guard guard{vacant_mutex};
    found = vacant_homes;
    if (found != nullptr)
      vacant_homes = found->next_vacant;
  }
  if (found == nullptr)
    return new pool_home;
  for (auto& each : found->doors)
    each.blocks.open();
  return found;
}

/// Takes in blocks that other threads have given back. Returns false if there are none.
bool welcome(free_list& list, returned_blocks& door) {
  auto* block = door.take_all();
  if (block == nullptr)
    return false;
  while (block != nullptr && list.size < blocks_max)
    list.push(std::exchange(block, block->next));
  let_go(block);
  return true;
}

void end_period(free_list& list) {
  for (auto unused = list.least; unused > 0; --unused)
    ::operator delete(list.pop());
  list.least = list.size;
  list.given = 0;
}

/// Requires: the list is empty.
[[gnu::noinline]] void* take_new(free_list& list, std::size_t which) {
  if (pool.home == nullptr && !pool.ended) {
    if (!pool.has_end)
      arrange_end();
    pool.home = find_home();
  }
  if (pool.home != nullptr && welcome(list, pool.home->doors[which].blocks))
    return list.pop();
  auto* block = ::operator new((which + 1) * class_bytes);
  std::memcpy(tail_of(block, which), &pool.home, sizeof pool.home);
  return block;
}

/// Requires: `home` is not the calling thread's own. Null for a block allocated after its thread's end.
[[gnu::noinline]] void give_away(free_block* block, pool_home* home, std::size_t which) {
  if (home == nullptr) {
    ::operator delete(block);
    return;
  }
  if (!pool.has_end)
    arrange_end();
  auto& travelling = pool.travelling[which];
  if (travelling.to != home)
    send_home(travelling, which);
  block->next = travelling.first;
  if (travelling.count == 0)
    travelling.last = block;
  travelling.to = home;
  travelling.first = block;
  if (++travelling.count == travelling_max || pool.ended)
    send_home(travelling, which);
}

} // namespace

void* take_block(std::size_t size_bytes) {
  const auto which = class_of(size_bytes);
  if (which >= classes)
    return ::operator new(size_bytes);
  auto& list = pool.lists[which];
  return list.first != nullptr ? list.pop() : take_new(list, which);
}

void give_block(void* block, std::size_t size_bytes) noexcept {
  const auto which = class_of(size_bytes);
  if (which >= classes) {
    ::operator delete(block);
    return;
  }
  auto* const home = home_of(block, which);
  auto* const freed = ::new (block) free_block{nullptr};
  if (home != pool.home || home == nullptr) {
    give_away(freed, home, which);
    return;
  }
  auto& list = pool.lists[which];
  if (list.size >= blocks_max) {
    ::operator delete(block);
    return;
  }
  list.push(freed);
  if (list.given >= period)
    end_period(list);
}

} // namespace troupe::internal
