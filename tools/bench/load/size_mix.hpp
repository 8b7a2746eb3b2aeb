// The payload sizes of a run, each with a weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tools {

struct weighted_size {
  std::size_t bytes = 0;
  double weight = 1;
  friend bool operator==(const weighted_size&, const weighted_size&) = default;
};

/// Sizes that requests get at random, each as often as its weight says.
class size_mix {
public:
  inline static constexpr std::size_t bytes_least = 8;
  inline static constexpr std::size_t bytes_most = std::size_t{64} << 20;
  inline static constexpr std::size_t sizes_most = 1'000;
  /// Of all sizes together: a source keeps one payload of each.
  inline static constexpr std::size_t sum_most = std::size_t{1} << 30;

  explicit size_mix(std::size_t bytes) : size_mix(std::vector{weighted_size{bytes}}) {}
  /// Requires: `sizes` is not empty, and the weights are above 0.
  explicit size_mix(std::vector<weighted_size> sizes);

  /// Reads one `SIZE WEIGHT` per line, such as "1Ki 20". A line without a weight has the weight 1. Empty lines and what
  /// follows a `#` are skipped. Fails with a text that names `file` and the line.
  [[nodiscard]] static std::expected<size_mix, std::string> read(std::string_view text, const std::string& file);

  [[nodiscard]] const std::vector<weighted_size>& all() const { return sizes_; }

  /// Chooses a size, as an index of all(). Requires: 0 <= `share` < 1, which is random.
  [[nodiscard]] std::size_t choose(double share) const;

  /// "1 KiB", or "3 sizes, 64 B to 1 MiB".
  [[nodiscard]] std::string text() const;

private:
  std::vector<weighted_size> sizes_;
  std::vector<double> up_to_; // The sums of the weights.
};

} // namespace troupe::tools
