// Writes the files of a tape.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <troupe/framework/internal/tape/definitions_in_force.hpp>
#include <troupe/framework/internal/tape/tape_format.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Where a tape goes. Exactly one of `file` and `directory` is set.
struct tape_place {
  std::string file = {};      // A file that does not exist.
  std::string directory = {}; // Made if it does not exist. The tape's files get names of their own there.
  std::uint64_t file_bytes_max = 64 * 1024 * 1024;
  std::size_t files_max = 16; // In a directory, beyond which the oldest file of this tape is removed.
  tape_codec codec = tape_codec::lz4;
};

/// The least bound of a file. Below it, hardly anything but definitions would find room.
inline constexpr std::uint64_t tape_file_bytes_min = 64 * 1024;

/// Packets that are not on the tape.
struct tape_lost_count {
  std::uint64_t first_at = 0;
  std::uint64_t last_at = 0;
  std::uint64_t packets = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0; // With the packets' heads.

  void add(const tape_lost_count& more);
};

/// Packets by link and by the end that wrote them.
class tape_lost_counts {
public:
  void add(const tape_packet& packet, std::size_t body_bytes);
  void add(std::uint64_t link, tape_side writer, const tape_lost_count& more);
  void add(const tape_lost_counts& more);
  [[nodiscard]] bool empty() const noexcept { return counts_.empty(); }
  void clear() { counts_.clear(); }
  void append(byte_vector& out, tape_loss why, std::string_view text) const;
  [[nodiscard]] tape_lost_count sum() const;

private:
  std::map<std::pair<std::uint64_t, tape_side>, tape_lost_count> counts_;
};

/// Collects records in blocks, and writes these to files. Nothing that goes wrong is an error of the caller: what could
/// not be written is counted, and the tape says so as soon as it can be written again.
///
/// Threads: one.
class tape_writer {
public:
  /// A block is written when its records have this many bytes, or a quarter of a small file.
  static constexpr std::size_t block_bytes = 256 * 1024;
  /// After a failure, the next attempt follows after this time.
  static constexpr std::chrono::nanoseconds pause_after_failure = std::chrono::seconds{1};

  struct identity {
    std::string node;
    std::string software;
    std::uint64_t started_at = 0; // tape_head::started_at.
  };

  /// Creates the first file, for this user only. Fails with `bad_option` if it exists, is a link or cannot be created,
  /// and if the place is not valid.
  [[nodiscard]] static std::expected<tape_writer, node_error> open(tape_place place, identity who);

  tape_writer(tape_writer&&) noexcept;
  tape_writer& operator=(tape_writer&&) = delete;
  /// Does not write what waits: call close() first.
  ~tape_writer();

  /// Adds a record. `now`: nanoseconds since the recording began. Requires: not closed.
  void add(const tape_record& record, bytes_view encoded, std::uint64_t now);
  /// Writes what waits.
  void flush(std::uint64_t now);
  /// Writes what waits, and the end. Nothing may follow.
  void close(std::uint64_t now);

  /// What a person should know, once: that writing failed, works again, or that the tape is full.
  [[nodiscard]] std::optional<std::string> take_news();

  [[nodiscard]] std::uint64_t written_bytes() const noexcept { return written_bytes_; }
  [[nodiscard]] std::uint64_t files() const noexcept { return next_number_; }
  [[nodiscard]] const std::string& file_name() const noexcept { return name_; }
  /// All packets that were added and could not be written.
  [[nodiscard]] tape_lost_count lost() const;

private:
  class file;

  tape_writer(tape_place place, identity who, std::uint64_t recording);

  [[nodiscard]] std::expected<void, std::string> open_next();
  [[nodiscard]] std::expected<void, std::string> write_block(bytes_view body);
  [[nodiscard]] std::expected<void, std::string> write_beginning();
  [[nodiscard]] std::expected<void, std::string> write_end(std::uint64_t now, tape_end_reason why);
  [[nodiscard]] std::expected<void, std::string> write_waiting(std::uint64_t now);
  void lose_waiting();
  [[nodiscard]] bool has_room_for(bytes_view body, std::size_t more_bytes) const;
  [[nodiscard]] std::size_t full_block_bytes() const;
  void remove_oldest();

  const tape_place place_;
  const identity who_;
  const std::uint64_t recording_;
  definitions_in_force definitions_;
  std::unique_ptr<file> file_; // Null if the next one could not be opened.
  std::string name_;
  std::deque<std::string> names_; // Of this tape's files in the directory.
  std::uint32_t next_number_ = 0;
  std::uint64_t written_bytes_ = 0;

  byte_vector waiting_; // Records of the next block.
  tape_lost_counts waiting_counts_;
  std::vector<std::uint64_t> ended_links_; // Whose end waits.

  tape_lost_counts lost_;      // Since the tape has last said what it lost.
  bool has_told_lost_ = false; // In the current attempt to write.
  tape_lost_count lost_in_all_;
  std::string failure_; // Empty: writing works.
  std::uint64_t next_attempt_ = 0;
  bool has_to_repeat_ = false; // Definitions may have been lost.
  bool is_full_ = false;
  std::optional<std::string> news_;
};

} // namespace troupe::internal
