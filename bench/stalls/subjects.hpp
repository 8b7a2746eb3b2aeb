// The load beside the questions: a slow actor, or a link with slow messages or handshakes.
#pragma once

#include "harness/process_group.hpp"
#include "harness/steps.hpp"

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct stalls_subject {
  std::string name;
  std::chrono::microseconds handler{0}; // The slow actor's time for a message; 0 for no slow actor.
  std::uint64_t once_in = 1;            // Every nth message takes that time, the others none.
  bool asks_over_another_link = false;  // Other than the link that feeds the slow actor.
  /// The far node's time to decode a message of the other link; 0 if that link carries none.
  std::chrono::microseconds decoding{0};
  bool has_tls_storm = false; // Peers dial the far node over TLS, one after the other, without a pause.
  std::size_t io_threads = 1; // Of the far node.
};

inline constexpr const char* request_p50_name = "request p50";
inline constexpr const char* request_p99_name = "request p99";

[[nodiscard]] const std::vector<stalls_subject>& stalls_subjects();
[[nodiscard]] const stalls_subject* find_stalls_subject(std::string_view name);

/// For the far process.
[[nodiscard]] std::expected<void, std::string> serve_stalls(const stalls_subject& what,
                                                            const std::function<void(const std::string&)>& ready);

/// For the near process. The step "ask" asks for `step::count` milliseconds. It returns, in microseconds, percentiles
/// 50 and 99 of the requests and percentile 50 of the pings.
[[nodiscard]] std::expected<step_taker, std::string> connect_stalls(const stalls_subject& what,
                                                                    const std::string& address);

} // namespace bench
