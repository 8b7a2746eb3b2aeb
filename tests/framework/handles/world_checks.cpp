// The oracle's checks.
#include "world.hpp"

#include <algorithm>

namespace troupe::simulation {

namespace {

constexpr auto garbage = content_number{1} << 32;
constexpr std::size_t rounds_max = 500'000; // Several times what the longest chain of captured objects needs.

} // namespace

bool world::excused(content_number truth, node_mask path, bool for_now) const {
  if (by_liar(path))
    return true;
  auto born = truth < truths_.size() ? truths_[truth].born : 0;
  return std::ranges::any_of(faults_, [&](const fault& each) {
    bool counts = each.is == fault::course::lasting || (for_now && each.is == fault::course::open);
    return counts && each.step >= born && (each.nodes & path) == each.nodes;
  });
}

/// Marks the faults between two nodes as mended if an open link between them has delivered everything, and both have
/// seen the end of every cut one.
void world::mend_faults(link_index over) {
  const auto& ends = links[over].ends;
  auto nodes_of = node_mask{1} << ends[0] | node_mask{1} << ends[1];
  if (links[over].is_cut || std::ranges::none_of(faults_, [&](const fault& each) {
        return each.is == fault::course::open && each.nodes == nodes_of;
      }))
    return;
  for (const auto& each : links) {
    bool is_quiet = each.is_cut ? !each.up[0] && !each.up[1]
                                : each.queues[0].empty() && each.queues[1].empty() && each.has_ledger[0]
                                      && each.has_ledger[1] && !nodes[each.ends[0]].unwritten.contains(each.number)
                                      && !nodes[each.ends[1]].unwritten.contains(each.number);
    if ((node_mask{1} << each.ends[0] | node_mask{1} << each.ends[1]) == nodes_of && !is_quiet)
      return;
  }
  for (auto& each : faults_)
    if (each.is == fault::course::open && each.nodes == nodes_of)
      each.is = fault::course::mended;
}

/// Makes faults lasting whose grace period has ended at this node: from this tick on it knows nothing of those links.
void world::end_graces(node_index at) {
  for (auto& each : faults_) {
    const auto& link = links[each.link];
    for (int end = 0; end < 2; ++end)
      if (each.is == fault::course::open && link.ends[end] == at && !link.up[end] && link.grace_ends[end] <= now)
        each.is = fault::course::lasting;
  }
}

/// Returns an upper bound of the handles that a fetch imports if no link is lost, and the earliest time since which a
/// fetch that it joins may have waited.
world::graph world::graph_of(content_number what) const {
  std::set<content_number> seen{what};
  std::vector<content_number> left{what};
  graph result{0, now};
  while (!left.empty()) {
    auto next = left.back();
    left.pop_back();
    if (next >= truths_.size())
      continue;
    result.oldest = std::min(result.oldest, truths_[next].born_at);
    for (auto inner : truths_[next].captured)
      if (seen.insert(inner).second)
        left.push_back(inner);
  }
  constexpr auto many = std::uint64_t{1} << 40;
  // Counts along all paths, since an object that arrives under two names is imported twice. A captured object has a
  // smaller number than its captor.
  std::map<content_number, std::uint64_t> imports;
  for (auto each : seen)
    if (each < truths_.size())
      for (auto inner : truths_[each].captured)
        imports[each] = std::min(many, imports[each] + 1 + (inner < each ? imports[inner] : 0));
  result.imports = imports[what];
  return result;
}

/// Throws unless the error has a valid reason.
void world::check_error(node_index at, const handles::fetch_error& error, const wait& what) {
  using enum handles::handle_errc;
  bool has_reason = false;
  switch (error.code) {
  case none:
    return;
  case timed_out:
    has_reason = now >= what.deadline;
    break;
  case object_lost:
  case unknown:
    ++losses;
    has_reason = what.may_be_lost || excused(what.truth, what.path);
    break;
  case too_many:
    has_reason = by_liar(what.path) || graph_of(what.truth).imports * (1 + faults_.size()) > fetch_imports_max_;
    break;
  case cancelled:
    has_reason = what.is_cancelled;
    break;
  case full:
    has_reason = rooms_failed_ > 0 || by_liar(what.path);
    break;
  case busy:
    has_reason = store_was_busy_ || by_liar(what.path);
    break;
  case stalled:
    has_reason = by_liar(what.path) || now - graph_of(what.truth).oldest >= limits.pull_patience;
    break;
  case link_down:
  case violation:
    break;
  }
  if (!has_reason)
    throw broken("node " + std::to_string(at) + " is told " + std::string(to_string(error.code)) + " of content "
                 + std::to_string(what.truth) + " without a reason");
}

void world::check_adopted() {
  for (node_index at = 0; at < nodes.size(); ++at)
    for (const auto& each : nodes[at].application)
      if (!each.may_stay_behind && is_behind(at, each)
          && !store_of(each.sender).has_content(each.truth)) // A node with a replica returns its vouchers.
        throw broken("node " + std::to_string(at) + " has not adopted content " + std::to_string(each.truth));
}

void world::check_content(node_index at, const object_id& place, content_number truth, node_mask path,
                          bool counts_captured) {
  auto& store = store_of(at);
  if (!store.lives(place))
    throw broken("content " + std::to_string(truth) + " was freed while node " + std::to_string(at) + " holds it");
  auto content = store.content_of(place);
  if (by_liar(path)) {
    // An honest object that captures a liar's object still has its own content.
    if (content < garbage && content != 0 && content != truth && !known_to_liars.contains(content))
      throw broken("a liar's handle gives content " + std::to_string(content) + ", which was never given to it");
    return;
  }
  if (content != truth && truths_[truth].size_bytes > 0) // Objects without bytes look the same.
    throw broken("node " + std::to_string(at) + " reads content " + std::to_string(content) + " for "
                 + std::to_string(truth));
  if (!counts_captured || content >= truths_.size())
    return;
  auto captured = store.captured_by(place);
  if (captured.size() != truths_[content].captured.size())
    throw broken("a replica captures another number of objects than its original");
}

/// Checks the object and everything that it captures, directly or indirectly.
void world::check_graph(node_index at, const object_id& place, content_number truth, node_mask path) {
  std::set<object_id> seen{place};
  std::vector<std::pair<object_id, content_number>> left{{place, truth}};
  while (!left.empty()) {
    auto [next, meant] = left.back();
    left.pop_back();
    check_content(at, next, meant, path, true);
    auto content = store_of(at).content_of(next);
    if (by_liar(path) || content >= truths_.size())
      continue;
    auto captured = store_of(at).captured_by(next);
    for (std::size_t i = 0; i < captured.size(); ++i)
      if (auto inner = truths_[content].captured[i];
          inner != 0 && inner < truths_.size() && seen.insert(captured[i]).second)
        left.emplace_back(captured[i], inner);
  }
}

void world::check(node_index at) {
  auto& node = nodes[at];
  if (node.is == condition::dead || node.liar)
    return;
  for (auto& each : node.application) {
    auto place = place_of(at, each);
    if (place)
      check_content(at, *place, each.truth, each.path, false);
    else if (each.was_here)
      throw broken("what was here is not here any more");
    else if (is_lost(at, each) && !each.may_be_lost && !excused(each.truth, each.path))
      throw broken("content " + std::to_string(each.truth) + " is lost for node " + std::to_string(at)
                   + " though nothing failed on its way");
    each.was_here = place.has_value();
  }
  if (auto text = node.ledger->broken_invariant(); !text.empty())
    throw broken("node " + std::to_string(at) + ": " + std::string(text));
  if (auto due = node.ledger->next_deadline(); due && node.wanted->wakes_at > *due)
    throw broken("node " + std::to_string(at) + " is not woken when something is due");
  for (const auto& [id, each] : node.rooms)
    if (!node.core->wants(id))
      throw broken("node " + std::to_string(at) + " makes a room that nobody wants");
}

void world::check_all() {
  for (node_index at = 0; at < nodes.size(); ++at)
    check(at);
}

void world::run_until_quiet() {
  std::size_t rounds = 0;
  for (bool moved = true; moved;) {
    if (++rounds > rounds_max)
      throw broken("messages without an end");
    moved = false;
    for (node_index at = 0; at < nodes.size(); ++at) {
      moved |= finish_room(at);
      for (const auto& wanted : std::exchange(nodes[at].wanted_links, {}))
        for (node_index other = 0; other < nodes.size(); ++other)
          if (active(at) && active(other) && other != at && nodes[other].name == wanted && !link_between(at, other))
            moved |= (connect(at, other), true);
    }
    for (link_index over = 0; over < links.size(); ++over) {
      for (int end = 0; end < 2; ++end) {
        moved |= bring_up(over, end);
        moved |= send_chunk(over, end);
        while (deliver(over, end))
          moved = true;
        if (links[over].is_cut && links[over].up[end] && active(links[over].ends[end])) {
          notice(over, end);
          moved = true;
        }
      }
    }
  }
}

void world::pass_and_tick(int times, std::chrono::nanoseconds each) {
  for (; times > 0; --times) {
    pass(each);
    for (node_index at = 0; at < nodes.size(); ++at)
      tick(at);
    run_until_quiet();
  }
}

/// Checks that every holder of a lost object has been told without asking: no fetch may first end with `object_lost`.
void world::check_told() {
  std::vector<handles::waiter_id> asked;
  for (node_index at = 0; at < nodes.size(); ++at)
    for (std::size_t which = 0; active(at) && !nodes[at].liar && which < nodes[at].application.size(); ++which)
      if (const auto& each = nodes[at].application[which];
          !by_liar(each.path) && !place_of(at, each) && !is_lost(at, each))
        asked.push_back(fetch(at, which, std::chrono::hours(1)));
  run_until_quiet();
  for (auto waiter : asked)
    if (auto found = answers.find(waiter);
        found != answers.end() && found->second.code == handles::handle_errc::object_lost)
      throw broken("a node was not told that what it holds is lost");
  pass_and_tick(1, std::chrono::hours(1)); // Lets all waits end.
}

void world::read_everything() {
  for (node_index at = 0; at < nodes.size(); ++at)
    thaw(at);
  hand_over_fails = false;
  adopting_fails = false;
  run_until_quiet();
  pass_and_tick(1, std::chrono::seconds(1)); // Busy sources are asked again.
  for (node_index at = 0; at < nodes.size(); ++at)
    for (std::size_t which = 0; active(at) && which < nodes[at].application.size(); ++which)
      fetch(at, which, std::chrono::hours(1));
  run_until_quiet();
  pass_and_tick(10, limits.busy_pause); // Until pulls run as many at a time as before a source was busy.
  if (options_.small_limits)            // Lost objects and those of liars occupy the turns until they time out.
    pass_and_tick(6, limits.pull_patience);
  for (const auto& each : nodes)
    for (const auto& [waiter, what] : each.waits)
      if (!each.liar && each.is == condition::running && !what.may_be_lost && !excused(what.truth, what.path, true))
        throw broken("content " + std::to_string(what.truth) + " does not come though everything was delivered");
  pass_and_tick(3, std::chrono::minutes(2)); // Grace periods end, and pulls from liars stall.
  for (node_index at = 0; at < nodes.size(); ++at)
    if (!nodes[at].liar && !nodes[at].waits.empty())
      throw broken("node " + std::to_string(at) + " has " + std::to_string(nodes[at].waits.size())
                   + " waiters without an answer");
  check_told();
  check_all();
  for (node_index at = 0; at < nodes.size(); ++at) { // No leftovers, not even ones that involve liars.
    if (nodes[at].liar || !active(at))
      continue;
    auto left = nodes[at].ledger->tables();
    if (left.requests + left.fetches + left.rooms + left.servings + left.parked + left.dialed + left.waiters > 0)
      throw broken("node " + std::to_string(at) + " has " + std::to_string(left.requests) + " open questions, "
                   + std::to_string(left.fetches) + " fetches, " + std::to_string(left.servings) + " servings, "
                   + std::to_string(left.parked + left.dialed) + " others that nobody waits for");
  }
}

void world::wind_up() {
  hand_over_fails = false;
  adopting_fails = false;
  for (node_index at = 0; at < nodes.size(); ++at) {
    thaw(at);
    if (nodes[at].liar)
      kill(at);
  }
  for (int round = 0; round < 6; ++round) {
    for (node_index at = 0; at < nodes.size(); ++at) {
      if (nodes[at].is == condition::dead)
        continue;
      while (!nodes[at].waiting.empty())
        give_up(at, 0);
      drop_all(at);
      tick(at);
    }
    run_until_quiet();
    pass(std::chrono::hours(1));
  }
  for (std::size_t host = 0; host < stores.size(); ++host)
    reap(host);
  for (node_index at = 0; at < nodes.size(); ++at) {
    const auto& each = nodes[at];
    if (each.is == condition::dead)
      continue;
    auto left = each.ledger->tables();
    if (!each.waits.empty())
      throw broken("node " + std::to_string(at) + " has waiters without an answer");
    if (left.entries + left.links_in_grace + left.exports + left.imports + left.requests + left.servings + left.parked
            + left.dialed + left.vouchers + left.rooms + left.fetches + each.rooms.size()
        > 0)
      throw broken("node " + std::to_string(at) + " keeps " + std::to_string(left.entries) + " entries, "
                   + std::to_string(left.exports) + " exports, " + std::to_string(left.imports) + " imports, "
                   + std::to_string(left.links_in_grace) + " lost links, " + std::to_string(left.requests)
                   + " requests, " + std::to_string(left.servings) + " servings, " + std::to_string(left.parked)
                   + " parked");
    if (each.core->rooms().reserved_bytes() > 0)
      throw broken("node " + std::to_string(at) + " reserves a part of its store for nothing");
    if (!each.objects->empty() || !each.unfinished.empty())
      throw broken("node " + std::to_string(at) + " keeps holds, or bytes that were never finished");
  }
  for (const auto& each : stores)
    if (auto left = each.living(); !left.empty())
      throw broken(std::to_string(left.size()) + " objects are left in a store, the first is "
                   + store::to_string(left[0]));
}

} // namespace troupe::simulation
