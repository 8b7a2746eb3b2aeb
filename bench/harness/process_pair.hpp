// The two processes of one subject: a far one that serves and a near one that drives.
#pragma once

#include "harness/child_process.hpp"
#include "harness/rounds.hpp"

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace bench {

/// Where the two run. What a round trip costs is waking, and that depends on where: ten times as much on another core
/// that has gone to sleep as on the one core that both share. Left to themselves, the same two processes do now the one
/// and now the other, and a ratio of two such numbers says nothing.
enum class placement : std::uint8_t {
  as_the_system_likes,
  a_core_each,
  one_core,
};

/// Copies of this program, started with `--serve SUBJECT` and `--drive SUBJECT --address ADDRESS`. They say
/// "ready ADDRESS" and "ready" when they are, and "failed TEXT" when they cannot be.
class process_pair {
public:
  /// Fails when they do not get ready; a far end that cannot open is absent.
  [[nodiscard]] static std::expected<process_pair, failure> start(const std::string& subject, stop_signals& signals);

  /// From now on. Where there is only one core, all run on it.
  void place(placement where) const;

  /// Writes a line to the near end. Gives the line that it answers with, without "took " at its front. Fails when it
  /// says "failed TEXT", or nothing within `patience`.
  [[nodiscard]] std::expected<std::string, failure> ask(const std::string& question,
                                                        std::chrono::milliseconds patience);

private:
  process_pair(child_process far, stop_signals& signals) : far_(std::move(far)), signals_(signals) {}
  [[nodiscard]] std::expected<void, failure> open(const std::string& subject);
  [[nodiscard]] std::expected<std::string, failure> listen(child_process& child, std::chrono::milliseconds patience,
                                                           std::string_view begin, child_process* partner = nullptr);

  child_process far_;
  std::optional<child_process> near_; // Set by open(). Ends first.
  stop_signals& signals_;
};

} // namespace bench
