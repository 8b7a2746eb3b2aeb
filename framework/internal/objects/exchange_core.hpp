// One node's counted handles, as pure logic: which objects of others it wants, what is to be written on which link, and
// which callers wait. What has threads, timers or bytes stands around it: object_exchange.hpp.
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

/// What the core is told of a link when that comes up.
struct link_facts {
  handles::node_name peer;
  std::span<const std::byte> token; // By which the peer is known again.
  bool shares_store = false;
  std::string peer_name;                       // For errors.
  std::uint64_t object_bytes_max = UINT64_MAX; // The largest object that is brought here over it.
};

/// Turns what happens to one node's handles into what is to be done next.
///
/// Threads: one at a time. It calls nothing but the store and the surroundings that it was given, which return at once
/// and do not call back. When an event returns, all that it brings has been told to them.
class exchange_core {
public:
  struct options {
    handles::ledger_options ledger;
    std::uint64_t capacity_bytes = UINT64_MAX; // Of the store.
  };

  exchange_core(const options& with, handles::local_objects& store, const exchange_surroundings& around);
  exchange_core(const exchange_core&) = delete;
  exchange_core& operator=(const exchange_core&) = delete;

  /// For what is guarded as the core itself is.
  [[nodiscard]] core_turn turn() const noexcept { return {}; }

  /// The end of this node: no link is up any more, nobody waits, no room is wanted. What is here stays.
  void end();
  [[nodiscard]] bool is_ended() const noexcept { return is_ended_; }

  // -- references of the application

  /// A reference to an object of this node's store. Requires: something keeps the object at this moment.
  [[nodiscard]] handles::reference add(const store::object_id& place) { return ledger_.add(place); }
  /// One to an object of this node's own that waits for what it captures. Its bytes are to be kept until they are
  /// forgotten. Fails with `store_full` where they are too many, or those of all such objects; and after the end.
  [[nodiscard]] std::expected<handles::reference, node_error>
  add_unfinished(std::uint64_t size_bytes, std::span<const handles::reference> captured);
  /// Whether its bytes are still to be kept.
  [[nodiscard]] bool is_unfinished(handles::reference what) const { return ledger_.is_unfinished(what); }
  void retain(handles::reference what) { ledger_.retain(what); }
  void drop(handles::reference what);

  /// Where the bytes are, if they are in this host's store.
  [[nodiscard]] std::optional<store::object_id> place_of(handles::reference what) const {
    return ledger_.place_of(what);
  }
  /// Why the bytes will never come, where that is known.
  [[nodiscard]] std::optional<node_error> why_lost(handles::reference what, std::uint64_t size_bytes) const;

  /// Asks for the bytes to be brought here. There is exactly one answer for `who`, at `until` at the latest.
  /// Requires: the node has not ended; nobody called `who` waits already.
  void fetch(handles::reference what, handles::waiter_id who, handles::time_point until);
  /// The answer comes now. Nothing happens when it has come.
  void cancel(handles::waiter_id who);

  // -- links

  /// False where that number is not to be used, or the node has ended: the link has to end.
  [[nodiscard]] bool link_up(handles::link_number link, link_facts facts);
  [[nodiscard]] bool is_up(handles::link_number link) const { return lanes_.contains(link); }
  /// False where there was no such link.
  bool link_down(handles::link_number link, std::string why);

  /// Fails with what the link is to be ended with.
  [[nodiscard]] std::expected<void, node_error> on_message(handles::link_number from, const handles::message& what);
  /// Bytes have come over that link: the room into which they belong, for room_filled(); 0 where nobody wants them any
  /// more. Fails as on_message() does.
  [[nodiscard]] std::expected<handles::room_id, node_error> room_for(handles::link_number from,
                                                                     const handles::pull_chunk& what);
  /// Handles of a message that has arrived, in order: one reference each. Fails with `protocol_violation`, or
  /// `link_down`.
  [[nodiscard]] std::expected<std::vector<handles::reference>, node_error>
  receive(handles::link_number from, std::span<const handles::handle_descriptor> handles);
  /// Counts one sending of each, in order; nothing where the object is lost, or the link is not up. The message is to
  /// be written behind what take_messages() has given, and before what that gives from now on.
  [[nodiscard]] std::vector<std::optional<handles::handle_descriptor>>
  count_out(handles::link_number to, std::span<const handles::reference> objects);

  /// What is to be written on that link, in order.
  [[nodiscard]] std::vector<handles::message> take_messages(handles::link_number to);
  /// With what it is to be ended.
  [[nodiscard]] std::optional<node_error> ending(handles::link_number link) const;

  // -- serving, while a link can take more

  /// Takes the bytes that the peer is to be sent next, behind what take_messages() gives from now on: of an empty
  /// object nothing but its head is among those. Nothing where it wants none.
  [[nodiscard]] std::optional<handles::served_chunk> next_chunk(handles::link_number to);
  /// The last that was taken for that request cannot be had. `why` is `object_lost`, `busy` or `full`.
  void cannot_serve(handles::link_number to, handles::request_number request, handles::handle_errc why,
                    bool is_disk_full = false);

  // -- rooms, as they are made. Nothing happens to those that are not wanted any more.

  [[nodiscard]] bool wants(handles::room_id which) const { return !is_ended_ && rooms_.find(which) != nullptr; }
  /// Before a builder is made for it. False where others have to be filled first: see room_is_left().
  /// Requires: wants(which).
  [[nodiscard]] bool reserve_room(handles::room_id which, std::uint64_t size_bytes) {
    return rooms_.reserve(which, size_bytes);
  }
  /// Another process of this host has begun to write the same since.
  void give_back_room(handles::room_id which);
  /// Another process of this host pulls the same: its `writer` is waited for, until take_up_room().
  void leave_room(handles::room_id which, std::uint64_t writer);
  void take_up_room(handles::room_id which);
  /// What the store has said to a try; there will be another.
  void note_full(handles::room_id which, std::optional<node_error> why) { rooms_.note_full(which, std::move(why)); }
  void room_made(handles::room_id which);
  /// The bytes are in it for which room_for() has given it.
  void room_filled(handles::room_id which, std::uint64_t more_bytes);
  /// Whether it has all its bytes, and waits for what those refer to.
  [[nodiscard]] bool waits_for_captured(handles::room_id which) const { return ledger_.waits_for_captured(which); }
  /// This host's store has such an object, at `place`, of which one hold is given away. False: it is the caller's.
  [[nodiscard]] bool room_found(handles::room_id which, const store::object_id& place);
  /// The same for what has been sealed.
  [[nodiscard]] bool room_sealed(handles::room_id which, const store::object_id& place);
  /// `code` is `full` or `busy`.
  void room_failed(handles::room_id which, handles::handle_errc code, node_error why);

  // -- time

  /// Does what is due.
  void tick();

  // -- for people and tests

  [[nodiscard]] handles::ledger_tables tables() const { return ledger_.tables(); }
  [[nodiscard]] handles::ledger_rows rows(std::uint32_t first, std::uint32_t count) const {
    return ledger_.rows(first, count);
  }
  /// Null where that is not known any more.
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
  std::vector<std::pair<handles::room_id, node_error>> refused_rooms_; // To be said to the ledger after its actions.
  node_error why_no_room_{node_errc::store_full, ""};                  // The last time.
  handles::time_point woken_at_ = handles::never;                      // As the surroundings were told.
};

} // namespace troupe::internal
