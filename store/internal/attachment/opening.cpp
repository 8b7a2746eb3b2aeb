// Attaching to a store and detaching from it, under the open lock.
#include <troupe/store/internal/attachment/left_stores.hpp>
#include <troupe/store/internal/attachment/opened_store.hpp>
#include <troupe/store/internal/attachment/summaries.hpp>
#include <troupe/store/internal/files/store_places.hpp>
#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/host/ending_process.hpp>
#include <troupe/store/internal/liveness/reaping.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace troupe::store::internal {

namespace {

/// Claims a free slot. Slots are claimed only under the open lock, so a free one stays free.
[[nodiscard]] std::expected<process_id, store_error> claim_slot(control_view view, lock_file& lock) {
  for (auto index = std::uint32_t{0}; index < slots_max; ++index) {
    auto& slot = view.slot(index);
    if (slot.state.load() != slot_state::free)
      continue;
    const auto locked = lock.lock_slot(index);
    if (!locked)
      return std::unexpected(locked.error());
    if (!*locked)
      continue; // Its last owner is still leaving.
    reach(crash_point::open_slot_locked);
    slot.nonce.store(random_number());
    slot.pid.store(static_cast<std::uint32_t>(::getpid()));
    reach(crash_point::open_slot_filled);
    slot.state.store(slot_state::attached); // Last, after the byte is locked and the nonce is written.
    reach(crash_point::open_slot_attached);
    return process_id{index, slot.nonce.load()};
  }
  return std::unexpected(store_error{store_errc::table_full,
                                     "the limit of " + std::to_string(slots_max) + " attached processes is reached"});
}

/// Frees the slot. First marks it, so that no process hands anything over to it. Then drops all handles in flight to
/// this process, because no process is left to adopt them. If a stopped process holds the table's lock, the slot stays,
/// and is reaped once its byte is unlocked. A slot that now belongs to another process stays unchanged.
[[nodiscard]] std::expected<void, store_error> leave(opened_store& store, const deadline& until) {
  const auto view = store.files.view;
  const auto self = store.self;
  auto& slot = view.slot(self.slot);
  const auto change_state = [&](slot_state from, slot_state to) -> std::expected<void, store_error> {
    const auto guard = lock_table(view, self.slot, until.left());
    if (!guard)
      return std::unexpected(guard.error());
    if (slot.state.load() != from || slot.nonce.load() != self.nonce)
      return std::unexpected(store_error{store_errc::detached, "the slot no longer belongs to this process"});
    slot.state.store(to);
    return {};
  };
  if (auto marked = change_state(slot_state::attached, slot_state::reaping); !marked)
    return marked;
  reach(crash_point::close_marked);
  const auto to_us = [&](const flight_entry& flight) {
    return flight.to_slot == self.slot && flight.to_nonce == self.nonce;
  };
  if (auto dropped = drop_flights(view, self.slot, until.left(), to_us); !dropped)
    return dropped;
  if (auto reclaimed = reclaim_all(view, self.slot, until.left()); !reclaimed)
    return reclaimed;
  return change_state(slot_state::reaping, slot_state::free);
}

/// Whether every locked slot belongs to a process that is ending.
[[nodiscard]] bool only_ending_are_attached(const opened_store& store) {
  for (auto index = std::uint32_t{0}; index < slots_max; ++index)
    if (store.lock.is_locked(index) && !is_ending(static_cast<pid_t>(store.files.view.slot(index).pid.load())))
      return false;
  return true;
}

/// Whether no process is attached any more. The kernel drops the locks of a killed process some time after other
/// processes can notice its death. Therefore this function waits for ending processes. Otherwise a process that
/// detaches because of that death would leave the files behind.
[[nodiscard]] bool all_have_left(const opened_store& store, const deadline& until) {
  while (store.lock.any_attached()) {
    if (until.passed() || !only_ending_are_attached(store))
      return false;
    std::this_thread::sleep_for(std::chrono::microseconds{500});
  }
  return true;
}

[[nodiscard]] bool has_left(const std::filesystem::path& path) {
  auto failure = std::error_code{};
  return std::filesystem::exists(path, failure) && !is_of_another_user(path);
}

/// Whether whole files exist, or the remains of a process that was killed while making or removing them.
[[nodiscard]] bool has_left_files(const store_paths& paths) {
  return has_left(paths.control) || has_left(paths.data) || has_left(temporary_of(paths.control))
         || has_left(temporary_of(paths.data)) || has_left(paths.lock);
}

[[nodiscard]] store_error no_such_store(const options& options) {
  const auto all = all_paths_of(options);
  const auto is_left = all && std::ranges::any_of(*all, has_left_files);
  return {store_errc::not_found,
          "no process has store \"" + options.name + "\" open"
              + (is_left ? "; killed processes have left its files, remove them with `troupe store clean`"
                         : std::string{})};
}

[[nodiscard]] std::expected<taken_place, store_error> take_place_that_must_exist(const options& options) {
  auto in_use = take_place_in_use(options);
  if (!in_use)
    return std::unexpected(in_use.error());
  if (!*in_use)
    return std::unexpected(no_such_store(options));
  return **std::move(in_use);
}

/// Takes the open lock of a store that no process has open but that has left files.
[[nodiscard]] std::expected<std::pair<store_paths, lock_file>, store_error> lock_left_store(const options& options) {
  const auto all = all_paths_of(options);
  if (!all)
    return std::unexpected(all.error());
  const auto left = std::ranges::find_if(*all, has_left_files);
  if (left == all->end())
    return std::unexpected(no_such_store(options));
  auto lock = lock_file::open(left->lock, options.lock_timeout);
  if (!lock)
    return std::unexpected(lock.error());
  if (lock->any_attached())
    return std::unexpected(store_error{store_errc::busy, "store \"" + options.name + "\" was opened just now"});
  return std::pair{*left, *std::move(lock)};
}

[[nodiscard]] std::expected<opened_store, store_error> open_in(taken_place& place, const options& options) {
  auto* const paths = &place.paths;
  auto* const lock = &place.lock;
  reach(crash_point::open_locked);
  // Evaluated once, because a process that is attached at that time may die before this call ends. The process that
  // maps the existing files then reaps the dead one.
  const auto first = !place.is_in_use;
  auto beside = sweep(*paths, options, !first);
  if (!beside) {
    if (first)
      (void)remove_files(*paths);
    return std::unexpected(beside.error());
  }
  reach(crash_point::open_swept);
  auto made = std::expected<void, store_error>{};
  if (first)
    made = make_files(*paths, options);
  auto files = made ? map_files(*paths, options) : std::unexpected(made.error());
  if (!files) {
    if (first)
      (void)remove_files(*paths);
    return std::unexpected(files.error());
  }
  if (first)
    remove_forgotten(*paths, std::chrono::hours{1});
  auto self = claim_slot(files->view, *lock);
  if (!self && self.error().code() == store_errc::table_full)
    if (const auto reaped = reap_dead(files->view, *lock, no_slot, options.lock_timeout); reaped && *reaped > 0)
      self = claim_slot(files->view, *lock);
  if (!self)
    return std::unexpected(self.error());
  lock->unlock_opening();
  auto settings = options;
  settings.capacity_bytes = files->view.header().capacity_bytes;
  settings.objects_max = files->view.header().objects.rows_max;
  settings.spill_directory = files->view.spill_directory();
  paths->spill_directory = settings.spill_directory;
  return opened_store{std::move(settings), std::move(*paths), std::move(*lock), std::move(*files), *self,
                      *std::move(beside)};
}

} // namespace

