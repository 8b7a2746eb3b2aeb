#include <troupe/store/internal/attachment/room_maker.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/host/crash_point.hpp>

#include <algorithm>
#include <utility>

namespace troupe::store::internal {

namespace {

// Above this level, memory is freed ahead of need.
constexpr std::uint64_t ahead_percent = 80;

} // namespace

/// One call of make().
class room_maker::attempt {
public:
  attempt(room_maker& of, std::span<const creation> wanted, std::span<std::uint32_t> indexes,
          std::chrono::milliseconds grace)
      : uses_(of.uses_),
        view_(of.view_),
        wanted_(wanted),
        indexes_(indexes),
        waits_(grace.count() > 0),
        grace_(at_most_a_day(grace)),
        turn_(of.view_, of.uses_.self, of.uses_.access, of.uses_.changes) {}

  /// The rows made so far, also after a failure.
  [[nodiscard]] std::span<const std::uint32_t> made() const { return indexes_.first(made_); }

  [[nodiscard]] std::expected<void, store_error> run() {
    for (;;) {
      const auto seen = try_once();
      if (!seen)
        return std::unexpected(seen.error());
      want_in_background(*seen);
      if (seen->what == outcome::done && made_ == wanted_.size())
        return {};
      if (seen->what == outcome::done)
        continue;
      if (auto done = seen->what == outcome::no_space ? find_room(*seen) : grow(seen->what); !done)
        return done;
    }
  }

private:
  struct sight {
    outcome what = outcome::no_space;
    std::uint64_t wanted_ahead = 0; // Smallest request of an earlier waiter; 0: none.
    bool is_being_made = false;
    bool is_nearly_full = false;
    bool wants_touch = false;
    bool has_disk_failed = false;
    std::int64_t spilling_ended_ns = 0;
  };
  /// Does all the work that needs the lock, in one hold of the lock.
  [[nodiscard]] std::expected<sight, store_error> try_once() {
    auto seen = sight{};
    const auto guard = uses_.access.lock();
    if (!guard)
      return std::unexpected(guard.error());
    const auto& header = view_.header();
    object_table(*guard).reclaim(reclaim_batch);
    seen.wanted_ahead = turn_.wanted_ahead(*guard);
    if (seen.wanted_ahead == 0)
      seen.what = make_some(*guard);
    if (seen.what == outcome::no_space && waits_)
      if (const auto taken = turn_.take(*guard, bytes_left()); taken != outcome::done)
        seen.what = taken;
    seen.wants_touch = uses_.toucher.has_to_touch(*guard);
    if (seen.what == outcome::no_space && began_ns_ > 0)
      seen.is_being_made = room_report::is_being_made(*guard, began_ns_);
    seen.is_nearly_full = header.bytes_in_use > header.capacity_bytes / 100 * ahead_percent;
    seen.spilling_ended_ns = header.spilling_ended_ns;
    seen.has_disk_failed = room_report::has_disk_failed(*guard);
    return seen;
  }

  [[nodiscard]] outcome make_some(table_held held) {
    const auto hold = [&](std::uint32_t row) { uses_.holds.hold_new(held, row); };
    const auto end = std::min(wanted_.size(), made_ + reclaim_batch);
    for (; made_ < end; ++made_)
      if (const auto what = object_table(held).create(wanted_[made_], indexes_[made_], hold); what != outcome::done)
        return what;
    return outcome::done;
  }

  /// The bytes of the rows that are not made yet.
  [[nodiscard]] std::uint64_t bytes_left() const {
    auto bytes = std::uint64_t{0};
    for (const auto& one : wanted_.subspan(made_))
      bytes += extent_length(one.size_bytes, one.metadata_bytes);
    return bytes;
  }

  void want_in_background(const sight& seen) const {
    if (seen.is_nearly_full && uses_.disk.has_disk())
      uses_.unasked.want(job::spill);
    if (seen.wants_touch)
      uses_.unasked.want(job::touch);
  }

  [[nodiscard]] std::expected<void, store_error> grow(outcome what) {
    switch (what) {
    case outcome::need_objects:
    case outcome::need_edges:
    case outcome::need_waiters:
    case outcome::need_origins:
      return uses_.growth.grow_or_reap(what, failures_);
    case outcome::origin_known:
      return std::unexpected(uses_.errors.of(what, {}));
    default:
      return std::unexpected(uses_.errors.of_captured(what, wanted_[made_].captured));
    }
  }

  /// Reaps first. Then, until the caller's grace is over, spills if the caller is first in line, else waits for others.
  [[nodiscard]] std::expected<void, store_error> find_room(const sight& seen) {
    if (!std::exchange(has_reaped_, true)) {
      if (auto reaped = uses_.dead.reap(); !reaped)
        return std::unexpected(reaped.error());
      began_ns_ = monotonic_ns();
      return {};
    }
    if (auto reaped = uses_.dead.reap_while_waiting(); !reaped)
      return reaped;
    if (seen.wanted_ahead == 0 && waits_ && has_spilled(seen))
      return {};
    return wait(seen);
  }

