// This process's end of one store: everything that the public classes do is done here.
#pragma once

#include <troupe/store/fwd.hpp>
#include <troupe/store/internal/attachment/local_counts.hpp>
#include <troupe/store/internal/files/data_pages.hpp>
#include <troupe/store/internal/files/lock_file.hpp>
#include <troupe/store/internal/files/store_files.hpp>
#include <troupe/store/internal/host/fork_epoch.hpp>
#include <troupe/store/internal/spill/disk_queue.hpp>
#include <troupe/store/internal/spill/spill_directory.hpp>
#include <troupe/store/internal/table/object_table.hpp>
#include <troupe/store/internal/table/table_lock.hpp>
#include <troupe/store/object_id.hpp>
#include <troupe/store/options.hpp>
#include <troupe/store/store_error.hpp>
#include <troupe/store/summary.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace troupe::store::internal {

/// What open gets done before there is an attachment.
struct opened_store {
  options settings;
  store_paths paths;
  lock_file lock;
  mapped_store files;
  process_id self;
};

/// Opens or makes the store and claims a slot. Requires: this process has it open nowhere else; attachments.hpp sees to
/// that.
[[nodiscard]] std::expected<opened_store, store_error> open_store(const options& options);

/// Gives the slot back, unless that is left to who reaps this process; removes the files when no other one is attached.
void close_store(opened_store& store, bool gives_slot_back);

/// A new object, in the state `writing`, held once.
struct new_object {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  std::span<std::byte> bytes;
  mapping_ptr own_file; // Its mapping, where the object has a file of its own.
};

/// A sealed object, held once.
struct held_object {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
};

/// What there is of an origin: one of these, or nothing.
struct object_of_origin {
  std::optional<new_object> made;
  std::optional<held_object> sealed;
  object_id being_written;
  std::uint32_t writer_pid = 0;
};

/// Whether the environment has "1" under that name.
[[nodiscard]] bool is_set(const char* variable);

/// Ends what attach() began; see attachments.hpp.
void detach(attachment& unused) noexcept;

/// Threads: any member from any thread. In a forked child everything fails or does nothing, as it does once the process
/// has lost its place in the store.
class attachment {
public:
  attachment(opened_store opened, std::string key);
  attachment(const attachment&) = delete;
  attachment& operator=(const attachment&) = delete;
  ~attachment();

