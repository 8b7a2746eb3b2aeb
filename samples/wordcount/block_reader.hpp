// The text of many files in blocks that are cut between words.
#pragma once

#include "folder_walk.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace wordcount {

/// What was read so far.
struct read_totals {
  std::uint64_t files = 0; // Those that could be opened.
  std::uint64_t bytes = 0;
};

/// Fills memory of the caller's with the text of a walk's files: small files together, large ones cut at word ends. A
/// file's end ends a word. A word that is longer than a block gets a block as large as it needs.
///
///     while (!reader.done()) {
///       auto room = ...; // of reader.wanted_bytes()
///       auto size = reader.fill(room); // The first `size` bytes are the next block; 0: none this time.
///     }
class block_reader {
public:
  explicit block_reader(folder_walk files, std::size_t block_bytes);

  /// How much room the next block needs: the usual size, or more when a word has turned out to be longer than that.
  [[nodiscard]] std::size_t wanted_bytes() const;

  /// Reads into `room` and gives the length of the block at its front. What follows the block's last whole word is kept
  /// for the next call. 0 when a single word fills the room (the next call wants more of it), or when nothing was left.
  /// Requires: room for wanted_bytes().
  [[nodiscard]] std::size_t fill(std::span<char> room);

  /// All files are read and all text was given out.
  [[nodiscard]] bool done() const { return at_end_; }

  [[nodiscard]] const read_totals& totals() const { return totals_; }
  [[nodiscard]] const read_problems& problems() const { return files_.problems(); }

private:
  [[nodiscard]] bool has_file();
  [[nodiscard]] std::size_t read_some(std::span<char> room);
  void finish_file();

  folder_walk files_;
  const std::size_t block_bytes_;
  std::optional<open_file> file_; // The one being read.
  std::uint64_t file_bytes_ = 0;  // Read of it so far.
  bool at_end_ = false;           // No file is left.
  std::string begun_word_;        // At the end of the last room: no block yet, since it may go on.
  read_totals totals_;
};

} // namespace wordcount