std::expected<store_summary, store_error> summary_of_left_store(const options& options) {
  auto left = lock_left_store(options);
  if (!left)
    return std::unexpected(left.error());
  left->second.leave_as_found();
  if (!has_left(left->first.control))
    return std::unexpected(no_such_store(options)); // Its maker was killed before there was a control file.
  auto files = map_files(left->first, options);
  if (!files)
    return std::unexpected(files.error());
  return collect_summary_of_left(*files, options.name);
}

std::expected<void, store_error> remove_left_store(const options& options) {
  auto left = lock_left_store(options);
  if (!left)
    return std::unexpected(left.error());
  if (auto swept = sweep(left->first, options, false); !swept)
    return std::unexpected(swept.error());
  return remove_files(left->first);
}

std::expected<opened_store, store_error> open_store(const options& options) {
  // Another user may take one of the file names after this place was chosen, and release the name before its owner is
  // looked up.
  constexpr auto tries_max = 100;
  for (auto tries = 1;; ++tries) {
    const auto is_last = tries == tries_max;
    auto place = options.must_exist ? take_place_that_must_exist(options) : take_place(options);
    if (!place && (is_last || place.error().code() != store_errc::denied))
      return std::unexpected(place.error());
    if (!place)
      continue;
    auto opened = open_in(*place, options);
    if (opened || is_last || opened.error().code() != store_errc::denied)
      return opened;
  }
}

spill_directory spill_directory_of(const opened_store& store) {
  const auto* directory = store.files.view.spill_directory();
  return *directory == 0 ? spill_directory{} : spill_directory{directory, store.paths.on_disk};
}

void close_store(opened_store& store, bool gives_slot_back) {
  if (!store.lock.is_intact())
    return; // This process's locks are gone, and the next process that asks for them takes its slot.
  const auto until = deadline(store.settings.lock_timeout);
  // The slot is freed before the open lock is taken, because waiting for the table must not keep other processes from
  // opening.
  if (gives_slot_back)
    (void)leave(store, until);
  reach(crash_point::close_slot_freed);
  const auto alone = store.lock.lock_opening(until.left()).has_value();
  store.lock.unlock_slot(store.self.slot);
  if (alone && store.lock.is_still_named() && all_have_left(store, until))
    (void)remove_files(store.paths);
  if (alone)
    store.lock.unlock_opening();
}

} // namespace troupe::store::internal
