// The processes of one subject: far ones that serve and near ones that drive, mostly one of each.
#pragma once

#include "harness/child_process.hpp"
#include "harness/rounds.hpp"

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace bench {

/// Where they run. What a round trip costs is waking, and that depends on where: ten times as much on another core
/// that has gone to sleep as on the one core that both share. Left to themselves, the same two processes do now the one
/// and now the other, and a ratio of two such numbers says nothing.
enum class placement : std::uint8_t {
  as_the_system_likes,
  a_core_each, ///< One core for all near ends, another for all far ones.
  one_core,
};

/// How many processes a subject has. No far ends: the near ones need none, and get no addresses.
struct group_shape {
  std::size_t far_ends = 1;
  std::size_t near_ends = 1;
  bool numbers_far_ends = false;              ///< They are started with `--number N`, too, counting from 0.
  std::vector<std::string> words_before = {}; ///< Arguments in front of these: where the program has commands.
};

/// Copies of this program, started with `--serve SUBJECT` and `--drive SUBJECT --address ADDRESS[,ADDRESS...]`, where
/// every near end gets all addresses. They say "ready ADDRESS" and "ready" when they are, and "failed TEXT" when they
/// cannot be.
class process_group {
public:
  /// Fails when they do not get ready; a far end that cannot open is absent.
  [[nodiscard]] static std::expected<process_group, failure> start(const std::string& subject, stop_signals& signals,
                                                                   const group_shape& shape = {});

  /// From now on. Where there is only one core, all run on it.
  void place(placement where) const;

  /// Writes a line to every near end, then waits for all. Gives the lines that they answer with, without "took " at
  /// their front. Fails when one says "failed TEXT", or nothing within `patience`.
  [[nodiscard]] std::expected<std::vector<std::string>, failure> ask(const std::string& question,
                                                                     std::chrono::milliseconds patience);

  /// What all of them, and the programs that they have started, have taken of the processors until now.
  [[nodiscard]] std::chrono::nanoseconds processor_time() const;

  /// Asks nothing of them for so long. Fails when one of them ends, or when a stop signal came.
  [[nodiscard]] std::expected<void, failure> rest(std::chrono::milliseconds duration);

private:
  explicit process_group(stop_signals& signals) : signals_(signals) {}
  [[nodiscard]] std::expected<void, failure> open(const std::string& subject, const group_shape& shape);
  [[nodiscard]] std::expected<std::string, failure> listen(child_process& child, std::chrono::milliseconds patience,
                                                           std::string_view begin, child_process* partner = nullptr);

  [[nodiscard]] child_process* first_far() { return far_.empty() ? nullptr : &far_.front(); }

  // The near ends end first.
  std::vector<child_process> far_;
  std::vector<child_process> near_;
  stop_signals& signals_;
};

} // namespace bench
