// Builds a world, and does what its applications do.
#include "world.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

namespace troupe::simulation {

namespace {

constexpr std::uint64_t small_capacity_bytes = 24;     // Twice the size of the largest object in a run.
constexpr auto proxy_numbers = std::uint64_t{1} << 40; // Far above the stores' numbers.

} // namespace

// -- a node's view of its store

/// Called before each store operation. The process may be killed here.
void process_objects::step() {
  if (world_.nodes[self_].is_called && world_.is_last_step(self_))
    throw died{};
}

void process_objects::hold(const object_id& place) {
  if (world_.nodes[self_].is == condition::dead)
    return;
  step();
  auto& store = world_.store_of(self_);
  if (!store.lives(place))
    throw broken("a hold of an object that is gone: " + store::to_string(place));
  if (counts_[place]++ == 0)
    store.set_bit(place, world_.nodes[self_].process);
}

void process_objects::drop(const object_id& place) {
  if (world_.nodes[self_].is == condition::dead)
    return; // A dead process leaves its bits in the store.
  step();
  auto known = counts_.find(place);
  if (known == counts_.end())
    throw broken("a drop of what is not held: " + store::to_string(place));
  if (--known->second > 0)
    return;
  counts_.erase(known);
  world_.store_of(self_).clear_bit(place, world_.nodes[self_].process);
}

std::uint64_t process_objects::size_of(const object_id& place) const {
  if (!world_.store_of(self_).lives(place))
    throw broken("the size of an object that is gone: " + store::to_string(place));
  return world_.store_of(self_).size_of(place);
}

std::vector<object_id> process_objects::captured_by(const object_id& place) const {
  if (!world_.store_of(self_).lives(place))
    throw broken("what is captured by an object that is gone: " + store::to_string(place));
  return world_.store_of(self_).captured_by(place);
}

handles::home_name process_objects::home_of(const object_id& place) {
  return {place, world_.store_of(self_).proof_of(place)};
}

bool process_objects::hold_at_home(const handles::home_name& which, std::uint64_t size_bytes) {
  const auto& store = world_.store_of(self_);
  if (world_.homes_fail || which.proof != store.proof_of(which.name) || !store.lives(which.name)
      || store.size_of(which.name) != size_bytes)
    return false;
  hold(which.name);
  ++world_.came_home;
  return true;
}

namespace {

[[nodiscard]] std::uint64_t channel_to(const world& in, link_index link, int end) {
  return in.links[link].number * 2 + static_cast<std::uint64_t>(end);
}

} // namespace

bool process_objects::hand_over(const object_id& place, handles::link_number link) {
  step();
  bool fails = world_.hand_over_fails || world_.hand_overs_left == 0u;
  world_.store_was_busy_ |= fails;
  if (fails)
    return false;
  if (world_.hand_overs_left)
    --*world_.hand_overs_left;
  auto over = world_.index_of(link);
  auto to_end = 1 - world_.end_of(over, self_);
  auto to = world_.links[over].ends[to_end];
  if (!world_.store_of(self_).lives(place))
    throw broken("a hand-over of an object that is gone: " + store::to_string(place));
  if (world_.nodes[to].is == condition::dead)
    return false;
  world_.store_of(self_).hand_over(place, world_.nodes[self_].process, world_.nodes[to].process,
                                   channel_to(world_, over, to_end));
  return true;
}

void process_objects::take_back(const object_id& place, handles::link_number link) {
  if (world_.nodes[self_].is == condition::dead)
    return; // Flights of a dead process stay in the store.
  step();
  auto over = world_.index_of(link);
  auto to_end = 1 - world_.end_of(over, self_);
  (void)world_.store_of(self_).take_flight(place, world_.nodes[self_].process,
                                           world_.nodes[world_.links[over].ends[to_end]].process,
                                           channel_to(world_, over, to_end));
}

process_objects::adoption process_objects::adopt(const object_id& place, handles::link_number link) {
  step();
  world_.store_was_busy_ |= world_.adopting_fails;
  if (world_.adopting_fails)
    return adoption::busy;
  auto over = world_.index_of(link);
  auto own_end = world_.end_of(over, self_);
  auto& store = world_.store_of(self_);
  auto self = world_.nodes[self_].process;
  auto from = world_.nodes[world_.links[over].ends[1 - own_end]].process;
  bool sabotaged = world_.options_.how == sabotage::skip_adoption;
  if (!sabotaged && store.lives(place))
    store.set_bit(place, self); // Set before the flight entry is removed.
  if (!store.take_flight(place, from, self, channel_to(world_, over, own_end))) {
    if (!counts_.contains(place))
      store.clear_bit(place, self);
    return adoption::absent;
  }
  ++counts_[place];
  return adoption::done;
}

void process_objects::abandon(handles::link_number link) {
  step();
  auto over = world_.index_of(link);
  auto own_end = world_.end_of(over, self_);
  world_.store_of(self_).abandon(world_.nodes[self_].process, channel_to(world_, over, own_end));
}

// -- building

/// Marks all nodes as dead, so that their destructors give nothing back.
world::~world() {
  for (auto& each : nodes) {
    each.is = condition::dead;
    each.waiting.clear();
    each.application.clear();
  }
}

std::size_t world::add_host() {
  stores.emplace_back(++last_number_).ignores_generation = options_.how == sabotage::ignore_generation;
  return stores.size() - 1;
}

node_index world::add_node(std::size_t host, bool liar, std::uint64_t number) {
  auto self = nodes.size();
  auto& made = nodes.emplace_back();
  made.name = {number != 0 ? number : self + 1, ++last_number_};
  made.host = host;
  made.process = ++last_number_;
  made.liar = liar;
  made.objects = std::make_unique<process_objects>(*this, self);
  auto options = limits;
  options.self = made.name;
  options.proxy_number = proxy_numbers + made.process;
  options.clock = [this] { return now; };
  options.fresh_token = [this] { return ++last_number_ * 0x9e3779b97f4a7c15u; };
  options.grace = grace;
  options.chunk_bytes_max = chunk_bytes;
  if (options_.small_limits) {
    options.vouchers_max = 2;
    options.parked_max = 1;
    options.servings_max = 2;
    options.captured_max = 3; // As many as the objects of a run capture.
    options.fetch_imports_max = 4;
    options.dials_max = 1;
    options.adoptions_max = 2;
    options.adoptions_offered_max = 1;
    options.link_vouchers_max = 3;
    options.pulls_max = 2;
  }
  fetch_imports_max_ = std::min(fetch_imports_max_, options.fetch_imports_max);
  made.wanted = std::make_unique<wishes>();
  made.core = std::make_unique<internal::exchange_core>(
      internal::exchange_core::options{.ledger = std::move(options),
                                       .capacity_bytes = options_.small_limits ? small_capacity_bytes : UINT64_MAX},
      *made.objects, made.wanted->all());
  made.ledger = &made.core->ledger();
  if (liar)
    liars_ |= node_mask{1} << self;
  return self;
}

node_index world::restart(node_index dead) {
  return add_node(nodes[dead].host, nodes[dead].liar, nodes[dead].name.node);
}

link_index world::connect(node_index dialer, node_index acceptor, bool may_share) {
  auto made = dial(dialer, acceptor, may_share);
  (void)bring_up(made, 1);
  return made;
}

link_index world::dial(node_index dialer, node_index acceptor, bool may_share) {
  auto made = links.size();
  bool shares = may_share && nodes[dialer].host == nodes[acceptor].host;
  auto& link = links.emplace_back();
  link.number = made + 1;
  link.ends[0] = dialer;
  link.ends[1] = acceptor;
  link.shares_store = shares;
  tell("  link ", link.number, ": node ", dialer, " and node ", acceptor, shares ? ", sharing a store" : "");
  for (int end = 0; end < 2; ++end) {
    link.shared[end] = std::make_shared<shared_end>(*this, *nodes[link.ends[end]].objects, made, end);
    link.shared[end]->live_in(link.shared[end]);
  }
  (void)bring_up(made, 0);
  return made;
}

bool world::bring_up(link_index over, int end) {
  auto& link = links[over];
  if (!link.up[end] || !active(link.ends[end]) || std::exchange(link.has_ledger[end], true))
    return false;
  const auto& peer = nodes[link.ends[1 - end]];
  const auto token = std::as_bytes(std::span{&peer.process, 1});
  if (!tell_core(link.ends[end], [&](auto& core) {
        if (!core.link_up(link.number, {.peer = peer.name,
                                        .token = token,
                                        .shares_store = link.shares_store,
                                        .peer_name = std::to_string(peer.name.node)}))
          throw broken("a link's number was used before");
      }))
    return true;
  pump(link.ends[end]);
  return true;
}

std::optional<link_index> world::link_between(node_index one, node_index other) const {
  for (link_index at = links.size(); at-- > 0;) {
    const auto& link = links[at];
    bool joins = (link.ends[0] == one && link.ends[1] == other) || (link.ends[0] == other && link.ends[1] == one);
    if (joins && !link.is_cut && link.up[0] && link.up[1] && link.has_ledger[0] && link.has_ledger[1])
      return at;
  }
  return std::nullopt;
}

// -- applications

held world::put(node_index at, std::uint64_t size_bytes, const std::vector<held>& captured) {
  auto& node = nodes[at];
  original made{.size_bytes = size_bytes, .captured = {}, .born = step, .born_at = now};
  std::vector<object_id> places;
  auto path = node_mask{1} << at;
  std::vector<const held*> parts;
  for (const auto& inner : captured) {
    if (is_lost(at, inner))
      continue; // A lost object is refused.
    auto place = place_of(at, inner);
    if (place)
      places.push_back(*place);
    parts.push_back(&inner);
    made.captured.push_back(place ? store_of(at).content_of(*place) : inner.truth);
  }
  bool is_finished = places.size() == parts.size();
  for (const auto& inner : captured) {
    if (is_finished || inner.truth >= truths_.size())
      continue;
    made.born = std::min(made.born, truths_[inner.truth].born);
    made.born_at = std::min(made.born_at, truths_[inner.truth].born_at);
    path |= inner.path;
  }
  auto content = truths_.size();
  truths_.push_back(std::move(made));
  if (options_.how == sabotage::throw_in_puts)
    throw std::out_of_range("what the ledger must not throw");
  if (options_.how == sabotage::abort_in_puts)
    std::abort();
  tell("  node ", at, " puts content ", content, " capturing ", places.size(), " of ", parts.size());
  if (node.liar)
    known_to_liars.insert(content);
  if (!is_finished) {
    std::vector<handles::reference> references;
    for (const auto* each : parts) {
      references.push_back(reference_of(at, *each));
      if (!active(at)) // The node was killed meanwhile, and its core is another one.
        return {};
    }
    handles::reference what;
    if (!active(at)
        || !tell_core(at, [&](auto& core) { what = core.add_unfinished(size_bytes, references).value_or(what); }))
      return {};
    if (node.core->is_unfinished(what))
      node.unfinished[what] = {content, size_bytes};
    if (what == handles::reference{}) { // There are too many unfinished objects.
      for (auto each : references)
        if (active(at) && tell_core(at, [&](auto& core) { core.drop(each); }))
          pump(at);
      return {};
    }
    ++put_unfinished;
    const auto made_of = held_of(what, content, path, false);
    node.application.push_back(made_of);
    pump(at);
    for (auto each : references)
      if (active(at) && tell_core(at, [&](auto& core) { core.drop(each); }))
        pump(at);
    return made_of;
  }
  auto place = store_of(at).create(node.process, content, size_bytes, places);
  tell_liars_of_host(node.host, content);
  node.objects->took_over(place); // The builder's hold ...
  handles::reference what;
  if (!tell_core(at, [&](auto& core) {
        what = core.add(place);
        node.objects->drop(place); // ... ends when the ledger has its own.
      }))
    return {};
  names_seen.push_back(place);
  node.application.push_back(held_of(what, content, path, true));
  return node.application.back();
}

/// Adds a reference in the ledger, which the caller has to drop.
handles::reference world::reference_of(node_index at, const held& what) {
  if (!what.shared) {
    nodes[at].core->retain(what.what);
    return what.what;
  }
  handles::reference made;
  (void)tell_core(at, [&](auto& core) { made = core.add(what.shared->object().id()); });
  return made;
}

/// Packs as a link encodes: hands over objects in the store that both ends share. Counts all others, and those whose
/// hand-over fails, when the message leaves.
bool world::pack(node_index from, link_index over, const std::vector<held>& what) {
  auto& node = nodes[from];
  auto& link = links[over];
  const auto end = end_of(over, from);
  if (!link.up[end])
    return false;
  waiting_message made;
  made.over = over;
  made.flights.begin(link.shared[end]->objects());
  for (auto each : what) {
    if (is_last_step(from)) {
      kill(from);
      return false;
    }
    if (const auto place = link.shares_store ? place_of(from, each) : std::nullopt) {
      node.objects->hold(*place);
      if (made.flights.hand_over(model_handle{*node.objects, *place})) {
        each.shared = nullptr;
        each.what = {};
        made.stored.push_back(each);
        continue;
      }
    }
    each.what = reference_of(from, each);
    if (!active(from))
      return false;
    each.shared = nullptr;
    made.counted.push_back(each);
  }
  node.waiting.push_back(std::move(made));
  pump(from);
  return active(from);
}

/// Lets the message wait at the link, which has no room for it now.
void world::admit(node_index from, std::size_t which) {
  auto& message = nodes[from].waiting[which];
  const auto& link = links[message.over];
  const auto end = end_of(message.over, from);
  if (!link.up[end])
    return give_up(from, which);
  message.is_admitted = true;
  message.flights.count(link.shared[end]->lock());
}

/// Counts and writes the message's handles in one step, under the link's lock.
bool world::leave(node_index from, std::size_t which, bool kept) {
  auto& node = nodes[from];
  const auto over = node.waiting[which].over;
  const auto own_end = end_of(over, from);
  const auto to = links[over].ends[1 - own_end];
  const auto waiting = node.waiting.size();
  if (links[over].up[own_end] && (!write(from, over) || node.waiting.size() != waiting))
    return false; // Vouches go out before the message. If the link ends instead, that gives up admitted messages.
  if (!links[over].up[own_end]) {
    give_up(from, which);
    return false;
  }
  auto& message = node.waiting[which];
  std::vector<handles::reference> references;
  std::vector<bool> are_behind;
  for (const auto& each : message.counted) {
    references.push_back(each.what);
    are_behind.push_back(node.ledger->is_behind(each.what));
  }
  parcel written{.handles = {}, .content = {}, .kept = kept};
  const auto send_along = [&](held each) {
    each.sender = from;
    each.path |= node_mask{1} << from | node_mask{1} << to;
    if (nodes[to].liar)
      tell_liars(each.truth);
    return each;
  };
  auto lock = links[over].shared[own_end]->lock();
  message.flights.count(lock);
  for (std::size_t i = 0; i < message.stored.size(); ++i) {
    written.stored.push_back(message.flights.objects()[i].id());
    written.stored_content.push_back(send_along(message.stored[i]));
  }
  const auto counted = node.core->count_out(links[over].number, references);
  if (is_last_step(from)) {
    lock.unlock();
    kill(from);
    return false;
  }
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const auto& each = message.counted[i];
    if (!counted[i]) {
      if (!node.liar && !node.ledger->is_lost(each.what))
        throw broken("node " + std::to_string(from) + " does not count what it has, over a link that is up");
      continue;
    }
    const auto& one = *counted[i];
    using enum handles::handle_mode;
    if (options_.how == sabotage::drop_hold_early && one.mode == mine)
      store_of(from).clear_bit(one.name, node.process);
    written.handles.push_back(one);
    written.content.push_back(send_along(each));
    written.content.back().may_stay_behind = one.mode == yours || (one.mode == behind && (are_behind[i] || !one.offer));
  }
  const auto is_written =
      !written.handles.empty() || !written.stored.empty() || message.counted.size() + message.stored.size() == 0;
  if (is_written)
    post(over, 1 - own_end, {0, std::move(written), 0});
  message.flights.commit(lock);
  lock.unlock();
  pump(from);
  if (active(from))
    give_up(from, which);
  return is_written;
}

