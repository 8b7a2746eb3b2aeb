// Fetches bytes to this node. serving.hpp serves them to peers.
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

/// Tells peers how the fetches that they wait for have ended.
class pull_server {
public:
  virtual ~pull_server() = default;

  virtual void serve(const peer_waiter& who, reference what) = 0;
  virtual void refuse(const peer_waiter& who, const fetch_error& why) = 0;
};

/// Why a peer's link must end; empty if it need not.
using violation = std::string_view;

/// Brings the bytes of objects here, with all objects that they capture. One fetch serves all waiters of an object.
class shared_fetches {
public:
  shared_fetches(books& of, imports& counted, entry_changes& whole, pull_server& peers);
  shared_fetches(const shared_fetches&) = delete;
  shared_fetches& operator=(const shared_fetches&) = delete;

  // -- waiters

  /// Requires: no other caller waits under the name `who`. All members below require that `what` is resolved.
  void begin(waiter_id who, reference what, time_point until);
  /// Does nothing if `who` has been answered.
  void cancel(waiter_id who);
  void add_waiter(reference what, const waiter& who);
  /// The waiter has its answer, or no longer wants it.
  void remove_waiter(reference what, const waiter& who);

  // -- the course of a fetch

  /// Queues the fetch for its turn, if its source is up. Must be called when the source comes up.
  void advance(reference what);
  /// Begins as many pulls as the source allows at a time. The others stay queued.
  void begin_pulls(link_record& source);
  /// Ends the attempt but keeps its waiters and its turn. A room that is being sealed needs no source, and continues.
  void restart(reference what);
  /// Ends the fetch and returns its waiters, which have not been answered.
  [[nodiscard]] std::set<waiter> stop(reference what);
  /// Has all waiters told when the event ends.
  void fail(reference what, const fetch_error& error);
  /// The bytes are at `place`: answers all waiters. Invariant 1 of `entry` holds from here on.
  void finish(reference what, const object_id& place);

  // -- at the end of an event

  void stop_unless_awaited(reference what);
  [[nodiscard]] bool is_sealing(reference what) const;
  void answer_failed(reference what);
  /// Fetches the objects that this node's own unfinished object captures.
  void finish_parts(reference what);

  // -- rooms

  void room_made(room_id room);
  void room_failed(room_id room, handle_errc why);
  /// Returns false if the room is no longer wanted. `after` is making_room if another node has made the replica,
  /// otherwise sealing.
  [[nodiscard]] bool has_replica(room_id room, const object_id& place, fetch_step after);
  /// The room for bytes that come over that link; 0 if they are not wanted any more.
  [[nodiscard]] std::expected<room_id, violation> room_for(const link_record& from, const pull_chunk& what) const;
  /// The bytes are in the room. Returns whether the room has all its bytes now. Does nothing if the room is no longer
  /// wanted.
  bool room_filled(room_id room, std::uint64_t more_bytes);
  /// Whether the room has all its bytes, and is not yet being sealed.
  [[nodiscard]] bool waits_for_captured(room_id room) const;

  // -- answers of the source

  /// The fetch takes over one reference to each captured object of the head.
  [[nodiscard]] violation on_head(link_record& from, const pull_head& what, const std::vector<reference>& captured);
  /// The fetch takes over the reference `handed_over`.
  [[nodiscard]] violation on_here(link_record& from, request_number request, reference handed_over);
  void on_refused(const link_record& from, reference what, const refused& why);

  // -- time

  void expire_waiter(waiter_id who);
  /// Fails the fetch. But if the fetch waits only for captured objects, adds it to `patient`, for judge().
  void expire_patience(reference what, std::vector<reference>& patient);
  /// Decides about fetches whose deadline has passed and that wait only for captured objects. Such a fetch continues as
  /// long as any fetch below it makes progress. If none does, a lying peer has made them wait for each other, and they
  /// fail.
  void judge(const std::vector<reference>& patient);

  // -- statistics

  [[nodiscard]] std::size_t waiters() const noexcept { return callers_.size(); } // Callers of begin().
  [[nodiscard]] std::size_t rooms() const noexcept { return rooms_.size(); }
  /// The first invariant that does not hold; empty if all hold.
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
