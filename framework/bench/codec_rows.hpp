// The figures of the codecs in a comparison, of which several rows have the same.
#pragma once

#include <troupe/framework/bench/comparison.hpp>

namespace troupe::bench::detail {

/// The first measured row of each family and compression, in order, without those that encode nothing.
[[nodiscard]] std::vector<const comparison_row*> codec_rows(const comparison& of);

/// "1.2 us"; likewise "1.2 Gbit/s" and "512 B".
[[nodiscard]] std::string time_text(double nanoseconds);
[[nodiscard]] std::string speed_text(double bits_per_second);
[[nodiscard]] std::string bytes_text(double bytes);

/// "typed", "typed lz4".
[[nodiscard]] std::string codec_text(const std::string& family, troupe::compression how);

} // namespace troupe::bench::detail
