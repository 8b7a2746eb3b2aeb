// The handle protocol as pure logic: which handles this node has, from whom, and what it has given to whom.
// Start with framework/handle-protocol.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/ledger_options.hpp>
#include <troupe/framework/internal/handles/local_objects.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/offered_dials.hpp>
#include <troupe/framework/internal/handles/rows.hpp>
#include <troupe/framework/internal/handles/tables.hpp>
#include <troupe/framework/internal/handles/timers.hpp>
#include <troupe/framework/internal/handles/voucher_book.hpp>

namespace troupe::internal::handles {

/// How many rows are in use.
struct ledger_tables {
  std::size_t entries = 0;
  std::size_t rows = 0; // For entries, in use or not.
  std::size_t links_up = 0;
  std::size_t links_in_grace = 0;
  std::size_t exports = 0;
  std::size_t imports = 0;
  std::size_t requests = 0;
  std::size_t servings = 0;
  std::size_t parked = 0;
  std::size_t vouchers = 0;
  std::size_t dialed = 0;
  std::size_t rooms = 0;
  std::size_t fetches = 0;
  std::size_t waiters = 0; // Callers of fetch().
};

/// One node's half of the protocol: events in, actions out. Holds what is exported, releases what is not needed,
/// fetches what is remote, forwards, and survives the loss of links.
///
/// Threads: one at a time. After every event the caller does what take_actions() gives, in order; and then sends chunks
/// while a link has room. What a peer's message makes this node answer at once is not longer than that message: a
/// caller that stops to read from a peer who does not read bounds what is queued for it.
/// Time: each event asks the clock. What is due is done by tick(), to be called when `next_deadline()` has come; a late
/// tick makes everything later and nothing sooner.
///
/// Within an event nothing is freed: what may have become unwanted, lost or unanswerable is touched, and looked at when
/// the event ends. So nothing recurses, however deep objects capture each other.
/// Costs: an event costs its own size (of a message: what it carries; of a link's end: what went over the link) times
/// the logarithm of the tables. tables() and broken_invariant() look at everything.
class ledger {
public:
  ledger(ledger_options options, local_objects& objects);
  ledger(const ledger&) = delete;
  ledger& operator=(const ledger&) = delete;

  // -- references of the application

  /// A reference to a local object, which the ledger holds from now on.
  /// Requires: something keeps the object at this moment.
  [[nodiscard]] reference add(const object_id& place);
  /// A reference to an object of this node's own that captures these, of which some are not here: it is finished, by a
  /// `seal_room`, when somebody fetches it and they have come. The caller keeps the bytes until `forget_unfinished`.
  /// Lost as soon as one of those is.
  [[nodiscard]] reference add_unfinished(std::uint64_t size_bytes, std::span<const reference> captured);
  void retain(reference what);
  void drop(reference what);

  /// Where the bytes are, if they are in this host's store.
  [[nodiscard]] std::optional<object_id> place_of(reference what) const;
  [[nodiscard]] bool is_lost(reference what) const { return loss_of(what).has_value(); }
  /// Why it is lost, if it is.
  [[nodiscard]] std::optional<fetch_error> loss_of(reference what) const;
  /// Whether the bytes would come by way of a node that need not have them itself.
  [[nodiscard]] bool is_behind(reference what) const;

  /// Asks for the bytes to be brought here. There is exactly one `answer_waiter` for it, at the deadline at the latest.
  /// Requires: nobody called `who` waits already.
  void fetch(reference what, waiter_id who, time_point deadline);
  /// Whatever has become of the reference meanwhile. Nothing happens when `who` has been answered.
  void cancel_fetch(waiter_id who);

  // -- messages of the application

  /// Counts one sending of each: the handles of the message that is written next on that link, before anything that the
  /// ledger wants written there from now on. Nothing where that object is lost, or the link is not up. The store is not
  /// asked: what is here, and in a store that the peer shares, goes as what it would have to fetch.
  [[nodiscard]] std::vector<std::optional<handle_descriptor>> count_out(link_number to,
                                                                        std::span<const reference> what);

