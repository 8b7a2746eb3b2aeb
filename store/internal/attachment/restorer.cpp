#include <troupe/store/internal/attachment/restorer.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/attachment/out_of_memory.hpp>
#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/host/crash_point.hpp>

#include <algorithm>
#include <thread>

namespace troupe::store::internal {

namespace {

using namespace std::chrono_literals;

// The longest wait for another process that is restoring the same object.
constexpr auto others_restore_life = std::chrono::nanoseconds{30s};

// The shortest wait for such a process, even if the caller's limit is shorter. Unless that process is stopped, it needs
// only the time of a read.
constexpr auto others_restore_least = std::chrono::nanoseconds{200ms};

// The number of times that a caller past its limit makes room, which another caller may take.
constexpr auto late_spills_max = 3;

/// Whether spilling failed because the disk could not be written.
[[nodiscard]] bool is_of_the_disk(const store_error& why) {
  return why.code() == store_errc::system_failure || why.code() == store_errc::full
         || why.code() == store_errc::disk_full;
}

[[nodiscard]] std::chrono::nanoseconds since(std::int64_t from_ns) {
  return std::chrono::nanoseconds{monotonic_ns() - from_ns};
}

} // namespace

/// One call of restore().
class restorer::attempt {
public:
  attempt(restorer& of, std::uint32_t index, const std::optional<std::chrono::milliseconds>& within)
      : of_(of),
        index_(index),
        began_ns_(monotonic_ns()),
        is_bounded_(within.has_value()),
        patience_(within ? at_most_a_day(*within) : others_restore_life),
        patience_with_others_(std::clamp(patience_, others_restore_least, others_restore_life)),
        until_ns_(within ? began_ns_ + patience_.count() : no_end) {}

  [[nodiscard]] std::expected<mapping_ptr, store_error> run() {
    for (;;) {
      const auto seen = look();
      if (!seen)
        return std::unexpected(seen.error());
      if (seen->is_here)
        return nullptr;
      if (seen->is_ours)
        return read();
      const auto waited = since(began_ns_);
      if (seen->what == outcome::no_space) {
        if (auto copy = make_room(is_bounded_ && waited >= patience_); !copy || *copy)
          return copy;
        if (has_just_made_room_)
          continue;
        if (auto hope = check_hope(*seen); !hope)
          return std::unexpected(hope.error());
      } else if (waited >= (seen->worker == of_.uses_.self.slot ? others_restore_life : patience_with_others_)) {
        return std::unexpected(of_.slow_error(index_, seen->worker, waited));
      }
      if (auto slept = sleep(seen->what); !slept)
        return std::unexpected(slept.error());
    }
  }

private:
  struct sight {
    outcome what = outcome::done;
    bool is_here = false; // The object is in memory.
    bool is_ours = false; // This process reads the object.
    bool is_being_made = false;
    std::int64_t grace_from_ns = 0;
    std::uint32_t worker = 0;
  };
  [[nodiscard]] std::expected<sight, store_error> look() {
    const auto guard = of_.uses_.access.lock();
    if (!guard)
      return std::unexpected(guard.error());
    auto table = object_table(*guard);
    table.reclaim(reclaim_batch);
    auto seen = sight{};
    const auto& row = of_.view_.object(index_);
    const auto state = row.state.load();
    seen.is_here = state == object_state::sealed || state == object_state::spilling;
    if (seen.is_here)
      return seen;
    if (state == object_state::spilled) {
      seen.what = table.begin_restore(index_, of_.uses_.self.slot);
      seen.is_ours = seen.what == outcome::done;
    }
    seen.worker = row.worker_slot;
    seen.is_being_made = seen.what == outcome::no_space && room_report::is_being_made(*guard, began_ns_);
    seen.grace_from_ns = std::max(began_ns_, of_.view_.header().spilling_ended_ns);
    return seen;
  }

  [[nodiscard]] std::expected<mapping_ptr, store_error> read() {
    if (auto done = of_.read_back(index_, pause()); !done)
      return std::unexpected(done.error());
    return nullptr;
  }

  /// Spills to make room, which other callers may take first. Returns a mapping of the copy on disk if the disk cannot
  /// be written, else null.
  [[nodiscard]] std::expected<mapping_ptr, store_error> make_room(bool is_late) {
    has_just_made_room_ = false;
    if (is_late && spilled_late_ >= late_spills_max)
      return nullptr;
    spilled_late_ += is_late ? 1 : 0;
    const auto spilled = of_.uses_.room.spill(of_.uses_.memory.length_of(index_), spiller::search::all, until_ns_);
    why_ = spilled ? std::string{} : spilled.error().message();
    code_ = !spilled && spilled.error().code() == store_errc::disk_full ? store_errc::disk_full : store_errc::full;
    has_just_made_room_ = spilled && *spilled > 0;
    if (!spilled && is_of_the_disk(spilled.error()))
      return out_of_memory_is_failure([&] { return of_.map_copy(index_, pause()); });
    return nullptr;
  }

