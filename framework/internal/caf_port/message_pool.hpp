// A memory pool for small messages. A block returns to the thread that allocated it, whichever thread drops the
// message. For blocks of this size the general allocator is several times slower, most of all if one thread allocates
// and another frees.
#pragma once

#include <cstddef>

namespace troupe::internal {

/// A block of at least `size_bytes`, aligned as `operator new` aligns. Threads: any.
[[nodiscard]] void* take_block(std::size_t size_bytes);

/// Gives a block back, on any thread. `size_bytes` must be the size passed to take_block().
void give_block(void* block, std::size_t size_bytes) noexcept;

} // namespace troupe::internal
