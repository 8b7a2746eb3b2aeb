#include <troupe/framework/memory_summary.hpp>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/node/largest_first.hpp>
#include <troupe/store/summary.hpp>

namespace troupe {

namespace {

/// Processes that reported their own holdings. What other processes reported about them is left out.
using answered_processes = std::set<std::pair<std::uint32_t, std::string>>; // Process, and the store that it has open.

bool is_said_better(const memory_holder& holder, const std::string& store, const answered_processes& answered) {
  const auto is_known_to_others = holder.reason == memory_reason::handle || holder.reason == memory_reason::pinned_view
                                  || holder.reason == memory_reason::being_written;
  return is_known_to_others && holder.count == 0 && answered.contains({holder.process, store});
}

auto key_of(const memory_holder& holder) {
  return std::tie(holder.reason, holder.process, holder.link, holder.peer, holder.object, holder.to, holder.where);
}

/// Adds a holder; two nodes of one process may report the same one.
void add_holder(std::vector<memory_holder>& to, memory_holder&& holder) {
  const auto known = std::ranges::find_if(to, [&](const auto& each) { return key_of(each) == key_of(holder); });
  if (known == to.end()) {
    to.push_back(std::move(holder));
    return;
  }
  known->count = std::max(known->count, holder.count);
  known->age_ms = std::max(known->age_ms, holder.age_ms);
}

/// Merges two rows of one object. A part that has the object in its store knows more than the others.
void add_object(memory_object& to, memory_object&& from) {
  if (to.store.empty() && !from.store.empty()) {
    auto holders = std::move(to.holders);
    std::swap(to.object, from.object); // Equal texts; combined() has a view of this one.
    to = std::move(from);
    from.holders = std::move(holders);
  }
  for (auto& each : from.holders)
    add_holder(to.holders, std::move(each));
}

void add_processes(const store::object_row& row, pid_t own, std::vector<memory_holder>& to) {
  const auto reason = row.state == store::object_state::writing ? memory_reason::being_written : memory_reason::handle;
  for (const auto each : row.holders) {
    const auto process = static_cast<std::uint32_t>(each);
    const auto is_own = each == own;
    const auto is_pinned = std::ranges::find(row.pinned_by, each) != row.pinned_by.end();
    if (!is_own || row.own_handles > 0 || !is_pinned) // A pin has a handle of its own.
      to.push_back({.reason = reason, .process = process, .count = is_own ? row.own_handles : 0});
    if (is_pinned)
      to.push_back({.reason = memory_reason::pinned_view, .process = process, .count = is_own ? row.own_pins : 0});
  }
}

std::string text_of_age(std::int64_t milliseconds) {
  const auto seconds = milliseconds / 1000;
  if (seconds < 120)
    return grouped(static_cast<std::uint64_t>(seconds)) + " s";
  return grouped(static_cast<std::uint64_t>(seconds / 60)) + " min";
}

std::string text_of_link(const memory_holder& holder) {
  auto text = "link " + std::to_string(holder.link);
  return holder.peer.empty() ? text : text + " to " + holder.peer;
}

/// Returns the objects that nothing but cycles of objects keeps.
std::vector<const memory_object*> cycles(const memory_summary& summary) {
  const auto captured = [](const memory_holder& holder) { return holder.reason == memory_reason::captured; };
  // Most objects are captured by none, so they are in no cycle.
  std::unordered_map<std::string_view, const memory_object*> suspects;
  for (const auto& each : summary.objects)
    if (std::ranges::any_of(each.holders, captured))
      suspects.emplace(each.object, &each);
  if (suspects.empty())
    return {};
  std::unordered_map<std::string_view, const memory_object*> known;
  known.reserve(summary.objects.size());
  for (const auto& each : summary.objects)
    known.emplace(each.object, &each);
  std::unordered_map<std::string_view, std::vector<const memory_object*>> captured_in;
  std::vector<const memory_object*> reached;
  std::unordered_set<const memory_object*> is_active;
  for (const auto& [name, suspect] : suspects)
    for (const auto& holder : suspect->holders) {
      const auto outer = captured(holder) ? known.find(holder.object) : known.end();
      if (outer != known.end())
        captured_in[holder.object].push_back(suspect);
      // Kept by something that is no object, or by an object that something else keeps.
      const auto is_kept_by_it =
          outer == known.end() || (!suspects.contains(holder.object) && !outer->second->holders.empty());
      if (is_kept_by_it && is_active.insert(suspect).second)
        reached.push_back(suspect);
    }
  while (!reached.empty()) {
    const auto* outer = reached.back();
    reached.pop_back();
    for (const auto* inner : captured_in[outer->object])
      if (is_active.insert(inner).second)
        reached.push_back(inner);
  }
  std::vector<const memory_object*> result;
  for (const auto& each : summary.objects)
    if (suspects.contains(each.object) && !is_active.contains(&each))
      result.push_back(&each);
  return result;
}

/// Returns an empty text if nothing looks wrong.
std::string hint_at(const memory_holder& holder, std::chrono::milliseconds old) {
  const auto is_old = holder.age_ms >= old.count();
  const auto since = [&] { return " for " + text_of_age(holder.age_ms); };
  const auto process = [&] { return "process " + std::to_string(holder.process); };
  switch (holder.reason) {
  case memory_reason::out_of_band:
    return process() + " serialized a reference to it outside of a message (" + holder.where
           + "): it stays until the node ends; send references in messages, where they are counted";
  case memory_reason::exported:
    if (is_old)
      return process() + " has it exported on " + text_of_link(holder) + since()
             + ": the peer still has a reference; to find its holder, ask there (`troupe memory --node` of the peer)";
    break;
  case memory_reason::lost_link:
    if (is_old)
      return process() + " keeps it for a peer whose link is lost" + since()
             + "; node_options::handle_grace says how long";
    break;
  case memory_reason::pending_message:
    if (is_old)
      return "a message that came over " + text_of_link(holder) + " names it and has not been handled" + since()
             + ": the receiver is slow, blocked, or skips it";
    break;
  case memory_reason::queued_message:
    if (is_old)
      return "a message that names it waits for room on " + text_of_link(holder) + since()
             + ": the peer consumes nothing";
    break;
  default:
    break;
  }
  return {};
}

} // namespace

std::string_view to_string(memory_reason reason) {
  switch (reason) {
  case memory_reason::handle:
    return "handle";
  case memory_reason::pinned_view:
    return "pinned view";
  case memory_reason::being_written:
    return "being written";
  case memory_reason::captured:
    return "captured";
  case memory_reason::in_flight:
    return "in flight";
  case memory_reason::exported:
    return "exported";
  case memory_reason::lost_link:
    return "lost link";
  case memory_reason::pending_message:
    return "pending message";
  case memory_reason::queued_message:
    return "queued message";
  case memory_reason::fetched:
    return "fetched";
  case memory_reason::out_of_band:
    return "out of band";
  }
  return "unknown";
}

/// The objects are in the order of the table's rows.
memory_summary memory_of(const store::store_summary& known) {
  memory_summary result;
  result.objects.reserve(known.rows.size());
  const auto own = ::getpid();
  for (const auto& row : known.rows) {
    auto& made = result.objects.emplace_back();
    made.object = to_string(row.id);
    made.store = known.name;
    made.state = to_string(row.state);
    made.call_site = row.call_site;
    made.creator = static_cast<std::uint32_t>(row.creator);
    made.size_bytes = row.size_bytes;
    made.age_ms = std::chrono::duration_cast<std::chrono::milliseconds>(row.age).count();
    add_processes(row, own, made.holders);
    for (const auto& each : row.captured_by)
      made.holders.push_back({.reason = memory_reason::captured, .count = 1, .object = to_string(each)});
    for (const auto& each : row.in_flight)
      made.holders.push_back({.reason = memory_reason::in_flight,
                              .process = static_cast<std::uint32_t>(each.from),
                              .count = each.count,
                              .to = static_cast<std::uint32_t>(each.to)});
  }
  return result;
}

memory_summary combined(std::vector<memory_summary> parts) {
  memory_summary result;
  answered_processes answered;
  std::size_t objects = 0;
  for (const auto& part : parts)
    objects += part.objects.size();
  result.objects.reserve(objects); // Keeps the views of names valid.
  std::unordered_map<std::string_view, std::size_t> places;
  places.reserve(objects);
  for (auto& part : parts) {
    for (auto& each : part.processes) {
      if (each.problem.empty())
        answered.emplace(each.process, each.store);
      result.processes.push_back(std::move(each));
    }
    for (auto& each : part.objects) {
      if (const auto known = places.find(each.object); known != places.end()) {
        add_object(result.objects[known->second], std::move(each));
        continue;
      }
      auto& made = result.objects.emplace_back(std::move(each));
      places.emplace(made.object, result.objects.size() - 1);
      if (made.holders.size() > 1)
        for (auto& holder : std::exchange(made.holders, {}))
          add_holder(made.holders, std::move(holder));
    }
    result.objects_left_off += part.objects_left_off;
    result.bytes_left_off += part.bytes_left_off;
  }
  for (auto& each : result.objects)
    std::erase_if(each.holders, [&](const auto& holder) { return is_said_better(holder, each.store, answered); });
  static_cast<void>(internal::put_largest_first(result.objects));
  return result;
}

std::vector<memory_hint> leak_hints(const memory_summary& summary, std::chrono::milliseconds old) {
  std::vector<memory_hint> result;
  for (const auto* each : cycles(summary))
    result.push_back({each->object, "held only by objects that it holds itself (a cycle): it is unreachable, and stays "
                                    "until its store is removed"});
  for (const auto& each : summary.objects)
    for (const auto& holder : each.holders)
      if (auto text = hint_at(holder, old); !text.empty())
        result.push_back({each.object, std::move(text)});
  return result;
}

} // namespace troupe
