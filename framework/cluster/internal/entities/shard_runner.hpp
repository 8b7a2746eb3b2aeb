// Owns shards of one kind of entities, as far as they are placed on this member.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/internal/entities/entity_region.hpp>
#include <troupe/framework/cluster/internal/entities/entity_shard.hpp>
#include <troupe/framework/cluster/internal/membership/boot_clock.hpp>
#include <troupe/framework/cluster/internal/membership/cluster_view.hpp>
#include <troupe/framework/cluster/internal/membership/lease_keeper.hpp>
#include <troupe/framework/cluster/internal/membership/retry_pause.hpp>

namespace troupe::membership {

/// Takes the shards that are free and placed here, up to 128 with one request, and begins with them once it knows from
/// the directory which owners they had before. It gives those up that are placed
/// elsewhere or that the lease may not keep. A shard's entry stands under the lease of this member. It is removed once
/// the shard's entities have ended; only then are the messages that waited passed on. If the time of the lease was
/// over, they fail instead: the senders have led later messages to the next owner meanwhile, which they must not
/// follow.
///
///     free --the entry was made--> owned --placed elsewhere, the lease is not sure--> leaving
///     leaving --all entities have ended, the entry was removed or the lease is gone--> free
///
/// Threads: any; requests are made on a thread of its own.
class shard_runner {
public:
  /// What the directory says of the kind.
  struct picture {
    std::vector<std::string> hosts;  // The members that host it.
    std::vector<std::string> owners; // By shard; empty: none.
    std::vector<cluster_view::shard_past> pasts;
    std::uint64_t revision = 0; // Up to which all changes are known.
  };
  struct parts {
    std::shared_ptr<directory> where;
    std::string self; // This member's name.
    std::string kind;
    std::size_t shards = 0;
    std::function<held_lease()> lease; // The present one.
    std::chrono::milliseconds margin;  // Entities end this long before the lease may end.
    std::function<picture()> look;
    entity_shard::parts entities; // on_end and count are set here.
    entity_region* region = nullptr;
    entity_region::passer pass_on;
    /// Whether messages that are passed on would still come back for that shard.
    std::function<bool(std::uint32_t shard)> leads_here;
    /// fences() has changed. Called without a lock.
    std::function<void()> on_change;
    std::function<void(std::string text)> problem;
  };

  explicit shard_runner(parts of);
  shard_runner(const shard_runner&) = delete;
  shard_runner& operator=(const shard_runner&) = delete;
  /// Ends. Requires: end().
  ~shard_runner();

  /// Gives every shard up, waits for that until then, and passes on what waits.
  void end(std::chrono::steady_clock::time_point until);

  /// Something has changed: look now.
  void wake();
  /// True: gives every shard up, and takes no more. False: takes shards again.
  void withdraw(bool is_wanted);
  /// By shard: the fencing number if messages for it go to this member's region, otherwise 0.
  [[nodiscard]] std::vector<std::uint64_t> fences() const;
  /// How many entities run here.
  [[nodiscard]] std::size_t entities() const { return count_->load(); }

private:
  using clock = std::chrono::steady_clock;

  struct owned_shard {
    std::uint64_t lease = 0;
    std::uint64_t fence = 0;
    boot_clock::time_point sure_until{}; // Of the lease, when it was seen last.
    std::shared_ptr<entity_shard> shard;
    std::shared_ptr<std::atomic<bool>> is_over; // Its ownership is not sure any more.
    bool leaves = false;
    bool hurries = false;   // It leaves because of the lease.
    bool is_gone = false;   // The directory did not have its entry any more.
    std::size_t unmade = 0; // Remembered entities for which there was no room.
  };
  /// Their entries were made by one request.
  struct taken_shards {
    std::vector<std::uint32_t> numbers;
    std::uint64_t fence = 0;
    std::uint64_t lease = 0;
  };
  struct remembered_change {
    std::uint32_t shard;
    std::string key;
    bool is_running;
  };
  /// Outlives the runner, because shards ring it.
  struct bell {
    std::mutex mutex;
    std::condition_variable rung;
    bool is_rung = false;                      // Guarded by mutex.
    bool ends = false;                         // Guarded by mutex.
    bool is_withdrawn = false;                 // Guarded by mutex.
    bool has_shards = false;                   // Guarded by mutex.
    std::vector<remembered_change> remembered; // Guarded by mutex.

    void ring();
  };

  void run();
  /// Returns when to look again.
  clock::time_point step();
  [[nodiscard]] std::vector<bool> placed_here(const picture& now, bool is_withdrawn);
  void give_up(const picture& seen, const std::vector<bool>& wanted, bool is_withdrawn, const held_lease& lease);
  void release(const held_lease& lease);
  [[nodiscard]] entity_region::passer refuser(std::uint32_t number) const;
  [[nodiscard]] directory_write mark_of_kind() const;
  [[nodiscard]] bool remove_entries(const std::vector<std::uint32_t>& those);
  void acquire(const picture& now, const std::vector<bool>& wanted, const held_lease& lease);
  [[nodiscard]] bool is_sure(const held_lease& lease) const;
  void begin_taken(const picture& seen, const held_lease& lease);
  void begin(const taken_shards& those, const picture& seen);
  void start_remembered();
  void tell_unmade();
  void write_remembered();
  [[nodiscard]] bool has_unwritten(std::uint32_t shard) const;
  [[nodiscard]] bool write_changes(std::span<const remembered_change> changes);
  void set_fence(const std::vector<std::uint32_t>& those, std::uint64_t fence);
  void fail_requests(const directory_error& why);
  void note_success();

  const parts of_;
  const std::shared_ptr<bell> bell_ = std::make_shared<bell>();
  const std::shared_ptr<std::atomic<std::size_t>> count_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::shared_ptr<const entity_shard::parts> entities_;

  mutable std::mutex mutex_;
  std::vector<std::uint64_t> fences_; // Guarded by mutex_.

  // Only on the thread.
  std::vector<taken_shards> taken_; // Not begun yet.
  std::map<std::uint32_t, owned_shard> owned_;
  std::vector<std::string> last_hosts_;
  std::vector<bool> placed_; // By shard: whether it is placed here, among last_hosts_.
  clock::time_point hosts_since_{};
  clock::time_point next_sweep_{};
  clock::time_point next_request_{};
  bool has_requested_ = false; // In this step. Deadlines are looked at between two requests.
  bool has_problem_ = false;
  std::size_t told_unmade_ = 0;
  std::set<std::uint32_t> unread_;                        // Shards whose remembered entities were not started yet.
  std::map<std::uint32_t, clock::time_point> not_before_; // Shards that were not free.
  retry_pause pause_;

  std::thread thread_;
};

} // namespace troupe::membership
