// One node's counted handles, as pure logic: which remote objects it wants, what to write on which link, and which
// callers wait. object_exchange.hpp has the threads, timers and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/ledger.hpp>
#include <troupe/framework/internal/objects/ended_links.hpp>
#include <troupe/framework/internal/objects/exchange_surroundings.hpp>
#include <troupe/framework/internal/objects/fetch_words.hpp>
#include <troupe/framework/internal/objects/known_nodes.hpp>
#include <troupe/framework/internal/objects/room_book.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// What the core learns of a link when the link comes up.
struct link_facts {
  handles::node_name peer;
  std::span<const std::byte> token; // Proves that a returning peer is the same node.
  bool shares_store = false;
  std::string peer_name;                       // For errors.
  std::uint64_t object_bytes_max = UINT64_MAX; // The largest object that is fetched over it.
};

/// Turns events about one node's handles into the next steps.
///
/// Threads: one at a time. It calls only the store and the surroundings that it was given. These return at once and do
/// not call back. When an event returns, all its consequences have been passed on to them.
class exchange_core {
public:
  struct options {
    handles::ledger_options ledger;
    std::uint64_t capacity_bytes = UINT64_MAX; // Of the store.
  };

  exchange_core(const options& with, handles::local_objects& store, const exchange_surroundings& around);
  exchange_core(const exchange_core&) = delete;
  exchange_core& operator=(const exchange_core&) = delete;

  /// Gives access to data that is guarded like the core itself.
  [[nodiscard]] core_turn turn() const noexcept { return {}; }

  /// Ends this node: no link is up any more, no caller waits, no room is wanted. Objects that are here stay.
  void end();
  [[nodiscard]] bool is_ended() const noexcept { return is_ended_; }

  // -- references of the application

  /// A reference to an object of this node's store. Requires: something keeps the object alive at this moment.
  [[nodiscard]] handles::reference add(const store::object_id& place) { return ledger_.add(place); }
  /// Returns a reference to this node's own object, which waits for the objects that it captures. The caller keeps its
  /// bytes until they are forgotten. Fails with `store_full` if its bytes, or those of all such objects together, are
  /// too many, and with `link_down` after the end.
  [[nodiscard]] std::expected<handles::reference, node_error>
  add_unfinished(std::uint64_t size_bytes, std::span<const handles::reference> captured);
  /// Whether the object's bytes still have to be kept.
  [[nodiscard]] bool is_unfinished(handles::reference what) const { return ledger_.is_unfinished(what); }
  void retain(handles::reference what) { ledger_.retain(what); }
  void drop(handles::reference what);

  /// Where the bytes are, if they are in this host's store.
  [[nodiscard]] std::optional<store::object_id> place_of(handles::reference what) const {
    return ledger_.place_of(what);
  }
  /// Why the bytes will never come; nullopt if no loss is known.
  [[nodiscard]] std::optional<node_error> why_lost(handles::reference what, std::uint64_t size_bytes) const;

  /// Asks for the bytes to be brought here. `who` gets exactly one answer, at `until` at the latest. Requires: the node
  /// has not ended; no other fetch under the name `who` is waiting.
  void fetch(handles::reference what, handles::waiter_id who, handles::time_point until);
  /// Makes the answer come now. Does nothing if it has already come.
  void cancel(handles::waiter_id who);

  // -- links

  /// Returns false if that number must not be used or the node has ended. Then the link has to end.
  [[nodiscard]] bool link_up(handles::link_number link, link_facts facts);
  [[nodiscard]] bool is_up(handles::link_number link) const { return lanes_.contains(link); }
  /// Returns false if there was no such link.
  bool link_down(handles::link_number link, std::string why);

  /// Fails with the error with which the link must end.
  [[nodiscard]] std::expected<void, node_error> on_message(handles::link_number from, const handles::message& what);
  /// The room for bytes that have come over that link. room_filled() confirms them. 0 if the bytes are no longer
  /// wanted. Fails as on_message() does.
  [[nodiscard]] std::expected<handles::room_id, node_error> room_for(handles::link_number from,
                                                                     const handles::pull_chunk& what);
  /// Takes in the handles of a message that has arrived, in order: one reference each. Fails with `protocol_violation`
  /// or `link_down`.
  [[nodiscard]] std::expected<std::vector<handles::reference>, node_error>
  receive(handles::link_number from, std::span<const handles::handle_descriptor> handles);
  /// Counts one sending of each object, in order. Nullopt for an object that is lost, and for every object if the link
  /// is not up. The message must be written after everything that take_messages() has returned so far, and before
  /// anything that it returns later.
  [[nodiscard]] std::vector<std::optional<handles::handle_descriptor>>
  count_out(handles::link_number to, std::span<const handles::reference> objects);

  /// Messages to be written on that link, in order.
  [[nodiscard]] std::vector<handles::message> take_messages(handles::link_number to);
  /// The error with which the link must end; nullopt if it may stay.
  [[nodiscard]] std::optional<node_error> ending(handles::link_number link) const;

