// A node with many links, and somebody who looks at it.
#pragma once

#include "harness/steps.hpp"

#include <array>
#include <expected>
#include <functional>
#include <string>

namespace bench {

inline constexpr const char* view_messages_name = "messages handled";
inline constexpr std::array view_subjects{"unseen", "unseen-again", "viewed"};

/// The far process: serves until its input ends.
[[nodiscard]] std::expected<void, std::string> serve_view(const std::string& subject,
                                                          const std::function<void(const std::string&)>& ready);
/// The near process: opens the links, sends, and looks if the subject is "viewed".
[[nodiscard]] std::expected<step_taker, std::string> connect_view(const std::string& subject,
                                                                  const std::string& address);

} // namespace bench
