// The handle protocol as pure logic: which handles this node has, from whom, and what it has given to whom.
// Start with framework/handle-protocol.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/local_objects.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/tables.hpp>

namespace troupe::internal::handles {

struct ledger_options {
  node_name self;
  /// `object_id::store` of the names that this node gives to what it has behind others. Random, never a store's number.
  std::uint64_t proxy_number = 0;
  /// Gives numbers that nobody can guess.
  std::function<std::uint64_t()> fresh_token;
  /// How long a lost link's exports stay. Longer saves handles through longer interruptions and keeps dead peers'
  /// objects.
  std::chrono::nanoseconds grace = std::chrono::seconds(30);
  /// How long an `adopt` waits for its `vouch`.
  std::chrono::nanoseconds vouch_patience = std::chrono::seconds(10);
  /// How long an `adopt` waits for its answer. Must exceed what a peer waits for the `vouch`.
  std::chrono::nanoseconds adopt_patience = std::chrono::seconds(30);
  /// How long a pull may make no progress. Must exceed what a peer needs to fetch the object itself.
  std::chrono::nanoseconds pull_patience = std::chrono::seconds(60);
  std::uint64_t chunk_bytes_max = 256 * 1024;
  // What a peer can make this node keep.
  std::size_t vouchers_max = 1024;         // Per export.
  std::size_t parked_max = 256;            // Per link.
  std::size_t servings_max = 1024;         // Per link.
  std::size_t captured_max = 1024;         // Per object, as in the store.
  std::uint64_t fetch_imports_max = 65536; // Per fetch: what all its objects capture, together.
  std::size_t dials_max = 16;              // Per link whose peer offers adoptions, within `adopt_patience`.
  std::size_t adoptions_max = 256;         // Per link: asked there and not yet answered.
};

/// Handles that are described and not yet sent. Must end in commit() or roll_back().
class draft {
public:
  /// `number` is the caller's own, for `write_draft`.
  draft(link_number link, std::uint64_t number) : link_(link), number_(number) {}

  [[nodiscard]] link_number link() const noexcept { return link_; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

private:
  friend class ledger;
  struct item {
    reference what; // One dependent.
    handle_descriptor described;
    link_number vouch_on = 0; // Where the offer is to be vouched for; 0: there is none.
    object_id vouch_name;
  };

  link_number link_;
  std::uint64_t number_;
  std::vector<item> items_;
};

/// How many rows are in use.
struct ledger_tables {
  std::size_t entries = 0;
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
};

/// One node's half of the protocol: events in, actions out. Holds what is exported, releases what is not needed,
/// fetches what is remote, forwards, and survives the loss of links.
///
/// Threads: one at a time. Time: only what tick() says. After every event the caller does what take_actions() gives, in
/// order.
///
/// Within an event nothing is freed: what may have become unwanted, lost or unanswerable is touched, and looked at when
/// the event ends. So nothing recurses, however deep objects capture each other.
/// TODO(perf): tick(), link_up() and vouchers for this node look at all entries, and a loss at all exports; lists of
/// those with a fetch or an offer, and of who is behind an entry, would do.
class ledger {
public:
  ledger(ledger_options options, local_objects& objects);
  ledger(const ledger&) = delete;
  ledger& operator=(const ledger&) = delete;

  // -- references of the application

  /// A reference to a local object, which the ledger holds from now on.
  /// Requires: something keeps the object at this moment.
  [[nodiscard]] reference add(const object_id& place);
  void retain(reference what);
  void drop(reference what);

  /// Where the bytes are, if they are in this host's store.
  [[nodiscard]] std::optional<object_id> place_of(reference what) const;
  [[nodiscard]] bool is_lost(reference what) const;
  /// Whether the bytes would come by way of a node that need not have them itself.
  [[nodiscard]] bool is_behind(reference what) const;

  /// Asks for the bytes to be brought here. There is exactly one `answer_waiter` for it, at the deadline at the latest.
  void fetch(reference what, waiter_id who, time_point deadline);
  void cancel_fetch(reference what, waiter_id who);

  // -- messages of the application

  /// Describes one more handle for the message. Fails with `object_lost`, `link_down` or `busy`; the draft is as
  /// before.
  [[nodiscard]] std::expected<handle_descriptor, handle_errc> describe(draft& into, reference what);

  /// Counts what the draft describes; the action `write_draft` says when to write the message: after what vouches for
  /// it, before what releases it. Fails with `link_down` or `stale`, and is rolled back then.
  [[nodiscard]] std::expected<void, handle_errc> commit(draft& what);
  void roll_back(draft& what);

  /// The handles of a message that arrived, in order: one reference each. Fails with `violation` (the link has ended
  /// then) or `link_down`.
  [[nodiscard]] std::expected<std::vector<reference>, handle_errc> receive(link_number from,
                                                                           std::span<const handle_descriptor> handles);

  // -- links

  /// Requires: `link` was never used before, by either end.
  void link_up(link_number link, node_name peer, bool shares_store);
  void link_down(link_number link);
  void on_message(link_number from, const message& what);

