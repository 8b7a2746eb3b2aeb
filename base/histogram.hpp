// Counts of values in buckets whose width grows with the value: histograms of latencies and sizes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/base/export.hpp>

namespace troupe {

/// Divides the numbers from 0 to 2^64 - 1 into buckets. The first 2^`bits` numbers have a bucket each. From there on,
/// each range from a power of two to the next one has 2^(`bits` - 1) buckets of one width. So a bucket is never wider
/// than 2^(1 - `bits`) of its lowest value: with 8 bits, values are told apart to 0.8 %. (Log-linear buckets, as in Gil
/// Tene's HdrHistogram.)
class log_linear_scale {
public:
  /// Requires: `bits` is 1 to 16.
  explicit constexpr log_linear_scale(unsigned bits) noexcept : bits_(bits) {}

  [[nodiscard]] constexpr std::size_t bucket_of(std::uint64_t value) const noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    if (width <= bits_)
      return static_cast<std::size_t>(value);
    const auto shift = width - bits_;
    return (static_cast<std::size_t>(shift) << (bits_ - 1)) + static_cast<std::size_t>(value >> shift);
  }

  [[nodiscard]] constexpr std::uint64_t lowest_in(std::size_t bucket) const noexcept {
    const auto half = std::size_t{1} << (bits_ - 1);
    if (bucket < 2 * half)
      return bucket;
    const auto shift = bucket / half - 1;
    return static_cast<std::uint64_t>(bucket - shift * half) << shift;
  }

  [[nodiscard]] constexpr std::uint64_t highest_in(std::size_t bucket) const noexcept {
    return bucket + 1 < buckets() ? lowest_in(bucket + 1) - 1 : std::numeric_limits<std::uint64_t>::max();
  }

  [[nodiscard]] constexpr std::size_t buckets() const noexcept {
    return bucket_of(std::numeric_limits<std::uint64_t>::max()) + 1;
  }

  /// The buckets of a single value.
  [[nodiscard]] constexpr std::size_t narrow_buckets() const noexcept { return std::size_t{1} << bits_; }

  friend constexpr bool operator==(log_linear_scale, log_linear_scale) noexcept = default;

private:
  unsigned bits_;
};

/// Counts values, and says how they are distributed. Unlike a list of the values, its size does not grow with their
/// number: with 8 bits, at most 60 kB.
///
/// Threads: one at a time.
class TROUPE_EXPORT histogram {
public:
  /// The precision: see log_linear_scale. Requires: `bits` is 1 to 16.
  explicit histogram(unsigned bits = 8) : scale_(bits) {}

  void add(std::uint64_t value, std::uint64_t times = 1);
  /// Adds what the other one has counted. Requires: both have the same precision.
  void add(const histogram& other);

  [[nodiscard]] const log_linear_scale& scale() const noexcept { return scale_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t count_in(std::size_t bucket) const noexcept {
    return bucket < counts_.size() ? counts_[bucket] : 0;
  }
  /// Exact. 0 if nothing was counted.
  [[nodiscard]] std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
  /// From the middles of the buckets. 0 if nothing was counted.
  [[nodiscard]] double mean() const noexcept;
  [[nodiscard]] double standard_deviation() const noexcept;

  /// The value that `percent` per cent of the values do not exceed, to the precision of the scale, rounded up. At most
  /// max(). 0 if nothing was counted. Requires: `percent` is 0 to 100.
  [[nodiscard]] std::uint64_t percentile(double percent) const noexcept;

  /// The distribution in the text format of HdrHistogram (`.hgrm`), which its plotters read. Values are divided by
  /// `unit`; `comment` is a first line, without `#`.
  [[nodiscard]] std::string hgrm(double unit = 1, std::string_view comment = {}) const;

private:
  [[nodiscard]] double middle_of(std::size_t bucket) const noexcept;

  log_linear_scale scale_;
  std::vector<std::uint64_t> counts_; // By bucket, as far as the highest one that has values.
  std::uint64_t count_ = 0;
  std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_ = 0;
};

} // namespace troupe
