// What a link says about messages that do not get through.
#pragma once

#include <mutex>
#include <string_view>

#include <troupe/framework/internal/line_limit.hpp>
#include <troupe/framework/internal/log.hpp>

namespace troupe::internal {

/// Warnings about what may happen with every message: ten lines a second are written; how many more there were is said
/// with the next one. The link's statistics count them all.
///
/// Threads: any.
class limited_log {
public:
  void warn(std::string_view text, line_limit::clock::time_point now = line_limit::clock::now());

private:
  std::mutex mutex_;
  line_limit limit_{10}; // Guarded by mutex_.
};

} // namespace troupe::internal
