// Records links on a tape, without holding them up.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <troupe/framework/internal/tape/tape_format.hpp>
#include <troupe/framework/internal/tape/tape_writer.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Takes packets from any number of links into a bounded queue, and writes them on a thread of its own. What finds no
/// room in the queue is dropped, and the tape says how much. Definitions are never dropped: links bound them.
///
/// Threads: any, except for end(). Locks: its own, under which nothing is called; it may be taken under a link's lock.
class tape_recorder {
public:
  struct options {
    tape_place place;
    std::string node;
    std::string software;
    std::size_t queue_bytes = 8 * 1024 * 1024;
    /// Told what a person should know. Called on the recorder's thread.
    std::function<void(const std::string&)> tell = {};
    /// For tests: called on the recorder's thread before it writes what waits.
    std::function<void()> before_writing = {};
  };

  /// Creates the tape's first file and starts the thread. Fails with `bad_option`.
  [[nodiscard]] static std::expected<std::shared_ptr<tape_recorder>, node_error> open(options how);

  explicit tape_recorder(options how, tape_writer writer);
  tape_recorder(const tape_recorder&) = delete;
  tape_recorder& operator=(const tape_recorder&) = delete;
  ~tape_recorder() { end(); }

  /// Begins a link and returns its number. The `link` and `at` of `what` are not used.
  [[nodiscard]] std::uint64_t begin_link(tape_link_began what);
  /// Records a packet, or counts it as dropped. The body consists of two parts.
  void packet(std::uint64_t link, tape_side writer, packet_kind kind, std::uint8_t detail, bytes_view begin,
              bytes_view end = {}) noexcept;
  void name_actor(std::uint64_t link, tape_side exporter, std::uint64_t number, std::string_view name) noexcept;
  void end_link(std::uint64_t link, std::string_view reason) noexcept;

  /// Writes what waits and ends the tape. Waits for the disk. Later packets are not recorded.
  void end();

  struct figures {
    std::uint64_t packets = 0;          // Recorded, or lost when they were written.
    std::uint64_t dropped_packets = 0;  // For want of room in the queue.
    std::uint64_t dropped_messages = 0; // Of these.
    std::uint64_t lost_packets = 0;     // That could not be written.
    std::uint64_t lost_messages = 0;    // Of these.
    std::uint64_t written_bytes = 0;
    std::uint64_t files = 0;
  };
  [[nodiscard]] figures now() const;

private:
  [[nodiscard]] std::uint64_t elapsed() const noexcept;
  void run();
  void write(const byte_vector& records);
  void say_dropped();
  void append(const auto& record) noexcept;
  void wake_if_needed(std::size_t before);

  const options how_;
  const std::chrono::steady_clock::time_point began_;

  // The recorder's thread only.
  tape_writer writer_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  byte_vector queue_;        // Records.
  tape_lost_counts dropped_; // Since the queue has last said what was dropped.
  std::uint64_t next_link_ = 1;
  bool is_ending_ = false;
  figures figures_;

  std::thread thread_;
};

} // namespace troupe::internal
