#include "view/watched_nodes.hpp"

#include "memory/asking.hpp"
#include "view/members.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace troupe::tools {

namespace {

constexpr std::uint64_t objects_max = 2'000;

/// Why a member of a cluster does not answer, and what to do about it.
std::string explained(const watched_address& at, const node_error& why) {
  if (at.member.empty())
    return why.message();
  const auto with = [&](const std::string& advice) { return why.message() + ". " + advice; };
  switch (why.code()) {
  case node_errc::refused:
  case node_errc::bad_option:
    return with("Give the view the members' credentials: --secret-file, or --authority, --certificate and --key");
  case node_errc::not_allowed:
    return with("Allow reports at that node: accepted_links.allow_report, or a role that has this right");
  case node_errc::cannot_connect:
  case node_errc::timed_out:
  case node_errc::link_down:
    return with("Is its host up, and may this host connect to it? `troupe cluster doctor` examines each address");
  default:
    return why.message();
  }
}

} // namespace

watched_nodes::watched_nodes(client& by, settings asked) : client_(by), asked_(std::move(asked)) {}

void watched_nodes::find(std::vector<std::string>& problems) {
  std::vector<watched_address> now;
  if (auto found = nodes_at(asked_.addresses))
    for (auto& each : *found)
      now.push_back({std::move(each)});
  else
    problems.push_back("This host's nodes cannot be found: " + found.error().message()
                       + ". Name the addresses of nodes: troupe view ADDRESS");
  if (asked_.cluster)
    std::ranges::move(asked_.cluster->addresses(), std::back_inserter(now));
  for (auto& [address, each] : nodes_)
    each.is_listed = false;
  for (auto& each : now) {
    auto& known = nodes_[each.where.address];
    known.is_listed = true;
    known.at = std::move(each);
    if (known.shown.key.empty()) {
      known.shown.key = "n" + std::to_string(++keys_);
      known.shown.address = known.at.where.address;
      known.shown.report.process = known.at.where.process; // Until it answers, as the next one.
      known.shown.report.name = known.at.member;
    }
  }
}

void watched_nodes::ask(watched& whom, std::chrono::milliseconds timeout) const {
  const auto now = std::chrono::steady_clock::now();
  const auto note = [&](viewed_state state, std::string problem) {
    if (whom.shown.state != state || whom.since == std::chrono::steady_clock::time_point{})
      whom.since = now;
    whom.shown.state = state;
    whom.shown.state_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - whom.since).count();
    whom.shown.problem = std::move(problem);
  };
  if (!whom.is_listed) {
    whom.over.reset();
    return note(viewed_state::lost,
                whom.at.member.empty() ? "the process has ended" : "the member has left the cluster");
  }
  if (!whom.over || !whom.over->is_open()) {
    auto connected = client_.connect(whom.at.where.address, whom.at.identity);
    if (!connected) {
      whom.over.reset();
      whom.is_none_of_ours = is_none_of_ours(whom.at.where, connected.error());
      return note(viewed_state::silent, explained(whom.at, connected.error()));
    }
    whom.over = *std::move(connected);
  }
  auto answer = whom.over->report(timeout, {});
  if (!answer)
    return note(viewed_state::silent, explained(whom.at, answer.error()));
  std::erase_if(answer->links, [](const link_report& each) { return each.peer == observer_name(); });
  whom.shown.report = *std::move(answer);
  whom.is_none_of_ours = false;
  note(viewed_state::open, {});
}

/// A member of the cluster may be a node of this host as well. Then the address of the host's node counts, also if the
/// member's address asks for credentials that the view does not have.
void watched_nodes::leave_out_twins() {
  std::set<std::pair<std::string, std::uint32_t>> here;
  std::set<std::string> names;
  for (const auto& [address, each] : nodes_)
    if (each.at.where.process != 0 && each.shown.report.process != 0) {
      here.emplace(each.shown.report.name, each.shown.report.process);
      names.insert(each.shown.report.name);
    }
  for (auto& [address, each] : nodes_)
    if (each.at.where.process == 0 && !each.at.member.empty())
      each.is_none_of_ours =
          here.contains({each.shown.report.name, each.shown.report.process})
          || (each.at.is_here && each.shown.state != viewed_state::open && names.contains(each.at.member));
}

