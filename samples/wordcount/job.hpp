// The coordinator's process, from opening its node to printing the report.
#pragma once

#include "options.hpp"

#include <troupe/serializers/family.hpp>

namespace wordcount {

/// Counts the words below the options' folder with its own worker processes and prints the result. Returns the exit
/// status: 0, 1 for a failure, or 128 plus the signal's number if a signal ended it.
[[nodiscard]] int run_job(const options& with, const troupe::family_set& families);

} // namespace wordcount
