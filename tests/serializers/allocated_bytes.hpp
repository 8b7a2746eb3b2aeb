// Counts what this program allocates.
#pragma once

#include <atomic>
#include <cstddef>

/// The bytes of all calls of operator new so far.
extern std::atomic<std::size_t> allocated_bytes;
