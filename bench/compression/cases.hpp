// What is measured: a frame of each kind of data through serialize() and deserialize(), in each mode of compression.
#pragma once

#include "compression/options.hpp"
#include "harness/rounds.hpp"

#include <expected>
#include <string>
#include <vector>

namespace bench {

inline constexpr auto subject_copying = "memcpy"; // What compressing has to be measured against.

/// Of the modes of compression, and memcpy.
[[nodiscard]] std::vector<std::string> compression_subjects();

[[nodiscard]] std::expected<observations, failure> run_compression_cases(const compression_options& told,
                                                                         const std::string& subject);

} // namespace bench