  /// The handles of a message that arrived, in order: one reference each. Fails with `violation` (the link has ended
  /// then) or `link_down`.
  [[nodiscard]] std::expected<std::vector<reference>, handle_errc> receive(link_number from,
                                                                           std::span<const handle_descriptor> handles);

  // -- links

  /// A link is to be brought up as soon as the peer may use it, even to be ended at once: its end abandons what the
  /// peer has handed over. False when a link of that number is still known: then it is not the caller's to use.
  [[nodiscard]] bool link_up(link_number link, node_name peer, bool shares_store);
  void link_down(link_number link);
  void on_message(link_number from, const message& what);

  /// Sends one head or chunk where a peer's pull wants one; to be called while the link has room. False when there is
  /// none.
  bool send_chunk(link_number link);
  /// What the last `send_bytes` for that request asks for cannot be had: nothing of it was written since. `why` is
  /// `object_lost`, `busy` or `full`.
  void cannot_serve(link_number link, request_number request, handle_errc why, bool is_disk_full = false);

  /// The room for the bytes that are to come over this link in answer to that pull; 0: none are.
  [[nodiscard]] room_id room_of(link_number link, request_number request) const;

  // -- answers to actions

  void room_made(room_id room);
  /// Instead: this host's store has such a replica already, sealed, of the very size; another node has made it. Its
  /// hold is the ledger's from now on. False when nobody wants it: the hold stays the caller's.
  [[nodiscard]] bool room_found(room_id room, const object_id& place);
  /// `why` is `full` or `busy`.
  void room_failed(room_id room, handle_errc why);
  /// The replica is sealed; its hold is the ledger's from now on. False when nobody wants it: the hold stays the
  /// caller's.
  [[nodiscard]] bool room_sealed(room_id room, const object_id& place);

  // -- time

  /// The end of this node: no link is up any more, and no lost one will come again.
  void end_graces();

  /// Does what is due.
  void tick();
  /// When tick() has something to do: exactly then, unless an event changes it.
  [[nodiscard]] std::optional<time_point> next_deadline() const;

  [[nodiscard]] std::vector<action> take_actions() { return std::exchange(actions_, {}); }
  [[nodiscard]] ledger_tables tables() const;
  /// What is kept and why: of `count` entries from number `first` on. What has moved stands for itself.
  [[nodiscard]] ledger_rows rows(std::uint32_t first, std::uint32_t count) const;
  /// The first invariant that does not hold; empty when all do. For tests.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  // ledger.cpp: entries and references
  [[nodiscard]] entry* find(reference what);
  [[nodiscard]] const entry* find(reference what) const;
  [[nodiscard]] entry& at(reference what);
  [[nodiscard]] reference resolve(reference what) const;
  [[nodiscard]] reference make_entry(entry_state state);
  [[nodiscard]] reference refer_to(const object_id& place);
  void enter(entry& which, entry_state next); // The only writer of entry::state.
  void touch(reference what);
  void touch(link_number link);
  void unrefer(reference what);
  void undepend(reference what);
  /// One event: does its work and then looks at all that this has touched. Not where the work throws, which leaves the
  /// ledger as no event may.
  template <class Work>
  auto in_event(Work work) {
    begin_event();
    if constexpr (std::is_void_v<std::invoke_result_t<Work&>>) {
      work();
      end_event();
    } else {
      auto result = work();
      end_event();
      return result;
    }
  }
  void begin_event(); // By in_event() only, as the end.
  void end_event();
  void settle(reference what);
  void settle(link_number link);
  void free(reference what);
  void shrink();
  void forget_import(reference what);
  void release_count(entry& which);
  void lose(reference what);
  void move_to(reference what, reference target);
  [[nodiscard]] link_record* up_link(link_number link);
  [[nodiscard]] const link_record* up_link(link_number link) const;
  [[nodiscard]] link_record* up_link_to(const node_name& peer);
  void send(link_number link, message what);
  template <class Action>
  void want(Action what) { // Built in place: g++ 12 warns of moved variants.
    actions_.emplace_back(std::in_place_type<Action>, std::move(what));
  }

