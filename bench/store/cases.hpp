// The measurements of the store, and their limits: the same work without a store.
#pragma once

#include "harness/rounds.hpp"
#include "store/options.hpp"

#include <string>
#include <vector>

namespace bench {

/// In the order of running.
[[nodiscard]] const std::vector<std::string>& store_cases();

inline constexpr const char* subject_store = "troupe-store";
inline constexpr const char* subject_limit = "limit"; // Copying, locks, or a plain file: see cases.cpp.

/// Runs the chosen cases once for one of the subjects.
[[nodiscard]] std::expected<observations, failure> run_store_cases(const store_options& told,
                                                                   const std::string& subject);

} // namespace bench
