// The handle protocol as pure logic: the handles that this node has, where they came from, and the handles that each
// peer was sent. Start with framework/handle-protocol.md.
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

/// The number of rows in use.
struct ledger_tables {
  std::size_t entries = 0;
  std::size_t rows = 0; // Rows for entries, in use or free.
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

/// One node's half of the protocol: events in, actions out. Holds exported objects, releases handles that are no longer
/// needed, fetches remote objects, forwards, and survives the loss of links.
///
/// Threads: one at a time. After every event the caller carries out the actions of take_actions(), in order. It then
/// takes chunks while a link can take more. The immediate answer to a peer's message is not longer than the message. So
/// a caller bounds the queue for a peer that reads nothing by no longer reading from that peer.
///
/// Time: each event asks the clock. tick() does the work that is due, and must be called when `next_deadline()` has
/// come. A late tick delays work. No tick does work too early.
///
/// No entry is freed within an event. Entries that may have become unwanted, lost or unanswerable are touched, and
/// examined when the event ends. So nothing recurses, however deep objects capture each other.
/// Costs: an event costs its own size times the logarithm of the tables' size. The size of a message is that of its
/// contents; the size of a link's end is everything that was counted on the link. tables() and broken_invariant() look
/// at everything.
class ledger final : entry_changes {
public:
  ledger(ledger_options options, local_objects& objects);
  ledger(const ledger&) = delete;
  ledger& operator=(const ledger&) = delete;

  // -- references of the application

  /// Adds a reference to a local object, which the ledger holds from now on. Requires: something keeps the object alive
  /// at this moment.
  [[nodiscard]] reference add(const object_id& place);
  /// Adds a reference to this node's own object, which captures `captured`; some of these objects are not here yet. The
  /// object is lost as soon as one of them is. If it is fetched and all of them have come, a `seal_room` finishes it.
  /// The caller keeps its bytes until `forget_unfinished`.
  [[nodiscard]] reference add_unfinished(std::uint64_t size_bytes, std::span<const reference> captured);
  /// Whether the object's bytes still have to be kept.
  [[nodiscard]] bool is_unfinished(reference what) const { return unfinished_.contains(what); }
  /// The total size of all unfinished objects.
  [[nodiscard]] std::uint64_t unfinished_bytes() const noexcept { return unfinished_.size_bytes(); }
  void retain(reference what);
  void drop(reference what);

  /// Where the bytes are, if they are in this host's store.
  [[nodiscard]] std::optional<object_id> place_of(reference what) const;
  [[nodiscard]] bool is_lost(reference what) const { return loss_of(what).has_value(); }
  /// Why the object is lost; nullopt if it is not.
  [[nodiscard]] std::optional<fetch_error> loss_of(reference what) const;
  /// Whether the bytes would come through a node that may not have them itself.
  [[nodiscard]] bool is_behind(reference what) const;
  /// Whether the room has all its bytes and waits only for the objects that they capture.
  [[nodiscard]] bool waits_for_captured(room_id room) const { return fetches_.waits_for_captured(room); }

  /// Asks for the bytes to be brought here. Exactly one `answer_waiter` answers it, at the deadline at the latest.
  /// Requires: no other fetch under the name `who` is waiting.
  void fetch(reference what, waiter_id who, time_point deadline);
  /// Answers the caller now, even if the reference has been dropped meanwhile. Does nothing if `who` has been answered.
  void cancel_fetch(waiter_id who);

  // -- messages of the application

  /// Counts one sending of each handle. The message with these handles must be the next one written on that link,
  /// before any action that the ledger wants from now on. Nullopt for an object that is lost, and for all if the link
  /// is not up. Does not ask the store: objects in a store that the peer shares are sent as handles that the peer has
  /// to fetch.
  [[nodiscard]] std::vector<std::optional<handle_descriptor>> count_out(link_number to,
                                                                        std::span<const reference> what);

  /// Takes in the handles of a message that has arrived, in order, with one reference each. Fails with `link_down`, or
  /// with `violation`, which has ended the link.
  [[nodiscard]] std::expected<std::vector<reference>, handle_errc> receive(link_number from,
                                                                           std::span<const handle_descriptor> handles);

  // -- links

  /// Adds a link. Call it as soon as the peer may use the link, even if the link then ends at once. The code that ends
  /// the link abandons the objects that the peer has handed over. Returns false if a link of that number is still
  /// known. Then the caller must not use the number.
  [[nodiscard]] bool link_up(link_number link, node_name peer, bool shares_store);
  /// Whether one end of a link that is up has handles to objects of the other, or has asked for something.
  [[nodiscard]] bool is_used(link_number link) const;
  void link_down(link_number link);
  void on_message(link_number from, const message& what);

  /// Takes the chunk that the peer's pulls want next. Call it while the link can take more. Messages that the ledger
  /// has wanted so far, including the chunk's head, must be written before the chunk; later ones may overtake it.
  /// Returns nullopt if no pull is ready. For an empty object the chunk is empty and need not be written.
  [[nodiscard]] std::optional<served_chunk> next_chunk(link_number link);
  /// The last chunk that was taken for that request cannot be served. No part of it has been written since. `why` is
  /// `object_lost`, `busy` or `full`.
  void cannot_serve(link_number link, request_number request, handle_errc why, bool is_disk_full = false);

  /// The room for bytes that have come over that link. room_filled() confirms them. 0 if the bytes are not wanted, or
  /// not any more.
  [[nodiscard]] room_id room_for(link_number from, const pull_chunk& what);

  // -- answers to actions

  void room_made(room_id room);
  /// Instead of room_made(): this host's store already has a sealed replica of exactly that size, which another node
  /// has made. Its hold becomes the ledger's. Returns false if the room is no longer wanted; then the caller keeps the
  /// hold.
  [[nodiscard]] bool room_found(room_id room, const object_id& place);
  /// `why` is `full` or `busy`.
  void room_failed(room_id room, handle_errc why);
  /// The bytes for which room_for() returned the room are in it. Returns whether the room has all its bytes now. Does
  /// nothing if the room is no longer wanted.
  bool room_filled(room_id room, std::uint64_t more_bytes);
  /// The replica is sealed. Its hold becomes the ledger's. Returns false if the room is no longer wanted; then the
  /// caller keeps the hold.
  [[nodiscard]] bool room_sealed(room_id room, const object_id& place);

  // -- time

  /// Ends this node: no link is up any more, and no lost link will come back.
  void end_graces();

  /// Does everything that is due.
  void tick();
  /// The exact time when tick() next has work, unless an event changes it.
  [[nodiscard]] std::optional<time_point> next_deadline() const;

  [[nodiscard]] std::vector<action> take_actions() { return books_.actions.take(); }
  [[nodiscard]] ledger_tables tables() const;
  /// The holders of `count` entries, starting with number `first`. A moved entry is listed separately from its target.
  [[nodiscard]] ledger_rows rows(std::uint32_t first, std::uint32_t count) const;
  /// The first invariant that does not hold; empty if all hold. For tests.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  /// Runs one event: does the work, then examines everything that it has touched. If the work throws, the end is
  /// skipped and the ledger must not be used any more.
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
  void end_event(); // Called by in_event() only.
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

  // Messages of peers.
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

  // Shorthands for the books.
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