  // sending.cpp: descriptors out and in
  using export_place = std::map<object_id, export_record>::iterator;
  enum class goes : std::uint8_t { in_message, in_answer };
  [[nodiscard]] std::expected<handle_descriptor, handle_errc> export_one(link_record& to, reference what, goes how);
  export_record& count_export(link_record& to, const object_id& name, reference what);
  enum class came : std::uint8_t { in_message, in_answer };
  [[nodiscard]] std::expected<std::vector<reference>, handle_errc>
  import_all(link_record& from, std::span<const handle_descriptor> handles, came how);
  [[nodiscard]] std::expected<reference, handle_errc> import_one(link_record& from, const handle_descriptor& handle,
                                                                 came how);
  void leave_mark(reference what, handle_descriptor& described);
  [[nodiscard]] bool come_round(reference what, std::uint64_t mark);
  [[nodiscard]] static bool is_at_home(const entry& which);
  [[nodiscard]] std::optional<reference> find_at_home(const link_record& from, const handle_descriptor& handle);
  [[nodiscard]] std::expected<reference, handle_errc> import_shared(link_record& from, const handle_descriptor& handle);
  [[nodiscard]] std::pair<reference, bool> count_import(link_record& from, const handle_descriptor& handle,
                                                        entry_state if_new);
  [[nodiscard]] object_id proxy_name(reference what) const;
  [[nodiscard]] bool is_proxy(const object_id& name) const { return name.store == options_.proxy_number; }
  void drop_export(link_record& from, export_place which);
  void claim(link_record& from);
  void on(link_record& from, const release& what);
  void on(link_record& from, const lost& what);

  // links.cpp: loss, grace, reclaim; questions and answers
  void end_link(link_number link);
  void end_grace(link_number link);
  void lose_source(reference what, bool was_told);
  void violated(link_number link, std::string_view text);
  open_request close(link_record& from, request_number request);
  void give_up_question(link_record& of, request_number request);
  void give_up_questions(link_record& of);
  [[nodiscard]] bool may_ask(link_record& from, request_number request);
  void reclaim_from(const node_name& peer);
  [[nodiscard]] link_record* holds_for_reclaim(const link_record& from, const reclaim& what);
  void give_back(link_record& to, link_record& from, const object_id& name, bool is_named);
  void on(link_record& from, const reclaim& what);
  void on(link_record& from, const reclaimed& what);
  void on(link_record& from, const refused& what);

  // adoption.cpp
  void set_offer(reference what, const std::optional<adoption_offer>& offer);
  void seek_adoption(reference what);
  [[nodiscard]] bool come_home(reference what);
  void queue_adoption(reference what, link_record& over);
  void ask_adoptions(link_record& over);
  void leave_adoption(reference what);
  void end_adoption(reference what, std::uint64_t refused_token);
  void dial_exporter(const entry& which);
  void redeem(link_record& to, request_number request, const voucher& which);
  void on(link_record& from, const vouch& what);
  void on(link_record& from, const adopt& what);
  void on(link_record& from, const adopted& what);

  // pulling.cpp: bringing bytes here
  void add_waiter(reference what, const waiter& who);
  [[nodiscard]] fetch_state* outer_of(const waiter& who);
  [[nodiscard]] std::shared_ptr<import_budget> budget_for(reference what, const waiter& who);
  [[nodiscard]] bool is_paid_by(const import_budget& budget, reference what, const waiter& who);
  void answer(const waiter& who, const fetch_error& error, reference what);
  void step_to(reference what, fetch_step next); // The only writer of fetch_state::step.
  void advance(reference what);
  [[nodiscard]] pull_turns& turns_of(const entry& which);
  void begin_pulls(link_record& source, pull_turns& of);
  void ask_for_bytes(reference what);
  void leave_queue(entry& which);
  void leave_slot(entry& which);
  void restart(reference what);
  [[nodiscard]] std::set<waiter> stop(reference what);
  void fail(reference what, const fetch_error& error);
  void answer_failed(reference what);
  void finish_fetch(reference what);
  [[nodiscard]] bool has_replica(room_id room, const object_id& place, fetch_step after);
  void has_all_bytes(reference what);
  void seal_if_complete(reference what);
  void begin_again_later(reference what, const fetch_error& why);
  [[nodiscard]] time_point last_deadline(const fetch_state& fetch) const;
  void on(link_record& from, const pull_head& what);
  void on(link_record& from, const pull_chunk& what);
  void on(link_record& from, const pull_here& what);

