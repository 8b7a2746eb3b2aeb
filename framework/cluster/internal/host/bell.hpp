// Wakes the watches of other processes after a change.
#pragma once

#include <string>

namespace troupe::cluster_directories {

/// Tells all processes that hear a file's bell to look for changes: sets the file's times, and so needs no descriptor
/// of the file and no room on the disk.
void ring_bell(const std::string& path) noexcept;

/// Hears that a bell was rung.
///
/// Threads: one at a time.
class bell_ear {
public:
  explicit bell_ear(const std::string& path);
  bell_ear(const bell_ear&) = delete;
  bell_ear& operator=(const bell_ear&) = delete;
  ~bell_ear();

  /// A descriptor for poll(), readable once the bell was rung; -1 if the system has no inotify instance left.
  [[nodiscard]] int readable() const noexcept { return inotify_; }

  /// Forgets that the bell was rung.
  void clear() const;

private:
  int inotify_;
};

} // namespace troupe::cluster_directories
