// This process's end of one store: the parts that the public classes use, and how they are connected.
#pragma once

#include <troupe/store/internal/attachment/background.hpp>
#include <troupe/store/internal/attachment/flights.hpp>
#include <troupe/store/internal/attachment/membership.hpp>
#include <troupe/store/internal/attachment/object_finder.hpp>
#include <troupe/store/internal/attachment/object_views.hpp>
#include <troupe/store/internal/attachment/object_waiter.hpp>
#include <troupe/store/internal/attachment/object_writer.hpp>
#include <troupe/store/internal/attachment/opened_store.hpp>
#include <troupe/store/internal/attachment/store_survey.hpp>
#include <troupe/store/internal/attachment/user_count.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace troupe::store::internal {

/// Ends what attach() began; see attachments.hpp.
void detach(attachment& unused) noexcept;

/// Owns all state that this process has for one store.
///
/// Threads: any member from any thread. In a forked child, or once this process has lost its slot in the store, every
/// call fails or does nothing.
class attachment {
public:
  attachment(opened_store opened, std::string key);
  attachment(const attachment&) = delete;
  attachment& operator=(const attachment&) = delete;
  ~attachment();

  /// Counts a user. try_keep() fails if there are no users left, which means that the attachment is being destroyed.
  void keep() noexcept { users_.add(); }
  [[nodiscard]] bool try_keep() noexcept { return users_.try_add(); }
  /// Removes a user. If that was the last one, detaches and destroys the attachment. release() and abort() do the same
  /// if they remove the last hold and no other user is left.
  void let_go() noexcept {
    if (users_.remove())
      detach(*this);
  }
  void release(std::uint32_t index, hold_reason why = hold_reason::reference) noexcept {
    if (holds_.release(index, why))
      detach(*this);
  }
  void abort(std::uint32_t index) noexcept {
    if (holds_.abort(index))
      detach(*this);
  }

  /// Starts the background jobs that the options ask for.
  void begin_background() noexcept;

  [[nodiscard]] const options& settings() const { return store_.settings; }
  /// The key in the list of this process's attachments.
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] std::uint64_t number() const { return view_.header().store_number; }
  [[nodiscard]] const std::array<std::uint64_t, 4>& secret() const { return view_.header().secret; }

  [[nodiscard]] membership& member() { return member_; }
  [[nodiscard]] held_objects& holds() { return holds_; }
  [[nodiscard]] object_finder& finder() { return finder_; }
  [[nodiscard]] object_waiter& waiter() { return waiter_; }
  [[nodiscard]] object_writer& writer() { return writer_; }
  [[nodiscard]] object_views& views() { return views_; }
  [[nodiscard]] flights& in_flight() { return flights_; }
  [[nodiscard]] reaper& dead() { return reaper_; }
  [[nodiscard]] store_survey& survey() { return survey_; }

private:
  [[nodiscard]] progress do_unasked(job what);

  // Each member uses some of those above it.
  opened_store store_;
  const std::string key_;
  control_view view_;
  user_count users_;
  membership member_;
  background background_;
  change_signal changes_;
  store_errors errors_;
  // The store's files.
  object_memory memory_;
  data_pages pages_;
  const spill_directory spill_files_;
  spill_file_removal removal_;
  own_files own_files_;
  // Liveness, holds and the lock.
  held_objects holds_;
  table_access access_;
  ended_channels ended_;
  reaper reaper_;
  table_growth growth_;
  // Room.
  half_done_moves half_done_;
  room_report report_;
  spiller spiller_;
  restorer restorer_;
  page_toucher toucher_;
  room_maker room_;
  // Used by the public classes.
  object_finder finder_;
  object_waiter waiter_;
  object_writer writer_;
  object_views views_;
  flights flights_;
  store_survey survey_;
};

} // namespace troupe::store::internal
