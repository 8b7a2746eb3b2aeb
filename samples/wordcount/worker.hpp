// A worker's process.
#pragma once

#include "options.hpp"

#include <troupe/serializers/family.hpp>

namespace wordcount {

/// Dials the coordinator and counts blocks until the coordinator, or the link to it, is gone. Returns the exit status.
[[nodiscard]] int run_worker(const options& with, const troupe::family_set& families);

} // namespace wordcount