  void await_captured(reference what, std::vector<reference> captured);

  // unfinished.cpp: objects of this node's own that wait for what they capture
  void begin_finishing(reference what);
  [[nodiscard]] const fetch_error* lost_part(const entry& which) const;
  void forget_parts(reference what);

  // serving.cpp: giving bytes to peers
  void start_serving(link_record& to, request_number request, reference from);
  void end_serving(link_record& to, request_number request);
  void send_head(link_record& to, request_number request, serving& what);
  void send_bytes_of(link_record& to, request_number request, serving& what);
  void on(link_record& from, const pull& what);
  void on(link_record& from, const cancel& what);

  // timing.cpp
  [[nodiscard]] time_point end_of_pause() const { return now_ + options_.busy_pause; }
  void resume(link_record& which);
  void expire(const timer& due, std::vector<reference>& patient);
  void give_up_waiting(waiter_id who, const fetch_error& why, reference what);
  [[nodiscard]] time_point captured_deadline(const fetch_state& outer) const;
  void judge(const std::vector<reference>& patient);

  // invariants.cpp
  [[nodiscard]] std::string_view broken_entry(const entry& which, reference what) const;
  [[nodiscard]] std::string_view broken_source(const entry& which, reference what) const;
  [[nodiscard]] std::string_view broken_fetch(const entry& which, reference what) const;
  [[nodiscard]] std::string_view broken_waiters(const fetch_state& fetch, reference what) const;
  [[nodiscard]] std::string_view broken_link(const link_record& which) const;
  [[nodiscard]] std::string_view broken_exports(const link_record& which) const;
  [[nodiscard]] std::string_view broken_questions(const link_record& which) const;
  [[nodiscard]] std::string_view broken_servings(const link_record& which) const;
  [[nodiscard]] std::string_view broken_indices() const;

  ledger_options options_;
  local_objects& objects_;
  timer_queue timers_; // Outlives all that is due.
  time_point now_{};   // Of this event.
  bool is_in_event_ = false;
  std::deque<entry> entries_;            // A deque, since entries are made while others are being looked at.
  std::set<std::uint32_t> free_entries_; // The first is used next, so that what lasts gathers at the beginning.
  std::uint32_t first_generation_ = 1;   // Greater than that of any row that is gone.
  std::map<link_number, link_record> links_;
  offered_dials dials_;
  voucher_book vouchers_;
  std::map<waiter_id, outside_wait> waits_;
  std::map<room_id, reference> rooms_;
  // To be looked at at the end of the event.
  std::vector<reference> touched_;
  std::set<link_number> touched_links_;
  // Where to find rows without looking at all of them.
  std::map<object_id, reference> places_; // Local objects by place; replicas are not looked for.
  std::map<node_name, std::set<link_number>> links_to_;
  std::set<std::tuple<reference, link_number, object_id>> exports_of_;
  std::set<std::pair<reference, reference>> moved_to_; // First where to.
  std::set<std::pair<reference, reference>> part_of_;  // First the part.
  std::set<std::pair<adoption_offer, reference>> offers_;
  std::map<std::uint64_t, reference> marks_; // Left by this node.
  std::uint64_t last_turn_ = 0;
  room_id last_room_ = 0;
  std::vector<action> actions_;
};

} // namespace troupe::internal::handles
