// What this process holds of a store.
#pragma once

#include <troupe/store/internal/attachment/background.hpp>
#include <troupe/store/internal/attachment/change_signal.hpp>
#include <troupe/store/internal/attachment/local_counts.hpp>
#include <troupe/store/internal/attachment/membership.hpp>
#include <troupe/store/internal/attachment/spill_file_removal.hpp>
#include <troupe/store/internal/attachment/user_count.hpp>

#include <cstdint>

namespace troupe::store::internal {

/// Counts this process's holds of each object, pins among them, and what each is for. No call takes the lock to wait
/// for it.
///
/// In a forked child all calls do nothing, as they do with the shared bits once the process has lost its place.
///
/// Threads: any.
class held_objects {
public:
  /// Each object that is held counts among `users`, once.
  held_objects(control_view view, const membership& member, user_count& users, background& unasked,
               spill_file_removal& files, change_signal& changes)
      : view_(view),
        member_(member),
        users_(users),
        unasked_(unasked),
        files_(files),
        changes_(changes),
        counts_(view.header().objects.rows_max) {}

  /// False where there was no address space for that.
  [[nodiscard]] bool can_count() const { return counts_.valid(); }

  /// The first hold of an object is taken under the lock: a `reference`.
  void hold(table_held held, std::uint32_t index) noexcept;
  /// A new object, `unfinished`: no bit of it is set, and nobody else knows it.
  void hold_new(table_held held, std::uint32_t index) noexcept;
  /// Once more. Requires: this process holds it.
  void retain(std::uint32_t index, hold_reason why = hold_reason::reference) noexcept;
  /// One hold is for something else now.
  void recount(std::uint32_t index, hold_reason from, hold_reason to) noexcept;
  /// Gives whether the last user of all is gone with that.
  [[nodiscard]] bool release(std::uint32_t index, hold_reason why) noexcept;
  /// The same of an object that is unfinished: it is given up.
  [[nodiscard]] bool abort(std::uint32_t index) noexcept;

  /// Requires: this process holds it.
  void retain_pin(std::uint32_t index) noexcept;
  void release_pin(std::uint32_t index) noexcept;

  struct own {
    std::uint32_t handles = 0;
    std::uint32_t pins = 0;
    hold_counts holds; // What these are for.
  };
  /// At this moment, while others change it.
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
