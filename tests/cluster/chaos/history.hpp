// What a process of a chaos test has done: a line in a file for each event.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::tests {

/// One thing that a process did or learned.
struct history_event {
  enum class kind : std::uint8_t {
    ran,      // The process began. `text`: its node's identity.
    owns,     // It became the owner of `name`, with the number `fence`.
    acted,    // As the owner of `name`, it is about to do the act `number`.
    accepted, // As the receiver, it did the act of the process `by`.
    refused,  // As the receiver, it did not do it.
    made,     // It made the entity `name` of the shard `by`, from a state after `number` requests.
    handled,  // As the entity `name`, it handled the request `number` of the process `by`. `text`: the how many-th.
    saved, // As the receiver, it saved the state of the entity `name` after `number` requests, from the process `by`.
    asked, // It sent the request `number` to `name`.
    answered, // It got the value `text` for the request.
    failed,   // It got the error `text` for the request.
    told,     // The cluster told it: `text`.
    left,     // It left in order. The last event.
  };
  /// All processes of a host have the same one.
  using clock = std::chrono::steady_clock;

  kind what = kind::ran;
  clock::time_point begun = {}; // Before the act, and before is_sure() was asked; before the state was loaded.
  clock::time_point at = {};
  std::string name = {};
  std::uint64_t fence = 0;
  std::uint64_t number = 0;
  bool is_sure = false; // What is_sure() said to the owner before the act.
  std::string by = {};
  std::string text = {};

  friend bool operator==(const history_event&, const history_event&) = default;
};

/// The events of one run of a process.
struct history {
  std::string run; // The file's name: another one for each run.
  std::vector<history_event> events;
};

[[nodiscard]] std::string to_line(const history_event& event);
/// Nullopt if the line is not one of to_line().
[[nodiscard]] std::optional<history_event> event_in(std::string_view line);

/// Reads a file that is being written.
///
/// Threads: one at a time.
class history_reader {
public:
  explicit history_reader(std::filesystem::path file) : file_(std::move(file)), read_{file_.filename(), {}} {}

  /// Everything that was written so far. A last line without its end is left out: it is being written, or its writer
  /// was killed. Throws std::runtime_error if another line cannot be read.
  const history& read();

private:
  std::filesystem::path file_;
  std::streamoff next_ = 0;
  history read_;
};

/// Appends events to a file, each as a whole, so that no kill loses an event that was written.
///
/// Threads: any.
class history_writer {
public:
  /// Throws std::system_error.
  explicit history_writer(const std::filesystem::path& file);
  history_writer(const history_writer&) = delete;
  history_writer& operator=(const history_writer&) = delete;
  ~history_writer();

  /// Sets `at` to the present, and `begun` as well if it is not set.
  void write(history_event event) const;

private:
  int file_;
};

} // namespace troupe::tests
