// Walks the regular files below a folder, even if they change meanwhile.
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

/// Files and folders that were not read completely. None of them ends the job, but a job with starved ones has failed.
struct read_problems {
  std::uint64_t unreadable = 0; // No permission, or a read error.
  std::uint64_t vanished = 0;   // Listed in their folder, but gone or something else when opened.
  std::uint64_t changed = 0;    // Grew or shrank while being read.
  std::uint64_t starved = 0;    // Unreadable because this process had no descriptor or memory left; also counted above.
};

/// Shows one problem to the user.
using problem_report = std::function<void(const std::string& text)>;

struct open_file {
  file_descriptor descriptor;
  std::string path;
  std::uint64_t size_bytes = 0; // When the file was opened.
};

/// Returns every regular file below a folder, opened for reading. Entries come in byte order of their names, with
/// folders among the files, so that the same tree always gives the same order. Symbolic links are not followed, except
/// for the top folder's own name.
class folder_walk {
public:
  /// Fails with a text if the folder cannot be opened.
  [[nodiscard]] static std::expected<folder_walk, std::string> open(const std::string& folder, problem_report report);

  /// The next file, or nullopt if none is left. Entries that cannot be opened are reported, counted and skipped.
  [[nodiscard]] std::optional<open_file> next();

  [[nodiscard]] const read_problems& problems() const { return problems_; }

  /// Lets the reader of the files report further problems.
  void note_unreadable(const std::string& path, int error_number);
  void note_changed(const std::string& path, const std::string& how);

private:
  struct entry {
    std::string name;
    bool is_folder = false;
  };
  /// A folder on the way down, with its remaining entries.
  struct level {
    file_descriptor folder;
    std::string path;
    std::vector<entry> entries; // In reverse order: the next entry is the last one.
  };

  explicit folder_walk(problem_report report) : report_(std::move(report)) {}
  void enter(file_descriptor folder, std::string path);
  [[nodiscard]] std::vector<entry> list(const file_descriptor& folder, const std::string& path);
  void note_not_opened(const std::string& path, int error_number);
  void note_vanished(const std::string& path, const std::string& how);

  problem_report report_;
  read_problems problems_;
  std::vector<level> levels_; // The innermost folder is the last one.
};

/// The path for display: control characters, which could affect a terminal, become '?'.
[[nodiscard]] std::string printable(std::string_view path);

} // namespace wordcount
