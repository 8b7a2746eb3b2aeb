// Servers of HTTP, each with some clients.
#pragma once

#include "harness/steps.hpp"

#include <expected>
#include <functional>
#include <string>
#include <vector>

namespace bench {

inline constexpr const char* requests_name = "requests answered";
inline constexpr const char* request_time_p50_name = "request p50";
inline constexpr const char* request_time_p99_name = "request p99";

struct gateway_subject {
  std::string name;
  bool is_gateway = false; // Else the plain server of Beast.
  int connections = 1;
};

[[nodiscard]] const std::vector<gateway_subject>& gateway_subjects();
/// Null if there is none of that name.
[[nodiscard]] const gateway_subject* find_gateway_subject(const std::string& name);

/// The far process: serves until its input ends.
[[nodiscard]] std::expected<void, std::string> serve_gateway(const gateway_subject& what,
                                                             const std::function<void(const std::string&)>& ready);
/// The near process: each of the connections sends one request after the other.
[[nodiscard]] std::expected<step_taker, std::string> connect_gateway(const gateway_subject& what,
                                                                     const std::string& address);

} // namespace bench
