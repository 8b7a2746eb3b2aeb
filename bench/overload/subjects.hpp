// An actor that is asked three times as much as it can answer.
#pragma once

#include "harness/steps.hpp"

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct overload_subject {
  std::string name;
  bool has_deadlines = false; // The requests carry their deadlines.
  bool looks_at_them = false; // The handler refuses a request whose answer would come too late.
};

inline constexpr const char* goodput_name = "answered in time";
inline constexpr const char* offered_name = "asked";

[[nodiscard]] const std::vector<overload_subject>& overload_subjects();
[[nodiscard]] const overload_subject* find_overload_subject(std::string_view name);

/// For the far process.
[[nodiscard]] std::expected<void, std::string> serve_overload(const overload_subject& what,
                                                              const std::function<void(const std::string&)>& ready);

/// For the near process. The step "ask" asks for `step::count` milliseconds. It returns the answers that came in time
/// and the requests, both per second.
[[nodiscard]] std::expected<step_taker, std::string> connect_overload(const overload_subject& what,
                                                                      const std::string& address);

} // namespace bench
