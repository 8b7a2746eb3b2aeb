// Bringing bytes here. Serving them to peers: serving.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/handles/books.hpp>
#include <troupe/framework/internal/handles/fetch_callers.hpp>
#include <troupe/framework/internal/handles/imports.hpp>
#include <troupe/framework/internal/handles/pulling.hpp>
#include <troupe/framework/internal/handles/room_numbers.hpp>

namespace troupe::internal::handles {

/// Tells peers how the fetches ended for which they wait.
class pull_server {
public:
  virtual ~pull_server() = default;

  virtual void serve(const peer_waiter& who, reference what) = 0;
  virtual void refuse(const peer_waiter& who, const fetch_error& why) = 0;
};

/// Why a peer loses its link; empty where it does not.
using violation = std::string_view;

/// Brings the bytes of objects here: one fetch for all who wait for the same, with all that it captures.
class shared_fetches {
public:
  shared_fetches(books& of, imports& counted, entry_changes& whole, pull_server& peers);
  shared_fetches(const shared_fetches&) = delete;
  shared_fetches& operator=(const shared_fetches&) = delete;

  // -- who waits

  /// Requires: nobody called `who` waits already; `what` is resolved, so below.
  void begin(waiter_id who, reference what, time_point until);
  /// Nothing happens when `who` has been answered.
  void cancel(waiter_id who);
  void add_waiter(reference what, const waiter& who);
  /// It has what it wants, or wants it no more.
  void remove_waiter(reference what, const waiter& who);

  // -- the course of a fetch

  /// Waits for its turn, if the source can be asked. To be called when it has become so.
  void advance(reference what);
  /// As many as the source allows at a time; the others keep their turn.
  void begin_pulls(link_record& source);
  /// The attempt ends: nothing of it is left but who waits, and its turn. What is being sealed needs no source.
  void restart(reference what);
  /// Ends it, without an answer to those who waited for it.
  [[nodiscard]] std::set<waiter> stop(reference what);
  /// All who wait are told when the event ends.
  void fail(reference what, const fetch_error& error);
  /// The bytes are at `place`: all who wait get their answer. Invariant 1 of `entry` holds from here on.
  void finish(reference what, const object_id& place);

  // -- at the end of an event

  void stop_unless_awaited(reference what);
  [[nodiscard]] bool is_sealing(reference what) const;
  void answer_failed(reference what);
  /// What this node's own object captures is to come.
  void finish_parts(reference what);

  // -- rooms

  void room_made(room_id room);
  void room_failed(room_id room, handle_errc why);
  /// False when nobody wants it. `after`: making room, where another has made it; or sealing.
  [[nodiscard]] bool has_replica(room_id room, const object_id& place, fetch_step after);
  /// Where the bytes belong that come over that link; 0 where nobody wants them any more.
  [[nodiscard]] std::expected<room_id, violation> room_for(const link_record& from, const pull_chunk& what) const;
  /// They are there. Whether the room has all its bytes now. Nothing happens where the room is not wanted any more.
  bool room_filled(room_id room, std::uint64_t more_bytes);
  /// Whether the room has all its bytes, and is not being sealed yet.
  [[nodiscard]] bool waits_for_captured(room_id room) const;

  // -- what the source says

  /// One reference each of what the head names is this fetch's from now on.
  [[nodiscard]] violation on_head(link_record& from, const pull_head& what, const std::vector<reference>& captured);
  /// One reference of what was handed over is this fetch's from now on.
  [[nodiscard]] violation on_here(link_record& from, request_number request, reference handed_over);
  void on_refused(const link_record& from, reference what, const refused& why);

  // -- time

  void expire_waiter(waiter_id who);
  /// Fetches that wait for captured ones only are put to `patient`, for judge().
  void expire_patience(reference what, std::vector<reference>& patient);
  /// Those whose time is over, and that wait for captured ones only: they go on as long as something moves beneath
  /// them. Where nothing does, a liar has made them wait for each other.
  void judge(const std::vector<reference>& patient);

  // -- looking at it

  [[nodiscard]] std::size_t waiters() const noexcept { return callers_.size(); } // Callers of begin().
  [[nodiscard]] std::size_t rooms() const noexcept { return rooms_.size(); }
  /// The first invariant that does not hold; empty when all do.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  [[nodiscard]] fetch_state* outer_of(const waiter& who);
  [[nodiscard]] std::shared_ptr<import_budget> budget_for(reference what, const waiter& who);
  [[nodiscard]] bool is_paid_by(const import_budget& budget, reference what, const waiter& who);
  void answer(const waiter& who, const fetch_error& error, reference what);
  [[nodiscard]] answer_waiter end_wait(waiter_id who, reference what);
  void explain_delay(answer_waiter& told, reference what) const;

  void step_to(reference what, fetch_step next); // The only writer of fetch_state::step.
  void ask_for_bytes(reference what);
  void has_all_bytes(reference what);
  void await_captured(reference what, const std::vector<reference>& captured);
  void seal_if_complete(reference what);
  void begin_again_later(reference what, const fetch_error& why);
  [[nodiscard]] time_point last_deadline(const fetch_state& fetch) const;
  [[nodiscard]] time_point captured_deadline(const fetch_state& outer) const;
  [[nodiscard]] time_point end_of_patience() const { return clock_.now() + options_.pull_patience; }

  [[nodiscard]] std::string_view broken_fetch(const entry& which, reference what) const;
  [[nodiscard]] std::string_view broken_waiters(const fetch_state& fetch, reference what) const;

  const ledger_options& options_;
  local_objects& objects_;
  timer_queue& timers_;
  const event_clock& clock_;
  action_list& actions_;
  entry_table& entries_;
  link_table& links_;
  imports& imports_;
  entry_changes& whole_;
  pull_server& peers_;
  pulling pulling_;
  fetch_callers callers_;
  room_numbers rooms_;
};

} // namespace troupe::internal::handles
