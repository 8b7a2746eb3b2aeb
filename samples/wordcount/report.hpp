// What is said at the end.
#pragma once

#include "job_result.hpp"
#include "options.hpp"

#include <cstddef>
#include <string>

namespace wordcount {

/// What the store held, when all was over.
struct store_usage {
  std::string name;
  std::size_t high_water_bytes = 0;
  std::size_t objects_left = 0;
};

/// The most frequent words, the totals, a row per link, and the store.
[[nodiscard]] std::string report(const job_result& result, const options& with, const store_usage& store);

} // namespace wordcount
