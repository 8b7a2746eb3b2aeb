// Runs the actors of which a cluster has one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <caf/actor.hpp>

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/internal/membership/lease_keeper.hpp>
#include <troupe/framework/cluster/internal/membership/retry_pause.hpp>
#include <troupe/framework/cluster/ownership.hpp>

namespace troupe::membership {

/// Owns the names of singletons, as far as no other process does, and runs an actor for each name that it owns. The
/// entry of a name stands under the lease of this process. The actor is ended a margin before the lease may end.
///
///     idle --the entry is free, the lease is sure--> owning --the lease is not sure, or the actor has ended--> ending
///     ending --the actor has ended, or the lease is gone--> idle
///     A runner that stands back ends what it owns, and stays idle.
///
/// The entry is removed once the actor has ended. An actor that does not end keeps it until the lease is gone. So each
/// run has its own fencing number, and an owner that gives up in order is never followed too early.
///
/// Threads: any; requests are made, and actors started, on a thread of its own.
class singleton_runner {
public:
  /// What is known here of the directory.
  struct sighting {
    std::uint64_t made_at = 0;  // The revision at which the present entry of the name was made; 0: there is none.
    std::uint64_t revision = 0; // Up to which all changes are known.
  };
  struct parts {
    std::shared_ptr<directory> where;
    std::string value;                 // Of the entries: this member's name.
    std::function<held_lease()> lease; // The present one.
    std::chrono::milliseconds margin;
    std::function<sighting(const std::string& name)> look;
    /// Makes the actor known under the name, or withdraws it (null).
    std::function<void(const std::string& name, const caf::actor& actor)> show;
    std::function<void(const std::string& name, std::string text)> problem;
  };
  using maker = std::function<caf::actor(const ownership&)>;

  explicit singleton_runner(parts of);
  singleton_runner(const singleton_runner&) = delete;
  singleton_runner& operator=(const singleton_runner&) = delete;
  /// Ends the actors, and frees the names.
  ~singleton_runner();

  /// From now on this process is ready to own the name. False if it was before.
  bool add(std::string name, maker make);

  /// Something has changed that may concern `name`: look now.
  void wake();

  /// True: gives up what is owned, in order, and owns nothing until it is false again.
  void stand_back(bool is_so);

private:
  struct candidate {
    maker make;
    std::uint64_t lease = 0; // Under which the entry is owned; 0: it is not.
    std::uint64_t fence = 0;
    caf::actor actor;
    std::shared_ptr<std::atomic<bool>> has_ended; // The actor.
    std::shared_ptr<std::atomic<bool>> is_over;   // The run: its ownership is not sure any more.
    caf::actor ending;                            // Was told to end, and is killed if it does not.
    std::chrono::steady_clock::time_point kill_at{};
    std::chrono::steady_clock::time_point begun{};
    bool waits_for_owner = false;                 // The name was not free.
    std::chrono::steady_clock::time_point next{}; // When to try again.
    retry_pause pause;
  };

  /// Outlives the runner, because actors ring it when they end.
  struct bell {
    std::mutex mutex;
    std::condition_variable rung;
    bool is_rung = false;     // Guarded by mutex.
    bool stands_back = false; // Guarded by mutex.
    bool ends = false;        // Guarded by mutex.

    void ring();
  };

  void run();
  /// Returns when to look again.
  std::chrono::steady_clock::time_point step(const std::string& name, candidate& of);
  void acquire(const std::string& name, candidate& of, const held_lease& lease);
  void begin(const std::string& name, candidate& of);
  void end(const std::string& name, candidate& of);
  /// Returns when to look again.
  std::chrono::steady_clock::time_point kill_late(candidate& of);
  void release(const std::string& name, candidate& of);
  /// Whether something may be owned under the lease now.
  [[nodiscard]] bool is_sure(std::uint64_t lease) const;
  /// Whether somebody has removed or replaced the entry.
  [[nodiscard]] bool is_taken_away(const std::string& name, const candidate& of) const;

  const parts of_;
  const std::shared_ptr<bell> bell_ = std::make_shared<bell>();
  std::map<std::string, maker> added_; // Guarded by the bell's mutex.

  // Only on the thread.
  std::map<std::string, candidate> all_;
  std::uint64_t requests_ = 0; // For names that were not owned.
  bool stands_back_ = false;
  std::thread thread_;
};

} // namespace troupe::membership
