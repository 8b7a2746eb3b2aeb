// Records links on a tape, without holding them up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <troupe/framework/internal/tape/tape_queue.hpp>
#include <troupe/framework/internal/tape/tape_writer.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Writes what a queue has to the files of a tape, on a thread of its own.
///
/// Threads: any, except for end().
class tape_recorder {
public:
  /// How long end() waits for the disk.
  static constexpr std::chrono::seconds end_timeout{5};

  struct options {
    tape_place place;
    std::string node;
    std::string software;
    std::size_t queue_bytes = 8 * 1024 * 1024;
    /// Told what a person should know. Called on the recorder's thread, or by end().
    std::function<void(const std::string&)> tell = {};
    /// For tests: called on the recorder's thread before it writes what waits.
    std::function<void()> before_writing = {};
  };

  /// Creates the tape's first file and starts the thread. Fails with `bad_option`.
  [[nodiscard]] static std::expected<std::unique_ptr<tape_recorder>, node_error> open(options how);

  tape_recorder(const tape_recorder&) = delete;
  tape_recorder& operator=(const tape_recorder&) = delete;
  ~tape_recorder() { end(std::chrono::steady_clock::now() + end_timeout); }

  /// Where links leave what is recorded.
  [[nodiscard]] const std::shared_ptr<tape_queue>& queue() const noexcept { return queue_; }

  /// Writes what waits and ends the tape. Later packets are not recorded. If the disk does not answer until the
  /// deadline, the tape stays as it is, and `tell` is told what it lacks. The thread then ends when the disk answers.
  void end(std::chrono::steady_clock::time_point deadline);

  struct figures {
    tape_queue::figures queue;
    std::uint64_t lost_packets = 0;  // That could not be written.
    std::uint64_t lost_messages = 0; // Of these.
    std::uint64_t written_bytes = 0;
    std::uint64_t files = 0;
  };
  [[nodiscard]] figures now() const;

private:
  class work;

  tape_recorder(std::shared_ptr<tape_queue> queue, std::shared_ptr<work> what);

  const std::shared_ptr<tape_queue> queue_;
  const std::shared_ptr<work> work_; // Shared with the thread, which may outlive this.
  std::thread thread_;
};

} // namespace troupe::internal
