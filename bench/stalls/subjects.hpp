// What runs beside the questions: an actor that takes long, or a link whose messages or handshakes do.
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
  std::chrono::microseconds handler{0}; // What the slow actor takes for a message; 0: there is none.
  std::uint64_t once_in = 1;            // Messages, of which one takes so long and the others nothing.
  bool asks_over_another_link = false;  // Than the one over which the slow actor is fed.
  std::chrono::microseconds decoding{
      0};                     // What the far node takes to decode a message of the other link; 0: it has none.
  bool has_tls_storm = false; // Others dial the far node by TLS, one after the other, without a pause.
  std::size_t io_threads = 1; // Of the far node.
};

inline constexpr const char* request_p50_name = "request p50";
inline constexpr const char* request_p99_name = "request p99";

[[nodiscard]] const std::vector<stalls_subject>& stalls_subjects();
[[nodiscard]] const stalls_subject* find_stalls_subject(std::string_view name);

/// In the far process.
[[nodiscard]] std::expected<void, std::string> serve_stalls(const stalls_subject& what,
                                                            const std::function<void(const std::string&)>& ready);

/// In the near process. The step "ask" asks for so many milliseconds, and gives percentiles: of requests 50 and 99, of
/// pings 50, in microseconds.
[[nodiscard]] std::expected<step_taker, std::string> connect_stalls(const stalls_subject& what,
                                                                    const std::string& address);

} // namespace bench