/// Gives the message up and returns everything that it has not committed.
void world::give_up(node_index from, std::size_t which) {
  auto& node = nodes[from];
  auto gone = std::move(node.waiting[which]);
  node.waiting.erase(node.waiting.begin() + static_cast<std::ptrdiff_t>(which));
  gone.flights.clear();
  for (const auto& each : gone.counted) {
    if (!active(from))
      return;
    if (tell_core(from, [&](auto& core) { core.drop(each.what); }))
      pump(from);
  }
}

std::optional<object_id> world::place_of(node_index at, const held& what) const {
  return what.shared ? std::optional{what.shared->object().id()} : nodes[at].ledger->place_of(what.what);
}

bool world::is_lost(node_index at, const held& what) const {
  return !what.shared && nodes[at].ledger->is_lost(what.what);
}

bool world::is_behind(node_index at, const held& what) const {
  return !what.shared && nodes[at].ledger->is_behind(what.what);
}

bool world::send(node_index from, link_index over, const std::vector<held>& what, bool kept) {
  return pack(from, over, what) && leave(from, nodes[from].waiting.size() - 1, kept);
}

void world::copy(node_index at, std::size_t which) {
  auto again = nodes[at].application[which];
  if (!again.shared)
    nodes[at].core->retain(again.what);
  nodes[at].application.push_back(again);
}

