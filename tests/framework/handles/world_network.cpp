// What the network, the hosts and time do in a world, and the actions that the cores request.
#include "story.hpp"

#include <algorithm>

namespace troupe::simulation {

namespace {

constexpr auto first_garbage = content_number{1} << 32;

/// Returns the number of a question, or nullopt for other messages.
[[nodiscard]] std::optional<handles::request_number> request_of(const handles::message& what) {
  if (const auto* asked = std::get_if<handles::adopt>(&what))
    return asked->request;
  if (const auto* asked = std::get_if<handles::reclaim>(&what))
    return asked->request;
  if (const auto* asked = std::get_if<handles::pull>(&what))
    return asked->request;
  return std::nullopt;
}

} // namespace

bool packet::is_chunk() const {
  return std::holds_alternative<handles::pull_chunk>(what);
}

// -- packets

void world::post(link_index over, int to_end, packet what) {
  auto& link = links[over];
  if (link.is_cut)
    return;
  what.number = ++last_number_;
  if (story != nullptr)
    tell("  node ", link.ends[1 - to_end], " writes to node ", link.ends[to_end], ": ", text_of(what));
  const auto see = [&](const handles::handle_descriptor& each) {
    names_seen.push_back(each.name);
    if (each.offer)
      tokens_seen.push_back(each.offer->token);
    bool to_liar = nodes[link.ends[to_end]].liar;
    if (each.home && to_liar)
      homes_of_liars.push_back(*each.home);
    if (each.mark == 0)
      return;
    marks_seen.try_emplace(each.mark, link.ends[1 - to_end]);
    if (to_liar)
      marks_of_liars.push_back(each.mark);
  };
  if (names_seen.size() < 4096) {
    if (const auto* carried = std::get_if<parcel>(&what.what))
      std::ranges::for_each(carried->handles, see);
    else if (const auto* said = std::get_if<handles::message>(&what.what))
      if (const auto* head = std::get_if<handles::pull_head>(said))
        std::ranges::for_each(head->captured, see);
  }
  link.queues[to_end].push_back(std::move(what));
}

/// Delivers one packet. Other packets may overtake chunks; nothing else is reordered.
bool world::deliver(link_index over, int end, bool chunks_first) {
  auto& link = links[over];
  auto& queue = link.queues[end];
  auto at = link.ends[end];
  if (queue.empty() || !link.up[end] || !active(at))
    return false;
  (void)bring_up(over, end);
  if (queue.empty() || !link.up[end])
    return true; // The node died or hung up before it read anything.
  auto next = queue.begin();
  if (!chunks_first)
    next = std::ranges::find_if(queue, [](const packet& each) { return !each.is_chunk(); });
  if (next == queue.end())
    next = queue.begin();
  auto arrived = std::move(*next);
  queue.erase(next);
  if (story != nullptr)
    tell("  node ", at, " reads from node ", link.ends[1 - end], ": ", text_of(arrived));
  arrive(at, std::move(arrived), link.number);
  mend_faults(over);
  return true;
}

/// Checks that reusing a question's number has cost the peer its link.
void world::check_number(link_index over, node_index at, const handles::message& what) {
  auto end = end_of(over, at);
  auto number = request_of(what);
  if (number && *number <= links[over].asked[end] && links[over].up[end] && !nodes[at].liar)
    throw broken("node " + std::to_string(at) + " takes question " + std::to_string(*number) + " again");
  links[over].asked[end] = std::max(links[over].asked[end], number.value_or(0));
}

void world::arrive(node_index at, packet what, handles::link_number over) {
  auto& node = nodes[at];
  auto& lies = links[index_of(over)].liars[end_of(index_of(over), at)];
  if (what.is_chunk())
    return arrive_chunk(at, what, over);
  if (auto* message = std::get_if<handles::message>(&what.what)) {
    adoptions += std::holds_alternative<handles::adopted>(*message);
    reclaims += std::holds_alternative<handles::reclaimed>(*message);
    if (node.liar && !lies.on_read(*message))
      return;
    if (!tell_core(at, [&](auto& core) { (void)core.on_message(over, *message); }))
      return;
    end_if_broken(at, index_of(over));
    pump(at);
    check_number(index_of(over), at, *message);
    return;
  }
  if (node.liar && !lies.has_ledger())
    return;
  if (const auto* released = std::get_if<shared_release>(&what.what)) {
    const auto& link = links[index_of(over)];
    auto good = link.shares_store
                    ? link.shared[end_of(index_of(over), at)]->objects().on_release(released->what, released->count)
                    : internal::violation("releases an object, but no store is shared");
    if (!good)
      violated(at, index_of(over), good.error().message());
    return;
  }
  arrive(at, std::get<parcel>(what.what), index_of(over));
}

/// As in the exchange, the bytes are in their room before the core counts them.
void world::arrive_chunk(node_index at, const packet& what, handles::link_number over) {
  auto chunk = std::get<handles::pull_chunk>(what.what);
  if (nodes[at].liar) {
    if (what.content < first_garbage && !known_to_liars.contains(what.content))
      throw broken("a liar was sent content " + std::to_string(what.content) + ", which was never given to it");
    if (!links[index_of(over)].liars[end_of(index_of(over), at)].on_read(chunk))
      return;
  }
  const auto lives = tell_core(at, [&](auto& core) {
    const auto into = core.room_for(over, chunk);
    if (!into || *into == 0)
      return;
    write_chunk(at, *into, chunk, what.content);
    core.room_filled(*into, chunk.size_bytes);
  });
  if (!lives)
    return;
  end_if_broken(at, index_of(over));
  pump(at);
}

/// Receives objects in the order of a link: first those that the ledger counts, then those that were handed over.
void world::arrive(node_index at, const parcel& carried, link_index over) {
  auto& node = nodes[at];
  for (const auto& each : carried.handles)
    if (const auto mark = marks_seen.find(each.mark); mark != marks_seen.end())
      came_round += mark->second == at;
  const auto before = node.application.size();
  if (!carried.handles.empty()) {
    std::expected<std::vector<handles::reference>, node_error> received;
    if (!tell_core(at, [&](auto& core) { received = core.receive(links[over].number, carried.handles); }))
      return;
    if (!received) {
      end_if_broken(at, over);
      pump(at);
      return;
    }
    for (std::size_t i = 0; i < received->size(); ++i) {
      auto each = i < carried.content.size() ? carried.content[i] : held{};
      each.path |= node_mask{1} << at;
      if (carried.content.empty())
        each.path |= liars_; // The handle was forged.
      each.what = (*received)[i];
      each.was_here = false;
      if (adopting_fails && node.ledger->is_lost(each.what))
        each.may_be_lost = true;
      node.application.push_back(each);
    }
    pump(at);
  }
  if (active(at))
    arrive_stored(at, carried, over);
  if (!carried.kept)
    while (active(at) && node.application.size() > before)
      drop(at, node.application.size() - 1);
}

void world::arrive_stored(node_index at, const parcel& carried, link_index over) {
  auto& node = nodes[at];
  auto& link = links[over];
  const auto end = end_of(over, at);
  for (std::size_t i = 0; i < carried.stored.size() && link.up[end]; ++i) {
    if (!link.shares_store || carried.stored[i].store != store_of(at).number())
      return violated(at, over, "an object lies in a store that this link does not share");
    auto came = link.shared[end]->objects().adopt(carried.stored[i]);
    if (!came && came.error().code() == node_errc::protocol_violation)
      return violated(at, over, came.error().message());
    if (!came)
      continue; // A reader is told that the object is lost.
    ++handed_over;
    auto each = i < carried.stored_content.size() ? carried.stored_content[i] : held{};
    each.path |= node_mask{1} << at;
    if (carried.stored_content.empty())
      each.path |= liars_; // The object was forged.
    each.what = {};
    each.shared = *std::move(came);
    each.was_here = true;
    node.application.push_back(std::move(each));
  }
}

/// Ends the link, with all its state in the ledger, after its own checks have failed.
void world::violated(node_index at, link_index over, const std::string& text) {
  auto& link = links[over];
  const auto end = end_of(over, at);
  if (!nodes[at].liar && !nodes[link.ends[1 - end]].liar)
    throw broken("an honest node breaks the protocol: " + text);
  if (nodes[at].liar)
    return; // A liar does not hang up for that.
  cut(over);
  sees_end(over, end);
  if (tell_core(at, [&](auto& core) { core.link_down(link.number, text); }))
    pump(at);
  end_shared(over, end);
}

/// Ends the link if the peer has broken the protocol on it.
void world::end_if_broken(node_index at, link_index over) {
  if (const auto why = nodes[at].core->ending(links[over].number))
    end_link(at, over, *why);
}

void world::write_chunk(node_index at, handles::room_id into, const handles::pull_chunk& what, content_number content) {
  auto& made = nodes[at].rooms.at(into);
  if (!made.made || made.sealing)
    throw broken("bytes for a room that is not open");
  if (what.offset != made.written_bytes || what.size_bytes > made.size_bytes - made.written_bytes)
    throw broken("bytes that do not belong where they are written");
  made.written_bytes += what.size_bytes;
  made.content = what.offset == 0 || made.content == content ? content : first_garbage;
}

bool world::send_chunk(link_index over, int end) {
  const auto at = links[over].ends[end];
  if (!links[over].up[end] || !active(at))
    return false;
  const auto number = links[over].number;
  const auto has_written = nodes[at].unwritten.contains(number);
  if (!write(at, over) || !links[over].up[end])
    return true;
  if (const auto pinned = nodes[at].being_pinned.extract(number); !pinned.empty()) {
    send_bytes(at, over, pinned.mapped());
  } else {
    std::optional<handles::served_chunk> next;
    if (!tell_core(at, [&](auto& core) { next = core.next_chunk(number); }))
      return true;
    if (!next)
      return has_written;
    pump(at);
    if (!active(at) || !write(at, over) || !links[over].up[end]) // The head goes out before its chunk.
      return true;
    if (next->what.size_bytes == 0)
      return true;
    if (options_.writes_late) // Written later, whatever happens to the object until then.
      nodes[at].being_pinned.emplace(number, *next);
    else
      send_bytes(at, over, *next);
  }
  if (active(at))
    pump(at);
  return true;
}

void world::say_release(link_index over, int from_end, shared_release what) {
  const auto from = links[over].ends[from_end];
  if (!active(from) || !links[over].up[from_end])
    return;
  if (options_.how == sabotage::release_twice && release_is_sabotaged())
    post(over, 1 - from_end, {0, what, 0});
  if (options_.how == sabotage::forget_count && release_is_sabotaged() && --what.count == 0)
    return;
  post(over, 1 - from_end, {0, what, 0});
}

void world::forge(link_index over, int from_end, packet what) {
  if (what.is_chunk())
    what.content = first_garbage + last_number_;
  post(over, 1 - from_end, std::move(what));
}

// -- actions

bool world::is_last_step(node_index at) {
  auto& left = nodes[at].last_actions;
  return left && (*left)-- == 0;
}

bool world::pump(node_index at) {
  bool any = false;
  for (auto& todo = nodes[at].wanted->todo; !todo.empty();) {
    any = true;
    const auto next = std::move(todo.front());
    todo.pop_front();
    if (is_last_step(at))
      kill(at);
    if (nodes[at].is == condition::dead)
      return true;
    std::visit([&](const auto& what) { act(at, what); }, next);
  }
  return any;
}

bool world::release_is_sabotaged() {
  return ++releases_ % 2 == 0;
}

void world::act(node_index at, const to_write& what) {
  if (options_.writes_late && !nodes[at].core->ending(what.link)) // Its grace has begun, so the link ends at once.
    nodes[at].unwritten.insert(what.link);
  else
    (void)write(at, index_of(what.link));
}

/// Writes everything that the core has for the link, or ends the link. Returns false if the node dies.
bool world::write(node_index at, link_index over) {
  auto& node = nodes[at];
  const auto number = links[over].number;
  node.unwritten.erase(number);
  if (const auto why = node.core->ending(number)) {
    end_link(at, over, *why);
    return active(at);
  }
  for (auto& each : node.core->take_messages(number)) {
    if (is_last_step(at)) {
      kill(at);
      return false;
    }
    write_message(at, over, std::move(each));
  }
  return true;
}

void world::write_message(node_index at, link_index over, handles::message sent) {
  auto to_end = 1 - end_of(over, at);
  if (auto* released = std::get_if<handles::release>(&sent); released != nullptr) {
    if (options_.how == sabotage::release_twice && release_is_sabotaged())
      post(over, to_end, {0, sent, 0});
    if (options_.how == sabotage::forget_count && release_is_sabotaged() && --released->count == 0)
      return;
  }
  if (const auto* head = std::get_if<handles::pull_head>(&sent);
      head != nullptr && options_.how == sabotage::drop_hold_early)
    for (const auto& inner : head->captured)
      store_of(at).clear_bit(inner.name, nodes[at].process);
  if (nodes[at].liar)
    links[over].liars[1 - to_end].on_write(sent);
  post(over, to_end, {0, std::move(sent), 0});
}

/// As in the exchange if a pin fails: an object that is no longer held is not served.
void world::send_bytes(node_index at, link_index over, const handles::served_chunk& what) {
  auto& store = store_of(at);
  if (!nodes[at].objects->holds(what.place)) {
    const auto number = links[over].number;
    (void)tell_core(at, [&](auto& core) { core.cannot_serve(number, what.what.request, handles::handle_errc::busy); });
    return;
  }
  if (!store.lives(what.place))
    throw broken("bytes of " + store::to_string(what.place) + " are wanted, which is gone");
  store.restore(what.place);
  post(over, 1 - end_of(over, at), {0, what.what, store.content_of(what.place)});
}

void world::end_link(node_index at, link_index over, const node_error& why) {
  auto end = end_of(over, at);
  auto peer = links[over].ends[1 - end];
  const auto is_violation = why.code() == node_errc::protocol_violation;
  if (is_violation && !nodes[at].liar && !nodes[peer].liar)
    throw broken("an honest node breaks the protocol: " + why.message());
  if (is_violation && nodes[at].liar) {
    links[over].liars[end].ledger_has_left(); // A liar does not hang up for that.
  } else {
    cut(over);
    sees_end(over, end);
  }
  if (tell_core(at, [&](auto& core) { core.link_down(links[over].number, "it was ended"); }))
    pump(at);
  if (!links[over].up[end])
    end_shared(over, end);
}

void world::act(node_index at, const to_dial& what) {
  nodes[at].wanted_links.push_back(what.node);
}

void world::act(node_index at, const to_answer& answer) {
  using enum handles::handle_errc;
  const auto& what = answer.what;
  auto& node = nodes[at];
  auto waited = node.waits.extract(what.waiter);
  if (waited.empty())
    throw broken("a waiter was answered twice");
  answers[what.waiter] = what.why;
  tell("  node ", at, " is answered: ", to_string(what.why.code));
  if ((what.why.code == none) == what.error.has_value())
    throw broken("an answer says something else in words");
  auto place = what.why.code == none ? node.ledger->place_of(what.object) : std::nullopt;
  if (what.why.code == none) {
    if (!place)
      throw broken("a waiter was told that the bytes are here, and they are not");
    if (!node.liar)
      check_graph(at, *place, waited.mapped().truth, waited.mapped().path);
    if (!tell_core(at, [&](auto& core) { core.drop(what.object); }))
      return;
  }
  if (!node.liar)
    check_error(at, what.why, waited.mapped());
}

void world::act(node_index at, const to_make& what) {
  auto& made = nodes[at].rooms[what.room];
  made.size_bytes = what.size_bytes;
  made.asked_at = now;
  if (!nodes[at].liar) // Liars keep no origins: a liar that lies about one could also write into the store.
    made.of = what.of;
  nodes[at].due.insert(what.room);
}

void world::act(node_index at, const to_seal& what) {
  if (what.own.generation != 0) {
    const auto& own = nodes[at].unfinished.at(what.own);
    nodes[at].rooms[what.room] = {.size_bytes = own.size_bytes,
                                  .of = {},
                                  .asked_at = now,
                                  .made = true,
                                  .written_bytes = own.size_bytes,
                                  .content = own.content,
                                  .sealing = {}};
    ++finished;
  }
  auto& made = nodes[at].rooms.at(what.room);
  if (made.written_bytes != made.size_bytes)
    throw broken("a replica is sealed before all its bytes are there");
  made.sealing = what.captured;
  nodes[at].due.insert(what.room);
}

void world::act(node_index at, const to_drop& what) {
  if (nodes[at].rooms.contains(what.room))
    (void)take_room(at, what.room);
  nodes[at].due.erase(what.room);
}

void world::act(node_index at, const to_forget& what) {
  if (nodes[at].unfinished.erase(what.own) == 0)
    throw broken("the bytes of an object are let go twice");
}

bool world::waits_for_others(node_index at, handles::room_id which) const {
  const auto& wanted = nodes[at].rooms.at(which);
  const auto host = nodes[at].host;
  if (wanted.made || !wanted.of || now - wanted.asked_at >= others_patience || stores[host].find(*wanted.of))
    return false;
  return std::ranges::any_of(nodes,
                             [&](const node& each) { return each.host == host && each.making.contains(*wanted.of); });
}

/// Returns whether the room can go on now. A room is left to another node if that one makes the same replica.
bool world::is_ready(node_index at, handles::room_id which) {
  auto& node = nodes[at];
  auto& wanted = node.rooms.at(which);
  if (wanted.made)
    return true;
  if (waits_for_others(at, which)) {
    if (!std::exchange(wanted.is_left, true))
      node.core->leave_room(which, node.process);
    return false;
  }
  if (std::exchange(wanted.is_left, false))
    node.core->take_up_room(which);
  const auto found = wanted.of ? store_of(at).find(*wanted.of) : std::nullopt;
  if (found && store_of(at).size_of(*found) != wanted.size_bytes) // A liar gave two objects one name.
    wanted.of.reset();
  return (found && wanted.of) || node.core->reserve_room(which, wanted.size_bytes);
}

/// Makes the oldest room that does not wait for others, or seals its replica. If `well` is false, the room fails
/// instead.
bool world::finish_room(node_index at, bool well) {
  auto& node = nodes[at];
  if (!active(at))
    return false;
  auto next = std::ranges::find_if(node.due, [&](handles::room_id each) { return is_ready(at, each); });
  if (next == node.due.end())
    return false;
  auto id = node.due.extract(next).value();
  const auto lives = tell_core(at, [&](auto& core) {
    if (!well) {
      ++rooms_failed_;
      (void)take_room(at, id);
      core.note_full(id, node_error{node_errc::store_full, "no room"});
      core.room_failed(id, handles::handle_errc::full, {node_errc::store_full, "no room"});
    } else if (!node.rooms.at(id).made) {
      make_room(at, id);
    } else {
      seal_room(at, id);
    }
  });
  if (lives)
    pump(at);
  return true;
}

room world::take_room(node_index at, handles::room_id which) {
  auto taken = nodes[at].rooms.extract(which).mapped();
  if (taken.made && taken.of)
    nodes[at].making.erase(nodes[at].making.find(*taken.of));
  return taken;
}

void world::make_room(node_index at, handles::room_id which) {
  auto& node = nodes[at];
  auto& wanted = node.rooms.at(which);
  auto found = wanted.of ? store_of(at).find(*wanted.of) : std::nullopt;
  if (!found) {
    if (now - wanted.asked_at >= others_patience)
      wanted.of.reset(); // The other node may still be making it.
    wanted.made = true;
    if (wanted.of)
      node.making.insert(*wanted.of);
    return node.core->room_made(which);
  }
  ++finds;
  tell("  node ", at, " finds the replica of another");
  (void)take_room(at, which);
  node.objects->hold(*found);
  if (!node.core->room_found(which, *found))
    node.objects->drop(*found);
}

void world::seal_room(node_index at, handles::room_id which) {
  auto& node = nodes[at];
  auto done = take_room(at, which);
  for (const auto& inner : *done.sealing)
    if (!store_of(at).lives(inner))
      throw broken("a replica captures an object that is gone");
  auto place = store_of(at).create(node.process, done.content, done.size_bytes, *done.sealing);
  if (done.of) {
    if (store_of(at).find(*done.of))
      throw broken("two replicas of one object");
    store_of(at).give_origin(place, *done.of);
  }
  node.objects->took_over(place);
  names_seen.push_back(place);
  tell_liars_of_host(node.host, done.content);
  if (!node.core->room_sealed(which, place))
    node.objects->drop(place);
}

// -- failures and time

void world::cut(link_index over) {
  if (links[over].is_cut)
    return;
  links[over].is_cut = true;
  tell("  link ", links[over].number, " is cut");
  faults_.push_back({over, node_mask{1} << links[over].ends[0] | node_mask{1} << links[over].ends[1], step});
}

void world::sees_end(link_index over, int end) {
  auto& link = links[over];
  link.up[end] = false;
  link.queues[end].clear();
  link.grace_ends[end] = now + grace;
}

/// Tells an end that its link was cut. Packets on their way to it are lost.
void world::notice(link_index over, int end) {
  auto& link = links[over];
  auto at = link.ends[end];
  if (!link.is_cut || !link.up[end] || !active(at))
    return;
  (void)bring_up(over, end); // Lets the end abandon its flights.
  if (!link.up[end])
    return;
  sees_end(over, end);
  tell("  node ", at, " sees the end of link ", link.number);
  if (tell_core(at, [&](auto& core) { core.link_down(link.number, "its end was seen"); }))
    pump(at);
  end_shared(over, end);
}

/// Ends a link as real links do: drops its counts, gives up messages that wait for room, and abandons what is in flight
/// to this end.
void world::end_shared(link_index over, int end) {
  const auto at = links[over].ends[end];
  auto& node = nodes[at];
  auto& shared = *links[over].shared[end];
  if (active(at))
    const auto dropped = shared.objects().end(shared.lock());
  for (std::size_t each = node.waiting.size(); active(at) && each-- > 0;)
    if (node.waiting[each].over == over && node.waiting[each].is_admitted)
      give_up(at, each);
  if (links[over].shares_store && active(at))
    (void)shared.objects().abandon();
}

void world::kill(node_index which) {
  auto& node = nodes[which];
  if (node.is == condition::dead)
    return;
  node.is = condition::dead;
  node.last_actions.reset();
  node.wanted->todo.clear();
  node.unwritten.clear();
  node.being_pinned.clear();
  tell("  node ", which, " is killed");
  for (link_index at = 0; at < links.size(); ++at) {
    for (int end = 0; end < 2; ++end) {
      if (links[at].ends[end] != which)
        continue;
      cut(at);
      links[at].up[end] = false;
      links[at].queues[end].clear();
    }
  }
  node.waiting.clear(); // Not given up: the process died with its memory, and the store keeps its bits.
  node.application.clear();
  node.waits.clear();
  node.rooms.clear();
  node.making.clear();
  node.due.clear();
  node.unfinished.clear();
}

void world::freeze(node_index which) {
  if (nodes[which].is == condition::running)
    nodes[which].is = condition::frozen;
}

void world::thaw(node_index which) {
  if (nodes[which].is == condition::frozen)
    nodes[which].is = condition::running;
}

void world::reap(std::size_t host) {
  std::set<process_number> dead;
  for (const auto& each : nodes)
    if (each.is == condition::dead && each.host == host)
      dead.insert(each.process);
  stores[host].reap(dead);
}

void world::pass(std::chrono::nanoseconds how_long) {
  now += how_long;
  tell("  ", std::chrono::duration_cast<std::chrono::seconds>(how_long).count(), " s pass");
}

void world::tick(node_index at) {
  if (!active(at))
    return;
  end_graces(at);
  for (auto& link : links)
    for (int end = 0; end < 2; ++end)
      if (link.ends[end] == at && link.up[end])
        link.shared[end]->objects().claim();
  auto due = nodes[at].ledger->next_deadline();
  nodes[at].wanted->wakes_at = handles::never;
  if (!tell_core(at, [&](auto& core) { core.tick(); }))
    return;
  auto next = nodes[at].ledger->next_deadline();
  if (next && *next <= now)
    throw broken("what is due was not done");
  if ((!due || *due > now) && (next != due || pump(at)))
    throw broken("a tick does something, and nothing is due");
  pump(at);
}

// -- calls that come too late

/// For rooms, uses a number that is never given to a room.
void world::call_late(node_index at, std::size_t what, std::size_t which) {
  if (!active(at) || nodes[at].liar)
    return;
  constexpr auto never_asked = ~handles::room_id{0};
  const auto& ledger = *nodes[at].ledger;
  auto& core = *nodes[at].core;
  const auto place = names_seen.empty() ? object_id{} : names_seen[which % names_seen.size()];
  const auto due = ledger.next_deadline();
  bool is_taken = false;
  switch (what % 8) {
  case 0:
    is_taken = core.room_found(never_asked, place);
    break;
  case 1:
    is_taken = core.room_sealed(never_asked, place);
    break;
  case 2:
    core.room_made(never_asked);
    break;
  case 3:
    core.room_failed(never_asked, handles::handle_errc::full, {node_errc::store_full, "late"});
    break;
  default:
    call_over_link(at, what % 8 - 4, which);
  }
  if (is_taken || !nodes[at].wanted->todo.empty() || ledger.next_deadline() != due)
    throw broken("node " + std::to_string(at) + " does something for a call that came too late");
}

void world::call_over_link(node_index at, std::size_t what, std::size_t which) {
  auto& core = *nodes[at].core;
  std::vector<link_index> candidates; // Links that are up (a second one with that number), else ended ones.
  for (link_index each = 0; each < links.size(); ++each) {
    const auto& link = links[each];
    const auto end = end_of(each, at);
    if (link.ends[end] == at && (what == 0 ? link.up[end] && link.has_ledger[end] : !link.up[end]))
      candidates.push_back(each);
  }
  if (candidates.empty())
    return;
  const auto& link = links[candidates[which % candidates.size()]];
  const handles::handle_descriptor handle{.name = {1, 1, 1}, .size_bytes = 1};
  switch (what) {
  case 0:
    if (core.link_up(link.number, {.peer = {link.number, ++last_number_}, .token = {}, .peer_name = ""}))
      throw broken("node " + std::to_string(at) + " has two links of one number");
    return;
  case 1:
    if (core.receive(link.number, {&handle, 1}))
      throw broken("node " + std::to_string(at) + " receives over a link that has ended");
    return;
  case 2:
    (void)core.on_message(link.number, handles::adopted{1, handle});
    return;
  default:
    core.cannot_serve(link.number, 1, handles::handle_errc::busy);
    core.link_down(link.number, "again");
    if (core.next_chunk(link.number))
      throw broken("node " + std::to_string(at) + " sends over a link that has ended");
  }
}

} // namespace troupe::simulation
