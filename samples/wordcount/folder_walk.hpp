// The regular files below a folder, one after the other, whatever happens to them meanwhile.
#pragma once

#include "file_descriptor.hpp"

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wordcount {

/// Files and folders that were not read as they stood. None of them ends the job, but with starved ones it has failed.
struct read_problems {
  std::uint64_t unreadable = 0; // No permission, or a read error.
  std::uint64_t vanished = 0;   // Listed in their folder, but gone or something else when they were to be opened.
  std::uint64_t changed = 0;    // Grew or shrank while they were read.
  std::uint64_t starved = 0;    // Of the unreadable ones: this process had no descriptor or memory left for them.
};

/// Shows one problem to the user.
using problem_report = std::function<void(const std::string& text)>;

struct open_file {
  file_descriptor descriptor;
  std::string path;
  std::uint64_t size_bytes = 0; // When it was opened.
};

/// Gives every regular file below a folder, opened for reading. Entries come in byte order of their names, folders
/// where they stand among the files, so that the same tree always gives the same order. Symbolic links are not
/// followed, except the folder's own name.
class folder_walk {
public:
  /// Fails with a text when the folder cannot be opened.
  [[nodiscard]] static std::expected<folder_walk, std::string> open(const std::string& folder, problem_report report);

  /// The next file; nothing when there are no more. What cannot be opened is reported, counted and left out.
  [[nodiscard]] std::optional<open_file> next();

  [[nodiscard]] const read_problems& problems() const { return problems_; }

  /// For whoever reads the files: more problems with them.
  void note_unreadable(const std::string& path, int error_number);
  void note_changed(const std::string& path, const std::string& how);

private:
  struct entry {
    std::string name;
    bool is_folder = false;
  };
  /// A folder on the way down, with what is left to do in it.
  struct level {
    file_descriptor folder;
    std::string path;
    std::vector<entry> entries; // In reverse order: the next one is the last.
  };

  explicit folder_walk(problem_report report) : report_(std::move(report)) {}
  void enter(file_descriptor folder, std::string path);
  [[nodiscard]] std::vector<entry> list(const file_descriptor& folder, const std::string& path);
  void note_not_opened(const std::string& path, int error_number);
  void note_vanished(const std::string& path, const std::string& how);

  problem_report report_;
  read_problems problems_;
  std::vector<level> levels_; // The innermost last.
};

/// A path as it may be shown: control characters, which could play tricks on a terminal, become '?'.
[[nodiscard]] std::string printable(std::string_view path);

} // namespace wordcount
