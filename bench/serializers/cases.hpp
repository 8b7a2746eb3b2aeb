// The measurement: a struct through every subject, and arrays through Troupe's default family, compared with copying.
#pragma once

#include "harness/rounds.hpp"
#include "serializers/options.hpp"

#include <expected>
#include <string>
#include <vector>

namespace bench {

inline constexpr auto subject_copying = "memcpy"; // The limit for arrays.

/// The coders, and memcpy.
[[nodiscard]] std::vector<std::string> serializer_subjects();

[[nodiscard]] std::expected<observations, failure> run_serializer_cases(const serializers_options& told,
                                                                        const std::string& subject);

} // namespace bench
