// The handle protocol as pure logic: which handles this node has, from whom, and what it has given to whom.
// Start with framework/handle-protocol.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/adopting.hpp>
#include <troupe/framework/internal/handles/books.hpp>
#include <troupe/framework/internal/handles/exports.hpp>
#include <troupe/framework/internal/handles/imports.hpp>
#include <troupe/framework/internal/handles/ledger_options.hpp>
#include <troupe/framework/internal/handles/local_objects.hpp>
#include <troupe/framework/internal/handles/mark_book.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/receiving.hpp>
#include <troupe/framework/internal/handles/reclaiming.hpp>
#include <troupe/framework/internal/handles/rows.hpp>
#include <troupe/framework/internal/handles/sending.hpp>
#include <troupe/framework/internal/handles/serving.hpp>
#include <troupe/framework/internal/handles/shared_fetches.hpp>
#include <troupe/framework/internal/handles/unfinished_parts.hpp>
#include <troupe/framework/internal/handles/vouching.hpp>

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
/// Threads: one at a time. After every event the caller does what take_actions() gives, in order; and then takes
/// chunks while a link can take more. The immediate answer to a peer's message is not longer than the message: a caller
/// bounds the queue for a peer that reads nothing if it reads no more from that peer.
///
/// Time: each event asks the clock. What is due is done by tick(), to be called when `next_deadline()` has come; a late
/// tick makes everything later and nothing sooner.
///
/// Within an event nothing is freed: what may have become unwanted, lost or unanswerable is touched, and looked at when
/// the event ends. So nothing recurses, however deep objects capture each other.
/// Costs: an event costs its own size (of a message: what it carries; of a link's end: what went over the link) times
/// the logarithm of the tables. tables() and broken_invariant() look at everything.
class ledger final : entry_changes {
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
  /// Whether its bytes are still to be kept.
  [[nodiscard]] bool is_unfinished(reference what) const { return unfinished_.contains(what); }
  /// Of all such objects.
  [[nodiscard]] std::uint64_t unfinished_bytes() const noexcept { return unfinished_.size_bytes(); }
  void retain(reference what);
  void drop(reference what);

  /// Where the bytes are, if they are in this host's store.
  [[nodiscard]] std::optional<object_id> place_of(reference what) const;
  [[nodiscard]] bool is_lost(reference what) const { return loss_of(what).has_value(); }
  /// Why it is lost, if it is.
  [[nodiscard]] std::optional<fetch_error> loss_of(reference what) const;
  /// Whether the bytes would come by way of a node that need not have them itself.
  [[nodiscard]] bool is_behind(reference what) const;
  /// Whether the room has all its bytes, and only what they capture is missing.
  [[nodiscard]] bool waits_for_captured(room_id room) const { return fetches_.waits_for_captured(room); }

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

  /// A link is to be brought up as soon as the peer may use it, even to be ended at once. Whoever ends it abandons what
  /// the peer has handed over. False when a link of that number is still known: then it is not the caller's to use.
  [[nodiscard]] bool link_up(link_number link, node_name peer, bool shares_store);
  void link_down(link_number link);
  void on_message(link_number from, const message& what);

  /// Takes the chunk that the peer's pulls want next; to be called while the link can take more. What the ledger wants
  /// written until then goes ahead of it, its head with that; what it wants later may overtake it. Nothing where no
  /// pull is ready; of an empty object an empty chunk, which need not be written.
  [[nodiscard]] std::optional<served_chunk> next_chunk(link_number link);
  /// The last chunk of that request cannot be had: nothing of it was written since. `why` is `object_lost`, `busy` or
  /// `full`.
  void cannot_serve(link_number link, request_number request, handle_errc why, bool is_disk_full = false);

  /// Bytes have come over that link: the room in which they belong, for room_filled(). 0 where they are not wanted (any
  /// more).
  [[nodiscard]] room_id room_for(link_number from, const pull_chunk& what);

  // -- answers to actions

  void room_made(room_id room);
  /// Instead: this host's store has such a replica already, sealed, of the very size; another node has made it. Its
  /// hold is the ledger's from now on. False when nobody wants it: the hold stays the caller's.
  [[nodiscard]] bool room_found(room_id room, const object_id& place);
  /// `why` is `full` or `busy`.
  void room_failed(room_id room, handle_errc why);
  /// The bytes for which room_for() has given it are in the room. Whether it has all its bytes now. Nothing happens
  /// where it is not wanted any more.
  bool room_filled(room_id room, std::uint64_t more_bytes);
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

  [[nodiscard]] std::vector<action> take_actions() { return books_.actions.take(); }
  [[nodiscard]] ledger_tables tables() const;
  /// What is kept and why: of `count` entries from number `first` on. What has moved stands for itself.
  [[nodiscard]] ledger_rows rows(std::uint32_t first, std::uint32_t count) const;
  /// The first invariant that does not hold; empty when all do. For tests.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  /// One event: does its work and then looks at all that this has touched. Not where the work throws, which leaves the
  /// ledger as no event may.
  template <class Work>
  auto in_event(Work work) {
    books_.clock.begin_event();
    if constexpr (std::is_void_v<std::invoke_result_t<Work&>>) {
      work();
      end_event();
    } else {
      auto result = work();
      end_event();
      return result;
    }
  }
  void end_event(); // By in_event() only.
  void conclude(reference what);
  void go_on(link_number link);
  void free(reference what);
  void lose(reference what);
  void lose_source(reference what, bool was_told);
  void move_to(reference what, reference target) override;
  void has_come(reference what) override;
  void end_link(link_number link);
  void end_grace(link_number link);
  void resume(link_record& link);
  void give_up_question(link_record& of, request_number request);
  void expire(const timer& due, std::vector<reference>& patient);

  // What peers say.
  void judge(link_number from, violation why);
  [[nodiscard]] bool admit(link_record& from, request_number request);
  void on(link_record& from, const release& what);
  void on(link_record& from, const vouch& what);
  void on(link_record& from, const adopt& what);
  void on(link_record& from, const reclaim& what);
  void on(link_record& from, const pull& what);
  void on(link_record& from, const cancel& what);
  void on(link_record& from, const adopted& what);
  void on(link_record& from, const reclaimed& what);
  void on(link_record& from, const pull_head& what);
  void on(link_record& from, const pull_here& what);
  void on(link_record& from, const refused& what);
  void on(link_record& from, const lost& what);

  // Short for the books.
  [[nodiscard]] entry& at(reference what) { return books_.entries.at(what); }
  [[nodiscard]] reference resolve(reference what) const { return books_.entries.resolve(what); }
  void unrefer(reference what) { books_.entries.unrefer(what); }
  [[nodiscard]] link_record* up_link(link_number link) { return books_.links.up(link); }
  void send(link_number link, message what) { books_.actions.send(link, std::move(what)); }
  template <class Action>
  void want(Action what) {
    books_.actions.want(std::move(what));
  }

  // invariants.cpp
  [[nodiscard]] std::string_view broken_entry(const entry& which, reference what) const;

  books books_;
  const ledger_options& options_ = books_.options;
  mark_book marks_;
  imports imports_;
  unfinished_parts unfinished_;
  shared_fetches fetches_;
  serving serving_;
  vouching vouching_;
  adopting adopting_;
  exports exports_;
  sending sending_;
  receiving receiving_;
  reclaiming reclaiming_;
};

} // namespace troupe::internal::handles
