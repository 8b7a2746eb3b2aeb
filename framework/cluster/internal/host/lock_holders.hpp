// Names the processes that hold locks of a file, for error texts.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::cluster_directories {

/// Of other processes that hold POSIX locks on the file, such as `process 4711 ("worker"), which is stopped`; empty if
/// none is known. Opens nothing: closing a descriptor of the file would drop the own locks.
[[nodiscard]] std::string lock_holders_of(const std::string& path, std::uint64_t first_byte, std::uint64_t last_byte);

} // namespace troupe::cluster_directories