  [[nodiscard]] std::expected<void, store_error> check_hope(const sight& seen) const {
    const auto grace = at_most_a_day(of_.uses_.full_grace);
    const auto had_grace = since(seen.grace_from_ns) >= grace && (grace.count() <= 0 || !seen.is_being_made);
    if (had_grace || (is_bounded_ && since(began_ns_) >= patience_ && change_.is_set))
      return std::unexpected(of_.uses_.report.full_error(of_.view_.object(index_).size_bytes.load(), why_, code_));
    return {};
  }

  [[nodiscard]] std::expected<void, store_error> sleep(outcome what) {
    auto left = patience_with_others_ - since(began_ns_);
    if (what == outcome::no_space)
      left = is_bounded_ ? patience_ - since(began_ns_) : look_pause;
    of_.uses_.changes.wait(change_, std::clamp<std::chrono::nanoseconds>(left, 1ms, look_pause));
    return of_.uses_.dead.reap_while_waiting(); // The process that was restoring the object may be dead.
  }

  [[nodiscard]] disk_pause pause() const {
    return [until_ns = until_ns_](std::chrono::nanoseconds how_long) {
      const auto has_time = until_ns - how_long.count() >= monotonic_ns();
      if (has_time)
        std::this_thread::sleep_for(how_long);
      return has_time;
    };
  }

  restorer& of_;
  const std::uint32_t index_;
  const std::int64_t began_ns_;
  const bool is_bounded_;
  const std::chrono::nanoseconds patience_;
  const std::chrono::nanoseconds patience_with_others_;
  const std::int64_t until_ns_;
  change_signal::watch change_;
  std::string why_;
  store_errc code_ = store_errc::full;
  int spilled_late_ = 0;
  bool has_just_made_room_ = false;
};

std::expected<mapping_ptr, store_error> restorer::restore(std::uint32_t index,
                                                          const std::optional<std::chrono::milliseconds>& within) {
  return attempt{*this, index, within}.run();
}

store_error restorer::slow_error(std::uint32_t index, std::uint32_t worker, std::chrono::nanoseconds waited) const {
  return {
      store_errc::busy,
      "object " + to_string(uses_.errors.id_of(index)) + " is being restored from disk by process "
          + std::to_string(view_.slot(worker).pid.load()) + " and was not ready within "
          + grouped(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(waited).count()))
          + (waited >= others_restore_life ? " ms; is it stopped?" : " ms")};
}

/// Runs without the lock, because no other process touches an object that is being restored.
std::expected<void, store_error> restorer::read_bytes_back(std::uint32_t index, const disk_pause& pause) {
  const auto& row = view_.object(index);
  const auto extent = uses_.memory.extent_of(index);
  auto done = uses_.pages.commit(row.offset, row.offset + extent.size());
  if (done)
    done = uses_.files.read(row.spill_file, view_.spill_file(row.spill_file).generation, row.spill_offset, extent,
                            row.spill_checksum, pause);
  reach(crash_point::restore_read);
  return done;
}

std::expected<void, store_error> restorer::read_back(std::uint32_t index, const disk_pause& pause) {
  uses_.memory.unprotect(index);
  auto done = out_of_memory_is_failure([&] { return read_bytes_back(index, pause); });
  uses_.memory.protect(index);
  {
    const auto guard = uses_.access.lock();
    if (!guard) {
      uses_.half_done.keep(no_row, {&index, 1});
      return std::unexpected(guard.error());
    }
    if (done)
      object_table(*guard).end_restore(index);
    else
      object_table(*guard).give_up_restore(index);
  }
  uses_.changes.announce();
  if (!done)
    return std::unexpected(uses_.errors.of_bytes(index, done.error()));
  return {};
}

/// Maps a spilled object at its place on disk. The table does not record that. The hold of this process keeps the file.
/// Another process may restore the object meanwhile, which does no harm, because the bytes are the same.
std::expected<mapping_ptr, store_error> restorer::map_copy(std::uint32_t index, const disk_pause& pause) const {
  const auto& row = view_.object(index);
  const auto file = row.spill_file.load();
  auto mapping = uses_.files.map_part(file, view_.spill_file(file).generation, row.spill_offset,
                                      uses_.memory.length_of(index), row.spill_checksum, pause);
  if (!mapping)
    return std::unexpected(uses_.errors.of_bytes(index, mapping.error()));
  return mapping;
}

} // namespace troupe::store::internal
