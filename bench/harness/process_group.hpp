// The processes of one subject: far ones that serve and near ones that drive, usually one of each.
#pragma once

#include "harness/child_process.hpp"
#include "harness/rounds.hpp"

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace bench {

/// The cores on which the processes run. Waking a thread takes most of a round trip, and takes ten times as long on
/// another, sleeping core as on a shared core. Without a placement, the same two processes sometimes share a core and
/// sometimes do not, and a ratio of two such numbers means nothing.
enum class placement : std::uint8_t {
  as_the_system_likes,
  a_core_each, ///< One core for all near ends, another for all far ends.
  one_core,
};

/// The number of processes of a subject. Without far ends, the near ends get no addresses.
struct group_shape {
  std::size_t far_ends = 1;
  std::size_t near_ends = 1;
  bool numbers_far_ends = false;              ///< Also starts them with `--number N`, counting from 0.
  std::vector<std::string> words_before = {}; ///< Arguments before the others, for programs that have commands.
};

/// Copies of this program, started with `--serve SUBJECT` or with `--drive SUBJECT --address ADDRESS[,ADDRESS...]`.
/// Every near end gets all addresses. A process writes "ready ADDRESS" or "ready" when it is ready, or "failed TEXT" if
/// it cannot get ready.
class process_group {
public:
  /// Fails if a process does not get ready. If a far end cannot open, the failure is marked as absent.
  [[nodiscard]] static std::expected<process_group, failure> start(const std::string& subject, stop_signals& signals,
                                                                   const group_shape& shape = {});

  /// Applies from now on. If there is only one core, all processes run on it.
  void place(placement where) const;

  /// Writes a line to every near end, then waits for all answers. Returns the answers without the "took " at their
  /// front. Fails if a near end answers "failed TEXT", or not within `patience`.
  [[nodiscard]] std::expected<std::vector<std::string>, failure> ask(const std::string& question,
                                                                     std::chrono::milliseconds patience);

  /// Processor time used so far by all processes and the programs that they have started.
  [[nodiscard]] std::chrono::nanoseconds processor_time() const;

  /// Lets them rest for `duration`. Fails if one of them ends, or if a stop signal came.
  [[nodiscard]] std::expected<void, failure> rest(std::chrono::milliseconds duration);

private:
  explicit process_group(stop_signals& signals) : signals_(signals) {}
  [[nodiscard]] std::expected<void, failure> open(const std::string& subject, const group_shape& shape);
  [[nodiscard]] std::expected<std::string, failure> listen(child_process& child, std::chrono::milliseconds patience,
                                                           std::string_view begin, child_process* partner = nullptr);

  [[nodiscard]] child_process* first_far() { return far_.empty() ? nullptr : &far_.front(); }

  // Declared in this order so that the near ends end first.
  std::vector<child_process> far_;
  std::vector<child_process> near_;
  stop_signals& signals_;
};

} // namespace bench
