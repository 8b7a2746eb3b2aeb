// The measurement: a frame of each kind of data passes through serialize() and deserialize(), in each compression mode.
#pragma once

#include "compression/options.hpp"
#include "harness/rounds.hpp"

#include <expected>
#include <string>
#include <vector>

namespace bench {

inline constexpr auto subject_copying = "memcpy"; // The reference for compression.

/// The compression modes, and memcpy.
[[nodiscard]] std::vector<std::string> compression_subjects();

[[nodiscard]] std::expected<observations, failure> run_compression_cases(const compression_options& told,
                                                                         const std::string& subject);

} // namespace bench
