// Memory of small messages. It comes back to the thread that made it, whichever thread drops the message: the general
// allocator is several times slower with blocks of this size, most of all where one thread allocates and another frees.
#pragma once

#include <cstddef>

namespace troupe::internal {

/// A block of at least `size_bytes`, aligned as `operator new` aligns. Threads: any.
[[nodiscard]] void* take_block(std::size_t size_bytes);

/// Gives a block back, on any thread. `size_bytes` is what it was taken with.
void give_block(void* block, std::size_t size_bytes) noexcept;

} // namespace troupe::internal
