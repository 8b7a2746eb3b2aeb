// Where links leave what is recorded, without waiting.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/tape/tape_format.hpp>
#include <troupe/framework/internal/tape/tape_writer.hpp>
#include <troupe/store/handle.hpp>

namespace troupe::internal {

/// Bytes of an object in a shared store that wait to be recorded.
struct waiting_object {
  std::size_t position = 0; // The bytes belong before what is there in the records that wait.
  tape_object what;         // Without the bytes; those from `what.offset` to `end` are wanted.
  std::uint64_t end = 0;
  store::handle held = {};
};

/// What the writing thread takes at once.
struct waiting_records {
  byte_vector bytes;
  std::vector<waiting_object> objects; // In the order of their positions.
};

/// Takes packets from any number of links into bounded memory, as encoded records for the one thread that writes them.
/// What finds no room is dropped, and a record says how much. Definitions have more room, because later packets need
/// them.
///
/// Threads: any. Locks: its own, under which nothing is called; it may be taken under a link's lock.
class tape_queue {
public:
  /// The room of definitions, names, beginnings and ends of links beyond that of other records.
  static constexpr std::size_t definition_room_bytes = 64 * 1024 * 1024;

  /// `lease`: if nothing is taken for this time, the queue closes at the next packet, and drops what it has. Nullopt:
  /// never.
  explicit tape_queue(std::size_t bytes_max, std::optional<std::chrono::nanoseconds> lease = std::nullopt);

  /// Begins a link and returns its number. The `link` and `at` of `what` are not used.
  [[nodiscard]] std::uint64_t begin_link(tape_link_began what);
  /// Takes a packet, or counts it as dropped. The body consists of two parts.
  void packet(std::uint64_t link, tape_side writer, packet_kind kind, std::uint8_t detail, bytes_view begin,
              bytes_view end = {}) noexcept;
  /// Keeps the bytes of an object for the writing thread: those from `what.offset` to `end`. Without a handle, or
  /// without room, the tape says that they are not recorded. The link, the id and the offset of `what` are used.
  void object(const tape_object& what, std::uint64_t end, store::handle held) noexcept;
  void name_actor(std::uint64_t link, tape_side exporter, std::uint64_t number, std::string_view name) noexcept;
  void end_link(std::uint64_t link, std::string_view reason) noexcept;

  /// Later records are not taken. Wakes take() up.
  void close();

  /// Waits for records, and gathers them for a short time. Returns after `until` at the latest, or when the queue is
  /// closed. Replaces `into` by all records, and returns whether the queue was closed before: then nothing follows.
  [[nodiscard]] bool take(waiting_records& into, std::chrono::steady_clock::time_point until);

  /// All records that wait, at once. Requires: no objects were given.
  [[nodiscard]] byte_vector take_now();

  /// Closes the queue if its lease has ended, also if no packet comes. Returns whether it is closed.
  bool close_if_abandoned();

  /// Whether the queue takes no more.
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_.load(std::memory_order_relaxed); }

  /// The time of records: nanoseconds since the queue was made.
  [[nodiscard]] std::uint64_t elapsed() const noexcept;

  struct figures {
    std::uint64_t packets = 0; // That were taken.
    std::uint64_t dropped_packets = 0;
    std::uint64_t dropped_messages = 0; // Of these.
    std::size_t waiting_bytes = 0;
  };
  [[nodiscard]] figures now() const;

private:
  void say_dropped();
  void append(const auto& record) noexcept;
  [[nodiscard]] bool has_gathered(std::size_t record_bytes) const noexcept;
  void wake_if_needed(std::size_t before);
  [[nodiscard]] bool is_abandoned(std::uint64_t now);

  const std::size_t bytes_max_;
  const std::optional<std::chrono::nanoseconds> lease_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  byte_vector records_;
  std::vector<waiting_object> objects_;
  std::uint64_t object_bytes_ = 0; // Of `objects_`.
  tape_lost_counts dropped_;       // Since the records have last said what was dropped.
  std::uint64_t next_link_ = 1;
  std::atomic<bool> is_closed_{false}; // Read anywhere.
  std::uint64_t taken_at_ = 0;
  figures figures_;
};

} // namespace troupe::internal