  /// Counts a user. The second one does not where there are none any more: then it is being destroyed.
  void keep() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] bool try_keep() noexcept {
    auto users = users_.load(std::memory_order_relaxed);
    while (users > 0 && !users_.compare_exchange_weak(users, users + 1, std::memory_order_relaxed)) {
    }
    return users > 0;
  }
  /// The last one detaches and destroys it.
  void let_go() noexcept {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      detach(*this);
  }

  [[nodiscard]] bool forked() const { return fork_epoch_ != current_fork_epoch(); }
  /// Fails with `forked`, or with `detached` when this process's locks or its slot are gone: then nothing of what its
  /// handles name is sure to be there.
  [[nodiscard]] std::expected<void, store_error> check_usable() const;
  [[nodiscard]] const options& settings() const { return store_.settings; }
  /// Its name in the list of this process's attachments.
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] const process_id& self() const { return store_.self; }
  [[nodiscard]] std::uint64_t number() const { return view_.header().store_number; }
  [[nodiscard]] const std::array<std::uint64_t, 4>& secret() const { return view_.header().secret; }

  [[nodiscard]] std::string notice() const;

  /// Begins what the options say is done unasked.
  void begin_background() noexcept;

  // Writing.
  [[nodiscard]] std::expected<new_object, store_error>
  create(std::size_t size_bytes, std::span<const std::byte> metadata, std::span<const object_id> captured,
         std::chrono::milliseconds grace, const std::source_location& where, const object_origin& origin = {},
         bool grows = false);
  /// Requires: the object is being written by this process and grows.
  [[nodiscard]] std::expected<void, store_error> commit(std::uint32_t index, std::size_t from, std::size_t until);
  [[nodiscard]] std::expected<std::vector<new_object>, store_error> create_all(std::span<const std::size_t> sizes_bytes,
                                                                               std::chrono::milliseconds grace,
                                                                               const std::source_location& where);
  [[nodiscard]] std::expected<object_of_origin, store_error> find_origin(const object_origin& origin);
  [[nodiscard]] std::expected<object_of_origin, store_error>
  create_once(const object_origin& origin, std::size_t size_bytes, std::chrono::milliseconds grace,
              const std::source_location& where, bool grows = false);
  [[nodiscard]] std::expected<void, store_error> capture(std::uint32_t index, std::span<const object_id> ids);
  [[nodiscard]] std::expected<void, store_error> seal(std::uint32_t index, std::size_t size_bytes, bool shrunk);
  void abort(std::uint32_t index) noexcept; // Gives up the builder's hold, too.

  // Holding. retain() and release() never take the lock and wait for nobody. Pinning brings back what was spilled.
  [[nodiscard]] std::expected<held_object, store_error> find(const object_id& id);
  [[nodiscard]] std::vector<std::expected<held_object, store_error>> find_all(std::span<const object_id> ids);
  [[nodiscard]] bool contains(const object_id& id) const;
  [[nodiscard]] std::expected<std::vector<object_id>, store_error>
  wait(std::span<const object_id> ids, std::size_t how_many, std::chrono::milliseconds timeout);
  [[nodiscard]] std::expected<bool, store_error> wait_until(const std::function<bool()>& is_so,
                                                            std::chrono::milliseconds timeout);
  [[nodiscard]] bool is_being_written(const object_id& id) const {
    return usable() && reader_.look_up(id) == outcome::unsealed;
  }
  void note_progress(std::uint32_t index) noexcept;
  [[nodiscard]] std::optional<std::uint32_t> progress_of(const object_id& id) const noexcept;
  void retain(std::uint32_t index) noexcept;
  void release(std::uint32_t index) noexcept;
  /// Gives a mapping of the object where it does not lie in the store's memory, else null.
  [[nodiscard]] std::expected<mapping_ptr, store_error> pin(std::uint32_t index,
                                                            const std::optional<std::chrono::milliseconds>& within);
  [[nodiscard]] bool is_on_disk(std::uint32_t index) const noexcept;
  void retain_pin(std::uint32_t index) noexcept;
  void release_pin(std::uint32_t index) noexcept;
  [[nodiscard]] std::size_t size_of(std::uint32_t index) const;
  [[nodiscard]] std::expected<std::vector<object_id>, store_error> captured(std::uint32_t index);
  struct object_bytes {
    std::span<const std::byte> payload;
    std::span<const std::byte> metadata;
  };
  /// Requires: pinned; `mapped` is what pin() gave.
  [[nodiscard]] object_bytes bytes_of(std::uint32_t index, const void* mapped) const;

  // Handing over.
  [[nodiscard]] std::expected<void, store_error> hand_over(std::uint32_t index, std::uint32_t generation,
                                                           const process_id& to, std::uint64_t channel);
  void take_back(std::uint32_t index, std::uint32_t generation, const process_id& to, std::uint64_t channel);
  [[nodiscard]] std::expected<held_object, store_error> adopt(const object_id& id, const process_id& from,
                                                              std::uint64_t channel);
  std::expected<void, store_error> abandon(const process_id& peer, std::uint64_t channel);
  [[nodiscard]] bool shares_with(const process_id& peer) const;

  // Looking after it.
  std::expected<std::size_t, store_error> reap();
  [[nodiscard]] std::expected<store_summary, store_error> summary(const summary_query& what);
  [[nodiscard]] std::expected<store_summary, store_error> totals();
  [[nodiscard]] std::expected<void, store_error> verify();

