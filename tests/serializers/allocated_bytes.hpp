// Counts what this program allocates.
#pragma once

#include <atomic>
#include <cstddef>

/// Bytes requested by all calls of operator new so far.
extern std::atomic<std::size_t> allocated_bytes;