  [[nodiscard]] bool has_spilled(const sight& seen) {
    const auto until_ns = std::max(began_ns_, seen.spilling_ended_ns) + grace_.count();
    const auto spilled = uses_.disk.spill(bytes_left(), spiller::search::all, until_ns);
    if (spilled)
      note(store_errc::full, {});
    else
      note(spilled.error().code(), spilled.error().message());
    return spilled && *spilled > 0;
  }

  [[nodiscard]] std::expected<void, store_error> wait(const sight& seen) {
    const auto waited = std::chrono::nanoseconds{monotonic_ns() - std::max(began_ns_, seen.spilling_ended_ns)};
    const auto left = grace_ - waited;
    if (left.count() <= 0 && why_.empty() && seen.has_disk_failed)
      note(store_errc::disk_full, "the disk has no room or cannot be written to, as another waiting request found");
    if (left.count() <= 0 && why_.empty() && seen.wanted_ahead > 0)
      why_ = "an earlier request waits for " + grouped(seen.wanted_ahead) + " bytes";
    if (left.count() <= 0 && (!waits_ || !seen.is_being_made))
      return std::unexpected(uses_.report.full_error(wanted_[made_].size_bytes, why_, code_));
    uses_.changes.wait(change_, left.count() > 0 ? std::min<std::chrono::nanoseconds>(left, look_pause) : look_pause);
    return {};
  }

  /// Keeps the reason why there is no room yet.
  void note(store_errc code, std::string why) {
    why_ = std::move(why);
    code_ = code == store_errc::disk_full ? code : store_errc::full;
  }

  const needs& uses_;
  control_view view_;
  const std::span<const creation> wanted_;
  const std::span<std::uint32_t> indexes_;
  const bool waits_;
  const std::chrono::nanoseconds grace_;
  room_turn turn_;
  change_signal::watch change_;
  std::string why_;
  store_errc code_ = store_errc::full;
  std::size_t made_ = 0;
  std::int64_t began_ns_ = 0; // Start of the wait; 0: not waiting yet.
  int failures_ = 0;
  bool has_reaped_ = false;
};

std::expected<void, store_error> room_maker::make(std::span<const creation> wanted, std::span<std::uint32_t> indexes,
                                                  std::chrono::milliseconds grace) {
  for (auto has_reaped = false;; has_reaped = true) {
    auto made = std::span<const std::uint32_t>{};
    auto done = std::expected<void, store_error>{};
    {
      auto rows = attempt{*this, wanted, indexes, grace};
      done = rows.run();
      made = rows.made();
    }
    const auto has_rows = done.has_value();
    if (has_rows)
      done = commit_all(wanted, indexes);
    if (!done)
      for (const auto index : made)
        (void)uses_.holds.abort(index); // Never the last user: the caller is one.
    // The file system may be out of pages. Reaping may free some, or other processes may have freed some meanwhile.
    if (done || !has_rows || done.error().code() != store_errc::full || has_reaped)
      return done;
    if (auto reaped = uses_.dead.reap(); !reaped)
      return std::unexpected(reaped.error());
  }
}

std::expected<std::uint32_t, store_error> room_maker::make_row_with_file(const creation& wanted) {
  auto index = no_row;
  for (auto failures = 0;;) {
    auto what = outcome::done;
    {
      const auto guard = uses_.access.lock();
      if (!guard)
        return std::unexpected(guard.error());
      auto table = object_table(*guard);
      table.reclaim(reclaim_batch);
      what = table.create_in_own_file(wanted, uses_.self, index,
                                      [&](std::uint32_t row) { uses_.holds.hold_new(*guard, row); });
    }
    if (what == outcome::done)
      return index;
    if (what == outcome::not_found || what == outcome::unsealed)
      return std::unexpected(uses_.errors.of_captured(what, wanted.captured));
    if (what == outcome::origin_known)
      return std::unexpected(uses_.errors.of(what, {}));
    if (auto grown = uses_.growth.grow_or_reap(what, failures); !grown)
      return std::unexpected(grown.error());
  }
}

std::expected<void, store_error> room_maker::commit_all(std::span<const creation> wanted,
                                                        std::span<const std::uint32_t> indexes) {
  for (auto at = std::size_t{0}; at < wanted.size(); ++at) {
    const auto length = extent_length(wanted[at].size_bytes, wanted[at].metadata_bytes);
    if (length == 0)
      continue;
    uses_.memory.unprotect(indexes[at]);
    if (wanted[at].grows)
      continue;
    const auto offset = view_.object(indexes[at]).offset;
    if (auto done = uses_.pages.commit(offset, offset + length); !done)
      return std::unexpected(store_error{done.error().code(), "object of " + grouped(wanted[at].size_bytes)
                                                                  + " bytes: " + done.error().message()});
  }
  reach(crash_point::create_committed);
  return {};
}

} // namespace troupe::store::internal