  /// Sends one chunk where a peer's pull wants one; to be called while the link has room. False when there is none.
  bool send_chunk(link_number link);

  // -- answers to actions

  void room_made(room_id room);
  /// `why` is `full` or `busy`.
  void room_failed(room_id room, handle_errc why);
  /// The replica is sealed; its hold is the ledger's from now on. False when nobody wants it: the hold stays the
  /// caller's.
  [[nodiscard]] bool room_sealed(room_id room, const object_id& place);

  // -- time

  void tick(time_point now);

  [[nodiscard]] std::vector<action> take_actions() { return std::exchange(actions_, {}); }
  [[nodiscard]] ledger_tables tables() const;
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
  void unrefer(reference what);
  void undepend(reference what);
  void settle(); // The end of every event.
  void settle(reference what);
  void free(reference what);
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
  [[nodiscard]] std::expected<draft::item, handle_errc> describe_one(link_record& to, reference what);
  void count(link_record& to, const draft::item& what);
  void undo(draft& what);
  [[nodiscard]] std::expected<void, handle_errc> count_all(draft& what);
  [[nodiscard]] std::expected<handle_descriptor, handle_errc> export_now(link_record& to, reference what);
  [[nodiscard]] std::expected<std::vector<reference>, handle_errc>
  import_all(link_record& from, std::span<const handle_descriptor> handles);
  [[nodiscard]] std::expected<reference, handle_errc> import_one(link_record& from, const handle_descriptor& handle);
  [[nodiscard]] std::expected<reference, handle_errc> import_shared(link_record& from, const handle_descriptor& handle);
  [[nodiscard]] object_id proxy_name(reference what) const;
  void drop_export(link_record& from, std::map<object_id, export_record>::iterator which);
  void on(link_record& from, const release& what);
  void on(link_record& from, const lost& what);

  // links.cpp: loss, grace, reclaim; questions and answers
  void end_link(link_number link);
  void end_grace(link_number link);
  void lose_source(reference what);
  void violated(link_number link, std::string_view text);
  request_number ask(link_record& over, const open_request& what);
  enum class question : std::uint8_t { open, given_up, never_asked };
  [[nodiscard]] question answers(const link_record& from, request_number request, open_request::kind what) const;
  open_request close(link_record& from, request_number request);
  void give_up_questions(link_record& of);
  [[nodiscard]] bool may_ask(link_record& from, request_number request);
  void reclaim_from(const node_name& peer);
  void on(link_record& from, const reclaim& what);
  void on(link_record& from, const reclaimed& what);
  void on(link_record& from, const refused& what);

  // adoption.cpp
  void seek_adoption(reference what);
  [[nodiscard]] bool come_home(reference what);
  void ask_adoption(reference what, link_record& over);
  void end_adoption(reference what, std::uint64_t refused_token);
  void dial(const entry& which);
  void add_voucher(export_record& to, const voucher& which);
  void redeem(link_record& to, request_number request, export_record& from, const voucher& which);
  void on(link_record& from, const vouch& what);
  void on(link_record& from, const adopt& what);
  void on(link_record& from, const adopted& what);

  // pulling.cpp: bringing bytes here
  void add_waiter(reference what, const waiter& who);
  [[nodiscard]] std::shared_ptr<import_budget> budget_for(reference what, const waiter& who);
  [[nodiscard]] bool is_paid_by(const import_budget& budget, reference what, const waiter& who);
  void answer(const waiter& who, const fetch_error& error, reference what);
  void step_to(fetch_state& which, fetch_step next); // The only writer of fetch_state::step.
  void advance(reference what);
  void ask_for_bytes(reference what);
  void restart(reference what);
  [[nodiscard]] std::set<waiter> stop(reference what);
  void fail(reference what, const fetch_error& error);
  void answer_failed(reference what);
  void finish_fetch(reference what);
  void seal_if_complete(reference what);
  void expire_fetches();
  void on(link_record& from, const pull_head& what);
  void on(link_record& from, const pull_chunk& what);
  void on(link_record& from, const pull_here& what);

  // serving.cpp: giving bytes to peers
  void start_serving(link_record& to, request_number request, serving& what, reference from);
  void end_serving(link_record& to, request_number request);
  void on(link_record& from, const pull& what);
  void on(link_record& from, const cancel& what);

  // invariants.cpp
  [[nodiscard]] std::string_view broken_entry(const entry& which, reference what) const;
  [[nodiscard]] std::string_view broken_fetch(const entry& which, reference what) const;
  [[nodiscard]] std::string_view broken_link(const link_record& which) const;

  ledger_options options_;
  local_objects& objects_;
  time_point now_{};
  std::deque<entry> entries_; // A deque, since entries are made while others are being looked at.
  std::vector<reference> touched_;
  std::vector<std::uint32_t> free_entries_;
  std::map<object_id, reference> places_; // Local objects by place; replicas are not looked for.
  std::map<link_number, link_record> links_;
  std::map<room_id, reference> rooms_;
  room_id last_room_ = 0;
  std::vector<action> actions_;
};

} // namespace troupe::internal::handles
