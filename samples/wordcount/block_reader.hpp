// Reads the text of many files in blocks that are cut between words.
#pragma once

#include "folder_walk.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace wordcount {

/// Totals of all text read so far.
struct read_totals {
  std::uint64_t files = 0; // Files that could be opened.
  std::uint64_t bytes = 0;
};

/// Fills the caller's memory with the text of a walk's files. Small files are combined; large ones are cut at word
/// ends. The end of a file ends a word. A word longer than a block gets a block as large as it needs.
///
///     while (!reader.done()) {
///       auto room = ...; // of reader.wanted_bytes()
///       auto size = reader.fill(room); // The first `size` bytes are the next block; 0 means no block this time.
///     }
class block_reader {
public:
  explicit block_reader(folder_walk files, std::size_t block_bytes);

  /// Room needed for the next block: the usual size, or more if a word has turned out to be longer.
  [[nodiscard]] std::size_t wanted_bytes() const;

  /// Reads into `room` and returns the length of the block at its front. Bytes after the block's last whole word are
  /// kept for the next call. Returns 0 if a single word fills the room (the next call wants more room), or if nothing
  /// is left. Requires: `room` has at least wanted_bytes().
  [[nodiscard]] std::size_t fill(std::span<char> room);

  /// Whether all files have been read and all text has been returned.
  [[nodiscard]] bool done() const { return at_end_; }

  [[nodiscard]] const read_totals& totals() const { return totals_; }
  [[nodiscard]] const read_problems& problems() const { return files_.problems(); }

private:
  [[nodiscard]] bool has_file();
  [[nodiscard]] std::size_t read_some(std::span<char> room);
  void finish_file();

  folder_walk files_;
  const std::size_t block_bytes_;
  std::optional<open_file> file_; // The file being read.
  std::uint64_t file_bytes_ = 0;  // Bytes read of that file so far.
  bool at_end_ = false;           // Whether no file is left.
  std::string begun_word_;        // The word at the end of the last room. It is held back, because it may go on.
  read_totals totals_;
};

} // namespace wordcount
