// This process's holds of a store's objects.
#pragma once

#include <troupe/store/internal/attachment/background.hpp>
#include <troupe/store/internal/attachment/change_signal.hpp>
#include <troupe/store/internal/attachment/local_counts.hpp>
#include <troupe/store/internal/attachment/membership.hpp>
#include <troupe/store/internal/attachment/spill_file_removal.hpp>
#include <troupe/store/internal/attachment/user_count.hpp>

#include <cstdint>

namespace troupe::store::internal {

/// Counts this process's holds and pins of each object, and the reasons of its holds. No call waits for the lock.
///
/// In a forked child, all calls do nothing. Once this process has lost its slot, calls leave the shared bits unchanged.
///
/// Threads: any.
class held_objects {
public:
  /// Each held object counts once among `users`.
  held_objects(control_view view, const membership& member, user_count& users, background& unasked,
               spill_file_removal& files, change_signal& changes)
      : view_(view),
        member_(member),
        users_(users),
        unasked_(unasked),
        files_(files),
        changes_(changes),
        counts_(view.header().objects.rows_max) {}

  /// False if there is no address space for the counters.
  [[nodiscard]] bool can_count() const { return counts_.valid(); }

  /// Takes a hold for `reference`. Needs the lock, because it may be this process's first hold of the object.
  void hold(table_held held, std::uint32_t index) noexcept;
  /// Takes the first hold of a new object, for `unfinished`. Requires: no holder bit is set, and no other process knows
  /// the object.
  void hold_new(table_held held, std::uint32_t index) noexcept;
  /// Adds a hold. Requires: this process holds the object.
  void retain(std::uint32_t index, hold_reason why = hold_reason::reference) noexcept;
  /// Changes the reason of one hold.
  void recount(std::uint32_t index, hold_reason from, hold_reason to) noexcept;
  /// Returns whether this removed the attachment's last user.
  [[nodiscard]] bool release(std::uint32_t index, hold_reason why) noexcept;
  /// Like release(), for an unfinished object, which becomes `aborted`.
  [[nodiscard]] bool abort(std::uint32_t index) noexcept;

  /// Requires: this process holds the object.
  void retain_pin(std::uint32_t index) noexcept;
  void release_pin(std::uint32_t index) noexcept;

  struct own {
    std::uint32_t handles = 0;
    std::uint32_t pins = 0;
    hold_counts holds; // The reasons of both.
  };
  /// A snapshot; other threads may change the counts.
  [[nodiscard]] own own_of(std::uint32_t index) const;

private:
  enum class clearing : std::uint8_t { leaves_others, was_last, was_last_and_is_hinted };
  clearing clear_hold(std::uint32_t index) noexcept;

  control_view view_;
  const membership& member_;
  user_count& users_;
  background& unasked_;
  spill_file_removal& files_;
  change_signal& changes_;
  local_counts counts_;
};

} // namespace troupe::store::internal
