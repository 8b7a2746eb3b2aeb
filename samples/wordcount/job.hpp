// The coordinator's process, from opening its node to the report.
#pragma once

#include "options.hpp"

#include <troupe/serializers/family.hpp>

namespace wordcount {

/// Counts the words below the options' folder with worker processes of its own and shows the result. Gives the exit
/// status: 0, 1 for a failure, 128 and the signal's number when a signal ended it.
[[nodiscard]] int run_job(const options& with, const troupe::family_set& families);

} // namespace wordcount