void world::drop(node_index at, std::size_t which) {
  auto& application = nodes[at].application;
  auto gone = std::move(application[which]);
  application.erase(application.begin() + static_cast<std::ptrdiff_t>(which));
  tell("  node ", at, " drops a reference to content ", gone.truth);
  if (!gone.shared && !tell_core(at, [&](auto& core) { core.drop(gone.what); }))
    return;
  gone.shared = nullptr;
  pump(at);
}

void world::drop_all(node_index at) {
  while (!nodes[at].application.empty())
    drop(at, nodes[at].application.size() - 1);
}

handles::waiter_id world::fetch(node_index at, std::size_t which, std::chrono::nanoseconds limit) {
  auto& node = nodes[at];
  const auto& what = node.application[which];
  auto waiter = ++last_number_;
  tell("  node ", at, " fetches content ", what.truth);
  if (what.shared) { // The bytes are already here.
    check_graph(at, what.shared->object().id(), what.truth, what.path);
    answers[waiter] = {};
    return waiter;
  }
  node.waits[waiter] = {what.truth, what.path, now + limit, what.may_be_lost, false};
  if (tell_core(at, [&](auto& core) { core.fetch(what.what, waiter, now + limit); }))
    pump(at);
  return waiter;
}

void world::cancel(node_index at, handles::waiter_id which) {
  auto& node = nodes[at];
  node.waits.at(which).is_cancelled = true;
  if (tell_core(at, [&](auto& core) { core.cancel(which); }))
    pump(at);
  if (node.waits.contains(which))
    throw broken("who cancels gets no answer");
}

/// A liar may read everything in a store that it shares.
void world::tell_liars_of_host(std::size_t host, content_number what) {
  if (std::ranges::any_of(nodes, [&](const node& each) { return each.liar && each.host == host; }))
    known_to_liars.insert(what);
}

/// A liar that has a handle may read the object and everything that it captures.
void world::tell_liars(content_number what) {
  std::vector<content_number> left{what};
  while (!left.empty()) {
    auto next = left.back();
    left.pop_back();
    if (next != 0 && next < truths_.size() && known_to_liars.insert(next).second)
      left.insert(left.end(), truths_[next].captured.begin(), truths_[next].captured.end());
  }
}

} // namespace troupe::simulation
