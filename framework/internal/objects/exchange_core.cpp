#include <troupe/framework/internal/objects/exchange_core.hpp>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include <troupe/base/sizes.hpp>

namespace troupe::internal {

exchange_core::exchange_core(const options& with, handles::local_objects& store, const exchange_surroundings& around)
    : around_(around),
      capacity_bytes_(with.capacity_bytes),
      clock_(with.ledger.clock),
      fresh_number_(with.ledger.fresh_token),
      ledger_(with.ledger, store),
      rooms_(with.capacity_bytes) {}

void exchange_core::end() {
  if (std::exchange(is_ended_, true))
    return;
  for (const auto& [number, each] : lanes_)
    ledger_.link_down(number);
  ledger_.end_graces();
  static_cast<void>(ledger_.take_actions()); // No one is left to receive them.
  lanes_.clear();
  rooms_.clear();
}

// -- references of the application

std::expected<handles::reference, node_error>
exchange_core::add_unfinished(std::uint64_t size_bytes, std::span<const handles::reference> captured) {
  if (is_ended_)
    return std::unexpected{node_error{node_errc::link_down, "the node has ended"}};
  // Unfinished objects take this process's memory now, and the store's later.
  const auto bytes_max = capacity_bytes_ / 2;
  const auto others_bytes = ledger_.unfinished_bytes();
  if (size_bytes > capacity_bytes_ || (others_bytes > 0 && size_bytes > bytes_max - std::min(bytes_max, others_bytes)))
    return std::unexpected{node_error{
        node_errc::store_full,
        "an object of " + grouped(size_bytes) + " bytes must wait for objects on other hosts that it refers to, with "
            + grouped(others_bytes) + " bytes of other waiting objects, limit " + grouped(bytes_max)
            + " (half of the store). Fetch the references with troupe::wait before putting them, or raise the store's "
              "capacity_bytes"}};
  const auto what = ledger_.add_unfinished(size_bytes, captured);
  carry_out();
  return what;
}

void exchange_core::drop(handles::reference what) {
  ledger_.drop(what);
  carry_out();
}

std::optional<node_error> exchange_core::why_lost(handles::reference what, std::uint64_t size_bytes) const {
  if (is_ended_)
    return ledger_.place_of(what) ? std::nullopt : std::optional{words_of_end(size_bytes)};
  const auto loss = ledger_.loss_of(what);
  return loss ? std::optional{words_of_loss(*loss, size_bytes, ended_links_.find(loss->source))} : std::nullopt;
}

void exchange_core::fetch(handles::reference what, handles::waiter_id who, handles::time_point until) {
  ledger_.fetch(what, who, until);
  carry_out();
}

void exchange_core::cancel(handles::waiter_id who) {
  if (is_ended_)
    return;
  ledger_.cancel_fetch(who);
  carry_out();
}

// -- links

exchange_core::lane* exchange_core::find_lane(handles::link_number link) {
  const auto found = lanes_.find(link);
  return found != lanes_.end() ? &found->second : nullptr;
}

const exchange_core::lane* exchange_core::find_lane(handles::link_number link) const {
  const auto found = lanes_.find(link);
  return found != lanes_.end() ? &found->second : nullptr;
}

/// If a peer takes the name of a node whose link was lost, but does not prove to be that node, it does not inherit that
/// node's objects.
bool exchange_core::link_up(handles::link_number link, link_facts facts) {
  if (is_ended_)
    return false;
  if (!nodes_.recognizes(facts.peer, facts.token, now()))
    facts.peer.incarnation = fresh_number_();
  if (!ledger_.link_up(link, facts.peer, facts.shares_store))
    return false;
  auto& made = lanes_[link];
  made.peer_name = std::move(facts.peer_name);
  made.object_bytes_max = facts.object_bytes_max;
  carry_out();
  return true;
}

bool exchange_core::link_down(handles::link_number link, std::string why) {
  const auto found = lanes_.find(link);
  if (found == lanes_.end())
    return false;
  ended_links_.add(link, std::move(why));
  ledger_.link_down(link);
  carry_out();
  lanes_.erase(found);
  return true;
}

std::expected<void, node_error> exchange_core::on_message(handles::link_number from, const handles::message& what) {
  ledger_.on_message(from, what);
  carry_out();
  if (auto ended = ending(from))
    return std::unexpected{*std::move(ended)};
  return {};
}

std::expected<handles::room_id, node_error> exchange_core::room_for(handles::link_number from,
                                                                    const handles::pull_chunk& what) {
  const auto room = ledger_.room_for(from, what);
  if (room != 0)
    return room;
  carry_out();
  if (auto ended = ending(from))
    return std::unexpected{*std::move(ended)};
  return 0;
}

std::expected<std::vector<handles::reference>, node_error>
exchange_core::receive(handles::link_number from, std::span<const handles::handle_descriptor> handles) {
  auto received = ledger_.receive(from, handles);
  carry_out();
  if (received)
    return *std::move(received);
  return std::unexpected{node_error{received.error() == handles::handle_errc::violation ? node_errc::protocol_violation
                                                                                        : node_errc::link_down,
                                    "the peer sent an invalid handle"}};
}

std::vector<std::optional<handles::handle_descriptor>>
exchange_core::count_out(handles::link_number to, std::span<const handles::reference> objects) {
  auto counted = ledger_.count_out(to, objects);
  carry_out();
  return counted;
}

std::vector<handles::message> exchange_core::take_messages(handles::link_number to) {
  auto* const found = find_lane(to);
  if (found == nullptr)
    return {};
  std::vector<handles::message> taken{std::make_move_iterator(found->messages.begin()),
                                      std::make_move_iterator(found->messages.end())};
  found->messages.clear();
  return taken;
}

std::optional<node_error> exchange_core::ending(handles::link_number link) const {
  const auto* const found = find_lane(link);
  return found != nullptr ? found->ending : std::nullopt;
}

// -- serving

std::optional<handles::served_chunk> exchange_core::next_chunk(handles::link_number to) {
  auto next = ledger_.next_chunk(to);
  if (next)
    carry_out(); // Sends its head.
  return next;
}

void exchange_core::cannot_serve(handles::link_number to, handles::request_number request, handles::handle_errc why,
                                 bool is_disk_full) {
  ledger_.cannot_serve(to, request, why, is_disk_full);
  carry_out();
}

// -- rooms

void exchange_core::give_back_room(handles::room_id which) {
  if (wants(which)) {
    rooms_.give_back(which);
    around_.rooms.room_is_left(turn());
  }
}

void exchange_core::leave_room(handles::room_id which, std::uint64_t writer) {
  if (wants(which))
    rooms_.leave(which, writer);
}

void exchange_core::take_up_room(handles::room_id which) {
  if (wants(which))
    rooms_.take_up(which);
}

void exchange_core::room_made(handles::room_id which) {
  if (!wants(which))
    return;
  rooms_.fill(which);
  ledger_.room_made(which);
  carry_out();
}

void exchange_core::room_filled(handles::room_id which, std::uint64_t more_bytes) {
  if (!wants(which))
    return;
  if (ledger_.room_filled(which, more_bytes)) {
    rooms_.filled(which);
    around_.rooms.room_is_left(turn());
  }
  carry_out();
}

/// Takes the room out of the book. Returns false if it is not wanted.
bool exchange_core::take_room(handles::room_id which) {
  if (!wants(which))
    return false;
  rooms_.erase(which);
  around_.rooms.room_is_left(turn());
  return true;
}

bool exchange_core::room_found(handles::room_id which, const store::object_id& place) {
  if (!take_room(which))
    return false;
  const auto is_taken = ledger_.room_found(which, place);
  carry_out();
  return is_taken;
}

bool exchange_core::room_sealed(handles::room_id which, const store::object_id& place) {
  if (!take_room(which))
    return false;
  const auto is_taken = ledger_.room_sealed(which, place);
  carry_out();
  return is_taken;
}

void exchange_core::room_failed(handles::room_id which, handles::handle_errc code, node_error why) {
  if (!wants(which))
    return;
  why_no_room_ = std::move(why);
  ledger_.room_failed(which, code);
  carry_out();
}

// -- time

void exchange_core::tick() {
  if (is_ended_)
    return;
  woken_at_ = handles::never;
  ledger_.tick();
  carry_out();
}

// -- what the ledger wants

/// Carries out the ledger's actions after an event.
void exchange_core::carry_out() {
  for (bool more = true; more;) {
    for (auto& each : ledger_.take_actions())
      std::visit([this](auto& what) { act(what); }, each);
    more = !refused_rooms_.empty();
    for (auto& [room, why] : std::exchange(refused_rooms_, {}))
      if (rooms_.find(room) != nullptr) {
        why_no_room_ = std::move(why);
        ledger_.room_failed(room, handles::handle_errc::full);
      }
  }
  const auto due = is_ended_ ? std::nullopt : ledger_.next_deadline();
  if (due && *due < woken_at_) {
    woken_at_ = *due;
    around_.errands.wake_at(turn(), *due);
  }
}

void exchange_core::act(handles::send_message& what) {
  if (auto* const to = find_lane(what.link)) {
    to->messages.push_back(std::move(what.what));
    around_.errands.write_soon(turn(), what.link);
  }
}

void exchange_core::act(const handles::close_link& what) {
  if (auto* const to = find_lane(what.link)) {
    const auto code =
        what.why == handles::handle_errc::violation ? node_errc::protocol_violation : node_errc::link_down;
    to->ending = node_error{code, "the peer " + std::string{what.text}};
    around_.errands.write_soon(turn(), what.link);
  }
}

void exchange_core::act(const handles::connect_to& what) {
  if (!is_ended_)
    around_.errands.dial(turn(), what.node);
}

node_error exchange_core::words_of(const handles::answer_waiter& what) const {
  const auto* const from = find_lane(what.error.source);
  fetch_facts facts{.size_bytes = what.size_bytes,
                    .waited = what.waited,
                    .why_late = std::nullopt,
                    .why_no_room = why_no_room_,
                    .peer = from != nullptr ? "node " + from->peer_name : "a peer",
                    .why_link_ended = ended_links_.find(what.error.source)};
  if (const auto* const room = rooms_.find(what.room); what.error.code == handles::handle_errc::timed_out && room)
    facts.why_late = words_of_delay(facts, *room, rooms_);
  return internal::words_of(what.error, facts);
}

void exchange_core::act(const handles::answer_waiter& what) {
  if (is_ended_)
    return;
  fetch_answer answer{.waiter = what.waiter, .object = what.object, .why = what.error, .error = std::nullopt};
  if (what.error.code != handles::handle_errc::none)
    answer.error = words_of(what);
  around_.callers.answer(turn(), std::move(answer));
}

void exchange_core::act(const handles::make_room& what) {
  if (is_ended_)
    return;
  rooms_.add(what.room);
  const auto* const from = find_lane(what.source);
  if (const auto limit = from != nullptr ? from->object_bytes_max : UINT64_MAX; what.size_bytes > limit)
    refused_rooms_.emplace_back(
        what.room,
        node_error{node_errc::store_full, "object of " + grouped(what.size_bytes) + " bytes, the link takes at most "
                                              + grouped(limit) + " (receive_limits.object_bytes)"});
  else
    around_.rooms.make(turn(), what.room, what.size_bytes, what.of);
}

void exchange_core::act(handles::seal_room& what) {
  if (is_ended_)
    return;
  if (what.unfinished.generation == 0) {
    rooms_.seal(what.room);
    around_.rooms.seal(turn(), what.room, std::move(what.captured));
  } else {
    rooms_.add_own(what.room);
    around_.unfinished.finish(turn(), what.room, what.unfinished, std::move(what.captured));
  }
}

void exchange_core::act(const handles::drop_room& what) {
  if (!rooms_.erase(what.room))
    return;
  around_.rooms.room_is_left(turn());
  around_.rooms.drop(turn(), what.room);
}

void exchange_core::act(const handles::forget_unfinished& what) {
  if (!is_ended_)
    around_.unfinished.forget(turn(), what.what);
}

} // namespace troupe::internal