view_snapshot watched_nodes::look(std::chrono::milliseconds timeout) {
  view_snapshot made;
  find(made.problems);
  std::vector<watched*> all;
  for (auto& [address, each] : nodes_)
    all.push_back(&each);
  ask_each(all.size(), [&](std::size_t i) { ask(*all[i], timeout); });
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(nodes_, [&](const auto& each) {
    const auto& node = each.second;
    // A process that ended before it had answered has nothing to show.
    return !node.is_listed && (node.shown.report.name.empty() || node.is_none_of_ours || now - node.since > lost_for);
  });
  leave_out_twins();
  for (const auto& [address, each] : nodes_)
    if (!each.is_none_of_ours)
      made.nodes.push_back(each.shown);
  if (asked_.cluster)
    made.cluster = cluster();
  return made;
}

/// What the directory says, and why the nodes of members tell nothing.
viewed_cluster watched_nodes::cluster() const {
  auto made = asked_.cluster->now();
  for (const auto& [address, each] : nodes_) {
    if (each.at.member.empty() || each.shown.state == viewed_state::open || each.is_none_of_ours)
      continue;
    const auto found = std::ranges::find(made.members, each.at.member, &viewed_member::name);
    if (found != made.members.end())
      found->problem = each.shown.problem;
  }
  return made;
}

memory_summary watched_nodes::memory(std::chrono::milliseconds timeout) {
  std::vector<watched*> asked;
  for (auto& [address, each] : nodes_)
    if (each.over && each.shown.state == viewed_state::open && !each.is_none_of_ours)
      asked.push_back(&each);
  std::vector<memory_summary> parts(asked.size());
  ask_each(asked.size(), [&](std::size_t i) {
    auto answer = asked[i]->over->memory_summary(timeout, {.objects_max = objects_max, .whole_store = false});
    if (answer)
      parts[i] = *std::move(answer);
    else
      parts[i].processes.push_back(
          {asked[i]->shown.report.process, asked[i]->shown.report.name, {}, answer.error().message()});
  });
  for (const auto& [address, each] : nodes_)
    if (each.shown.state == viewed_state::silent && !each.is_none_of_ours)
      parts.emplace_back().processes.push_back(
          {each.shown.report.process, each.shown.report.name, {}, each.shown.problem});
  if (!asked_.addresses.empty())
    return combined(std::move(parts));
  return with_stores(std::move(parts), "/dev/shm", objects_max);
}

std::vector<viewed_activity> watched_nodes::activity(std::chrono::milliseconds timeout) {
  std::vector<watched*> asked;
  for (auto& [address, each] : nodes_)
    if (each.over && each.shown.state == viewed_state::open && !each.is_none_of_ours)
      asked.push_back(&each);
  std::vector<viewed_activity> made(asked.size());
  ask_each(asked.size(), [&](std::size_t i) {
    auto& whom = *asked[i];
    made[i].key = whom.shown.key;
    auto answer = whom.over->activity(whom.after, timeout);
    if (!answer) {
      made[i].now.name = whom.shown.report.name;
      made[i].problem = answer.error().message();
      return;
    }
    if (!answer->letters.empty())
      whom.after.letters_after = answer->letters.back().number;
    if (!answer->spans.empty())
      whom.after.spans_after = answer->spans.back().number;
    std::erase_if(answer->lost_links, [](const lost_link& each) { return each.peer == observer_name(); });
    made[i].now = *std::move(answer);
  });
  return made;
}

std::expected<void, node_error> watched_nodes::act(const view_order& given, const std::string&,
                                                   std::chrono::milliseconds timeout) {
  const auto found =
      std::ranges::find_if(nodes_, [&](const auto& each) { return each.second.shown.key == given.node; });
  if (found == nodes_.end() || !found->second.over)
    return std::unexpected{node_error{node_errc::not_found, "view: the node has ended, or does not answer"}};
  return found->second.over->order(given.order, timeout);
}

} // namespace troupe::tools