  // -- serving, while a link can take more

  /// Takes the bytes to send to the peer next, after the messages that take_messages() returns from now on. An empty
  /// object yields no chunk, because its head is among those messages. Returns nullopt if the peer wants no bytes.
  [[nodiscard]] std::optional<handles::served_chunk> next_chunk(handles::link_number to);
  /// The chunk that was last taken for that request cannot be served. `why` is `object_lost`, `busy` or `full`.
  void cannot_serve(handles::link_number to, handles::request_number request, handles::handle_errc why,
                    bool is_disk_full = false);

  // -- the steps of making rooms; ignored for rooms that are no longer wanted

  [[nodiscard]] bool wants(handles::room_id which) const { return !is_ended_ && rooms_.find(which) != nullptr; }
  /// Call it before making a builder for the room. Returns false if other rooms have to be filled first (see
  /// room_is_left()). Requires: wants(which).
  [[nodiscard]] bool reserve_room(handles::room_id which, std::uint64_t size_bytes) {
    return rooms_.reserve(which, size_bytes);
  }
  /// Another process of this host has begun to write the same object meanwhile.
  void give_back_room(handles::room_id which);
  /// Another process of this host, `writer`, is fetching the same object. Waits for it until take_up_room().
  void leave_room(handles::room_id which, std::uint64_t writer);
  void take_up_room(handles::room_id which);
  /// Notes the store's refusal of an attempt that will be repeated; nullopt if it will not be.
  void note_full(handles::room_id which, std::optional<node_error> why) { rooms_.note_full(which, std::move(why)); }
  void room_made(handles::room_id which);
  /// The bytes for which room_for() returned this room are in it.
  void room_filled(handles::room_id which, std::uint64_t more_bytes);
  /// Whether the room has all its bytes, and waits for the objects that they refer to.
  [[nodiscard]] bool waits_for_captured(handles::room_id which) const { return ledger_.waits_for_captured(which); }
  /// This host's store has the object, at `place`. The caller offers one hold on it. Returns false if the caller keeps
  /// the hold.
  [[nodiscard]] bool room_found(handles::room_id which, const store::object_id& place);
  /// Like room_found(), for a room that has been sealed.
  [[nodiscard]] bool room_sealed(handles::room_id which, const store::object_id& place);
  /// `code` is `full` or `busy`.
  void room_failed(handles::room_id which, handles::handle_errc code, node_error why);

  // -- time

  /// Does everything that is due.
  void tick();

  // -- for people and tests

  [[nodiscard]] bool is_used(handles::link_number link) const { return ledger_.is_used(link); }
  [[nodiscard]] handles::ledger_tables tables() const { return ledger_.tables(); }
  [[nodiscard]] handles::ledger_rows rows(std::uint32_t first, std::uint32_t count) const {
    return ledger_.rows(first, count);
  }
  /// Null if the reason is no longer known.
  [[nodiscard]] const std::string* why_ended(handles::link_number link) const { return ended_links_.find(link); }
  [[nodiscard]] const handles::ledger& ledger() const noexcept { return ledger_; }
  [[nodiscard]] const room_book& rooms() const noexcept { return rooms_; }

private:
  /// One link that is up.
  struct lane {
    std::string peer_name;
    std::uint64_t object_bytes_max = UINT64_MAX;
    std::deque<handles::message> messages; // Not written yet.
    std::optional<node_error> ending;
  };

  void carry_out();
  void act(handles::send_message& what);
  void act(const handles::bytes_wanted& what) { around_.errands.write_soon(turn(), what.link); }
  void act(const handles::close_link& what);
  void act(const handles::connect_to& what);
  void act(const handles::answer_waiter& what);
  void act(const handles::make_room& what);
  void act(handles::seal_room& what);
  void act(const handles::drop_room& what);
  void act(const handles::forget_unfinished& what);
  [[nodiscard]] lane* find_lane(handles::link_number link);
  [[nodiscard]] const lane* find_lane(handles::link_number link) const;
  [[nodiscard]] handles::time_point now() const { return clock_(); }
  [[nodiscard]] node_error words_of(const handles::answer_waiter& what) const;
  [[nodiscard]] bool take_room(handles::room_id which);

  const exchange_surroundings around_;
  const std::uint64_t capacity_bytes_;
  const std::function<handles::time_point()> clock_;
  const std::function<std::uint64_t()> fresh_number_;
  bool is_ended_ = false;
  handles::ledger ledger_;
  known_nodes nodes_;
  std::map<handles::link_number, lane> lanes_;
  ended_links ended_links_;
  room_book rooms_;
  std::vector<std::pair<handles::room_id, node_error>> refused_rooms_; // Passed to the ledger after its actions.
  node_error why_no_room_{node_errc::store_full, ""};                  // The reason of the last failure.
  handles::time_point woken_at_ = handles::never;                      // As last told to the surroundings.
};

} // namespace troupe::internal
