// The documents of offered load: what was asked, where, and what came out.
#pragma once

#include "bench/load/load_options.hpp"
#include "bench/load/load_round.hpp"
#include "bench/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tools {

/// What was offered.
struct load_setup {
  std::string pattern; // "echo" or "one-way".
  std::vector<std::string> addresses;
  std::size_t connections = 0; // In all.
  std::string family;
  std::string compression;
  std::string data;
  std::string arrivals;
  double rate = 0;
  double seconds = 0;
  double warm_up_seconds = 0;
  std::size_t outstanding_most = 0;
  std::uint64_t seed = 0;
  std::vector<weighted_size> sizes;
};

/// A rate that a search has tried.
struct tried_rate {
  double rate = 0;
  bool is_sustained = false;
  std::string why_not = {};
  load_round figures = {};
};

/// The result of a search.
struct found_knee {
  double limit_ms = 0; // For p99.
  std::optional<double> last_good = {};
  std::optional<double> first_bad = {};
  std::vector<tried_rate> tried = {};
};

struct load_document {
  std::vector<machine> machines; // Of the sources.
  std::int64_t began_ms = 0;     // Since 1970, by the clock of the first source.
  load_setup what;
  std::vector<load_round> rounds;
  std::optional<found_knee> knee = {};
};

[[nodiscard]] load_setup setup_of(const source_options& options);

/// For people, and to compare: "echo typed 64 B, 1,000/s poisson, 1 connection".
[[nodiscard]] std::string label_of(const load_setup& what);

/// The figures with which reports and comparisons name the distribution of latencies: "p50", "p99.99", "max", with
/// their percentages.
struct named_percentile {
  const char* name;
  double percent;
};
inline constexpr named_percentile load_percentiles[] = {{"p50", 50},     {"p90", 90},       {"p99", 99},
                                                        {"p99.9", 99.9}, {"p99.99", 99.99}, {"max", 100}};

/// JSON; its form: tools/README.md.
[[nodiscard]] std::string json_of(const load_document& document);

/// Reads what json_of() has written. Fails with a text that names `file`.
[[nodiscard]] std::expected<load_document, std::string> read_load_document(std::string_view text,
                                                                           const std::string& file);

/// Adds what another source has measured at the same time, round by round. Fails with a text that says what differs, if
/// the sources have not offered the same.
[[nodiscard]] std::expected<void, std::string> merge(load_document& to, const load_document& other);

} // namespace troupe::tools
