// Finds out which processes have ended.
#pragma once

#include <troupe/framework/cluster/internal/host/process_identity.hpp>

#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace troupe::cluster_directories {

/// Follows processes of the own pid namespace until they end.
///
/// A process is followed by a pidfd. Where the kernel gives none, /proc is read at each call instead.
///
/// Threads: any.
class process_watch {
public:
  explicit process_watch(process_identity self);
  process_watch(const process_watch&) = delete;
  process_watch& operator=(const process_watch&) = delete;
  ~process_watch();

  /// From now on follows these processes and no others. Returns those that have ended. The own process, and processes
  /// of other pid namespaces, never count as ended.
  [[nodiscard]] std::vector<process_identity> ended_of(std::span<const process_identity> processes);

  /// A descriptor for poll(), readable as soon as a followed process ends and until ended_of() is called; -1 if there
  /// is none.
  [[nodiscard]] int readable() const noexcept { return epoll_; }

private:
  struct followed {
    int descriptor = -1; // -1 also after the end.
    bool has_ended = false;
  };

  [[nodiscard]] followed follow(const process_identity& process) const;
  void look(const process_identity& process, followed& one) const;
  void drop(followed& one) const;

  const process_identity self_;
  const int epoll_;
  std::mutex mutex_;
  std::map<process_identity, followed> followed_; // Guarded by mutex_.
};

} // namespace troupe::cluster_directories
