// The members in a file, while the file changes.
#pragma once

#include <troupe/framework/cluster/internal/members/member_source.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include <sys/stat.h>
#include <sys/types.h>

namespace troupe::cluster_directories {

/// Reads the file anew after each change, also if another file takes its place.
///
/// inotify tells of changes to the file that is there. In addition, the file's place is looked at every 2 s, for a file
/// that was removed and is made again.
class member_file_source final : public member_source {
public:
  explicit member_file_source(std::string path);
  ~member_file_source() override;

  [[nodiscard]] finding look(int stop_descriptor) override;
  [[nodiscard]] int readable() const override { return inotify_; }

private:
  /// What tells one state of the file from another one.
  struct stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t bytes = 0;
    std::int64_t written_ns = 0;
    std::int64_t changed_ns = 0;

    bool operator==(const stamp&) const = default;
  };

  void watch_file();
  [[nodiscard]] std::optional<stamp> stamp_of_file() const;

  const std::string path_;
  const int inotify_;         // -1 if the system has none left; then the place is looked at every 2 s only.
  int watch_ = -1;            // Of inotify.
  std::optional<stamp> read_; // Of the file that was read last, once it can no longer change without a new stamp.
  std::optional<directory_error> trouble_; // Of that file.
};

} // namespace troupe::cluster_directories
