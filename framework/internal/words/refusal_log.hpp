// What a node logs about peers that it does not admit.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <troupe/framework/internal/words/line_limit.hpp>
#include <troupe/framework/internal/words/log.hpp>

namespace troupe::internal {

/// The refused attempts at one address. Anybody can try any number of times, and must not be able to fill the log. So
/// ten lines a second are written, then one line with the number of further attempts.
///
/// Threads: any.
class refusal_log : public std::enable_shared_from_this<refusal_log> {
public:
  refusal_log(asio::io_context& io, std::string address);
  /// Writes the number of attempts that are not reported yet.
  ~refusal_log();

  void note(log_level level, std::string_view text);

private:
  void summarize();

  const std::string address_;
  std::mutex mutex_;
  // Guarded by mutex_.
  line_limit limit_;
  asio::steady_timer second_; // Runs while attempts are unreported.
};

} // namespace troupe::internal