private:
  [[nodiscard]] bool usable() const {
    return !forked() && !poisoned_.load(std::memory_order_relaxed) && reader_.is_attached(store_.self);
  }
  [[nodiscard]] std::expected<void, store_error> check_lock_file() const;
  [[nodiscard]] std::expected<table_guard, store_error> lock();
  [[nodiscard]] std::expected<void, store_error> drop_ended_channels();
  [[nodiscard]] store_error error_of(outcome what, const object_id& id) const;

  // attachment_room.cpp
  class turn;
  [[nodiscard]] store_error full_error(std::uint64_t size_bytes, const std::string& why) const;
  [[nodiscard]] std::expected<void, store_error>
  create_committed(std::span<const creation> wanted, std::span<std::uint32_t> indexes, std::chrono::milliseconds grace);
  [[nodiscard]] std::expected<void, store_error> create_rows(std::span<const creation> wanted,
                                                             std::span<std::uint32_t> indexes, std::size_t& made,
                                                             std::chrono::milliseconds grace);
  [[nodiscard]] store_error error_of_captured(outcome what, std::span<const object_id> captured) const;
  [[nodiscard]] std::expected<void, store_error> commit_all(std::span<const creation> wanted,
                                                            std::span<const std::uint32_t> indexes);
  [[nodiscard]] bool is_room_being_made(table_held held, std::int64_t since_ns) const;
  [[nodiscard]] outcome create_some(table_held held, std::span<const creation> wanted, std::span<std::uint32_t> indexes,
                                    std::size_t& made);
  [[nodiscard]] std::uint32_t own_pid() const { return view_.slot(store_.self.slot).pid.load(); }
  [[nodiscard]] std::uint32_t call_site_of(const std::source_location& where);
  [[nodiscard]] std::expected<void, store_error> grow(outcome need);
  [[nodiscard]] std::expected<void, store_error> grow_or_reap(outcome need, int& failures);
  void announce() noexcept;
  /// Whoever waits for a change looks, calls, looks again, calls ...: the first call says that somebody waits, so that
  /// the second look misses nothing, the second one waits.
  struct watch {
    std::uint32_t seen = 0;
    bool is_set = false;
  };
  void wait_for_change(watch& since, std::chrono::nanoseconds longest) noexcept;
  [[nodiscard]] std::expected<void, store_error> reap_while_waiting();

  // attachment_own_file.cpp
  [[nodiscard]] std::expected<new_object, store_error> create_in_own_file(const creation& wanted,
                                                                          std::span<const std::byte> metadata);
  [[nodiscard]] std::expected<std::uint32_t, store_error> create_row_with_file(const creation& wanted);
  [[nodiscard]] std::expected<mapping_ptr, store_error> make_own_file(std::uint32_t index, bool grows) const;
  [[nodiscard]] std::expected<mapping_ptr, store_error> map_own_file(std::uint32_t index) const;
  void cut_own_file(std::uint32_t index) noexcept;

  // attachment_pinning.cpp
  [[nodiscard]] std::expected<mapping_ptr, store_error> map_copy(std::uint32_t index, const disk_pause& pause) const;
  [[nodiscard]] store_error error_of_object(std::uint32_t index, const store_error& why) const;

  // attachment_spilling.cpp
  enum class search : std::uint8_t { some, all }; // Whether to give up where the first few objects cannot go.
  static constexpr std::int64_t no_end = INT64_MAX;
  [[nodiscard]] std::expected<std::uint64_t, store_error> spill(std::uint64_t wanted_bytes, search among,
                                                                std::int64_t until_ns);
  [[nodiscard]] std::expected<std::uint64_t, store_error> spill_by_writing(std::uint64_t wanted_bytes, search among,
                                                                           std::int64_t until_ns);
  [[nodiscard]] std::expected<std::uint64_t, store_error> evict_copied(std::uint64_t wanted_bytes, search among);
  [[nodiscard]] object_table::victims begin_spill(table_held held, std::uint64_t wanted_bytes,
                                                  std::span<std::uint32_t> victims, std::uint32_t& file, outcome& what);
  [[nodiscard]] std::expected<std::uint64_t, store_error>
  spill_batch(std::uint64_t wanted_bytes, std::uint64_t& calls_for_all, const disk_pause& pause);
  [[nodiscard]] std::expected<std::vector<spill_place>, store_error>
  write_spill_file(std::uint32_t file, std::span<const std::uint32_t> victims, const disk_pause& pause) const;
  [[nodiscard]] std::expected<std::uint64_t, store_error>
  end_spill(std::uint32_t file, std::span<const std::uint32_t> victims, std::span<const spill_place> places);
  [[nodiscard]] std::expected<mapping_ptr, store_error> restore(std::uint32_t index,
                                                                const std::optional<std::chrono::milliseconds>& within);
  [[nodiscard]] store_error slow_restore_error(std::uint32_t index, std::uint32_t worker,
                                               std::chrono::nanoseconds waited) const;
  [[nodiscard]] std::expected<void, store_error> read_back(std::uint32_t index, const disk_pause& pause);
  [[nodiscard]] std::expected<void, store_error> read_bytes_back(std::uint32_t index, const disk_pause& pause);
  [[nodiscard]] std::expected<void, store_error> remove_spill_files();
  void keep_half_done(std::uint32_t file, std::span<const std::uint32_t> objects);
  bool give_up_half_done();

  // attachment_background.cpp
  class background;
  enum class job : std::uint8_t {
    give_up_half_done,
    reap,
    look,
    spill, // May be wanted all the time.
    reclaim,
    remove_files,
    touch
  }; // In that order.
  static constexpr std::size_t jobs = 7;
  void in_background(job what) noexcept;
  void end_background() noexcept;
  [[nodiscard]] bool has_to_touch(table_held held) const;
  [[nodiscard]] bool touch_some();
  void look_for_dead();
  void remove_spill_files_if_wanted() noexcept;

  void hold(std::uint32_t index) noexcept; // 0 -> 1 only under the table's lock.
  void hold_new(std::uint32_t index) noexcept;
  enum class clearing : std::uint8_t { leaves_others, was_last, was_last_and_is_hinted };
  clearing clear_hold(std::uint32_t index) noexcept;
  [[nodiscard]] std::expected<held_object, store_error> find_locked(table_held held, const object_id& id);
  void touch(table_held held, std::uint32_t index) noexcept;
  [[nodiscard]] std::span<std::byte> extent_of(std::uint32_t index) const;

  opened_store store_;
  const std::string key_;
  control_view view_;
  table_reader reader_;
  local_counts counts_;
  std::atomic<std::uint64_t> users_{1}; // References to this, and objects that this process holds.
  std::byte* const writable_;
  const std::byte* const readable_;
  data_pages pages_;
  const std::uint32_t fork_epoch_;
  mutable std::atomic<bool> poisoned_{false}; // The lock file's descriptor is another file's.

  std::atomic<std::uint64_t> touched_bytes_{0}; // Of the data file, from its beginning; ready for this process.
  const bool protects_sealed_ = is_set("TROUPE_PROTECT_SEALED");
  const bool records_call_sites_ = is_set("TROUPE_RECORD_CALL_SITES");
  std::mutex call_sites_mutex_;
  std::map<std::pair<const char*, std::uint32_t>, std::uint32_t> call_sites_; // Guarded by call_sites_mutex_.

  const spill_directory spills_;
  disk_queue spill_queue_; // One thread of this process writes at a time.
  // Guarded by its turn: after a failure the disk is left alone for a while.
  struct spill_failure {
    store_error why;
    std::int64_t again_ns = 0;
    bool was_cut_short = false; // Who has more time may do better.
  };
  std::optional<spill_failure> spill_failure_;
  // What could not be noted since the lock was not to be had: objects half-way into that file, or, without one,
  // half-way back from theirs.
  struct half_done {
    std::uint32_t file;
    std::vector<std::uint32_t> objects;
  };
  std::mutex half_done_mutex_;
  std::vector<half_done> half_done_; // Guarded by half_done_mutex_.
  std::once_flag background_started_;
  struct ends {
    void operator()(background* what) const;
  };
  std::unique_ptr<background, ends> background_; // Set once.

  // A peer that has not noticed yet that a channel has ended may still send on it, and then die: so what is abandoned
  // is dropped again by every reap(), until the peer is gone.
  std::mutex ended_mutex_;
  std::set<std::pair<process_id, std::uint64_t>> ended_;
};

/// Where that store spills to.
[[nodiscard]] spill_directory spill_directory_of(const opened_store& store);

/// What is in a store that nobody has open, and removing it. Fail with `not_found` where there is none.
[[nodiscard]] std::expected<store_summary, store_error> summary_of_left_store(const options& options);
[[nodiscard]] std::expected<void, store_error> remove_left_store(const options& options);

/// The same, while nobody can attach.
[[nodiscard]] store_summary collect_summary_of_left(const mapped_store& files, const std::string& name);

/// Collects totals and rows, in batches under the lock.
[[nodiscard]] std::expected<store_summary, store_error> collect_summary(control_view view, const opened_store& store,
                                                                        const summary_query& what);
/// Without the rows.
[[nodiscard]] std::expected<store_summary, store_error> collect_totals(control_view view, const opened_store& store);

} // namespace troupe::store::internal
