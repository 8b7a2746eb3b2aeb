// The final report.
#pragma once

#include "job_result.hpp"
#include "options.hpp"

#include <cstddef>
#include <string>

namespace wordcount {

/// The state of the store after the job.
struct store_usage {
  std::string name;
  std::size_t high_water_bytes = 0;
  std::size_t objects_left = 0;
};

/// The most frequent words, the totals, one row per link, and the store.
[[nodiscard]] std::string report(const job_result& result, const options& with, const store_usage& store);

} // namespace wordcount
