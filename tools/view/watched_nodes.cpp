#include "view/watched_nodes.hpp"

#include "memory/asking.hpp"
#include "view/members.hpp"

#include <troupe/base/fnv1a.hpp>

#include <fmt/format.h>

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

std::int64_t whole_ms(std::chrono::steady_clock::duration of) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(of).count();
}

/// A key that no other node has, also in another run of the view. A node's local query address is random. At any other
/// address the node is told from later ones by its process and its beginning.
std::string key_of(const watched_address& at, const node_report& report) {
  auto own = at.where.address + '\n' + at.identity;
  if (at.where.process == 0) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    own += '\n' + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count() - report.age_ms);
  }
  return fmt::format("n{}-{:016x}", report.process, detail::fnv1a(own));
}

/// Until it answers. A node without an answer takes no orders.
std::string key_of(const watched_address& at) {
  return fmt::format("a{:016x}", detail::fnv1a(at.where.address));
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
  const std::lock_guard guard{mutex_};
  for (auto& [address, each] : nodes_)
    each->is_listed = false;
  for (auto& each : now) {
    auto& known = nodes_[each.where.address];
    if (!known)
      known = std::make_shared<watched>();
    known->is_listed = true;
    known->unlisted_since.reset();
    known->at = std::move(each);
    if (known->shown.key.empty()) {
      known->shown.key = key_of(known->at);
      known->shown.address = known->at.where.address;
      known->shown.report.process = known->at.where.process; // Until it answers, as the next one.
      known->shown.report.name = known->at.member;
    }
  }
}

/// Runs on a thread of its own.
void watched_nodes::ask(const watched_pointer& whom, std::chrono::milliseconds timeout) {
  watched_address at;
  std::optional<link> over;
  {
    const std::lock_guard guard{mutex_};
    at = whom->at;
    over = whom->over;
  }
  if (!over || !over->is_open()) {
    auto connected = client_.connect(at.where.address, at.identity);
    if (!connected)
      return fail(*whom, connected.error(), is_none_of_ours(at.where, connected.error()));
    over = *std::move(connected);
  }
  const auto asked = clock::now();
  auto answer = over->report(timeout, {});
  if (answer)
    take(*whom, *over, *std::move(answer), asked);
  else
    fail(*whom, answer.error(), false);
}

void watched_nodes::take(watched& whom, const link& over, node_report report, time asked) {
  constexpr std::chrono::milliseconds imprecision{20};
  const std::lock_guard guard{mutex_};
  auto& last = whom.shown.report;
  const auto is_first = !whom.answered;
  // The same node has become older meanwhile, at least by the time from its last answer to this question.
  const auto is_another = !is_first
                          && (report.process != last.process
                              || std::chrono::milliseconds(report.age_ms) + imprecision
                                     < std::chrono::milliseconds(last.age_ms) + (asked - *whom.answered));
  if (is_another) {
    whom.shown.state = viewed_state::lost;
    whom.shown.problem = "another node has its address now";
    ended_.push_back({whom.shown, asked});
    whom.after = {};
  }
  if (is_first || is_another)
    whom.shown.key = key_of(whom.at, report);
  whom.over = over;
  whom.shown.report = std::move(report);
  whom.shown.problem.clear();
  whom.is_none_of_ours = false;
  whom.answered = clock::now();
  whom.silent_since.reset();
  whom.is_asked = false;
  answered_.notify_all();
}

void watched_nodes::fail(watched& whom, const node_error& why, bool is_none_of_ours) {
  const std::lock_guard guard{mutex_};
  whom.shown.problem = explained(whom.at, why);
  whom.is_none_of_ours = is_none_of_ours;
  whom.is_asked = false;
  answered_.notify_all();
}

/// Also of nodes that are asked for the first time, so that the first look is not empty.
void watched_nodes::wait_for(const std::vector<watched_pointer>& known, const std::vector<watched_pointer>& fresh,
                             std::chrono::milliseconds timeout, std::unique_lock<std::mutex>& guard) {
  const auto none_is_asked = [](const std::vector<watched_pointer>& of) {
    return [&] { return std::ranges::none_of(of, [](const auto& each) { return each->is_asked; }); };
  };
  const auto now = clock::now();
  answered_.wait_until(guard, now + patience, none_is_asked(known));
  answered_.wait_until(guard, now + timeout, none_is_asked(fresh));
}

void watched_nodes::note_state(watched& whom) {
  const auto now = clock::now();
  auto& shown = whom.shown;
  shown.report_age_ms = whom.answered ? whole_ms(now - *whom.answered) : 0;
  if (!whom.is_listed) {
    if (!whom.unlisted_since)
      whom.unlisted_since = now;
    whom.over.reset();
    shown.state = viewed_state::lost;
    shown.state_ms = whole_ms(now - *whom.unlisted_since);
    shown.problem = whom.at.member.empty() ? "the process has ended" : "the member has left the cluster";
    return;
  }
  const auto waited = whom.silent_since ? now - *whom.silent_since : clock::duration{};
  const auto is_silent = !shown.problem.empty() || !whom.answered || waited >= slow_max;
  shown.state = is_silent ? viewed_state::silent : viewed_state::open;
  shown.state_ms = is_silent ? whole_ms(waited) : 0;
}

/// A member of the cluster may be a node of this host as well. Then the address of the host's node counts, also if the
/// member's address asks for credentials that the view does not have.
void watched_nodes::leave_out_twins() {
  std::set<std::pair<std::string, std::uint32_t>> here;
  std::set<std::string> names;
  for (const auto& [address, each] : nodes_)
    if (each->at.where.process != 0 && each->shown.report.process != 0) {
      here.emplace(each->shown.report.name, each->shown.report.process);
      names.insert(each->shown.report.name);
    }
  for (auto& [address, each] : nodes_)
    if (each->at.where.process == 0 && !each->at.member.empty())
      each->is_none_of_ours =
          here.contains({each->shown.report.name, each->shown.report.process})
          || (each->at.is_here && each->shown.state != viewed_state::open && names.contains(each->at.member));
}

view_snapshot watched_nodes::look(std::chrono::milliseconds timeout) {
  view_snapshot made;
  find(made.problems);
  std::vector<watched_pointer> known;
  std::vector<watched_pointer> fresh;
  std::vector<watched_pointer> to_ask;
  std::unique_lock guard{mutex_};
  for (auto& [address, each] : nodes_) {
    if (!each->is_listed || each->is_asked) // Nobody waits for a node that has not answered the last question yet.
      continue;
    each->is_asked = true;
    if (!each->silent_since) {
      each->silent_since = clock::now();
      (each->answered ? known : fresh).push_back(each);
    }
    to_ask.push_back(each);
  }
  guard.unlock();
  for (const auto& each : to_ask)
    calls_.run([this, each, timeout] { ask(each, timeout); });
  guard.lock();
  wait_for(known, fresh, timeout, guard);
  for (auto& [address, each] : nodes_)
    note_state(*each);
  const auto now = clock::now();
  std::erase_if(nodes_, [&](const auto& each) {
    const auto& node = *each.second;
    // A process that ended before it had answered has nothing to show.
    return !node.is_listed
           && ((!node.answered && node.at.member.empty()) || node.is_none_of_ours
               || now - *node.unlisted_since > lost_for);
  });
  std::erase_if(ended_, [&](const ended_node& each) { return now - each.since > lost_for; });
  leave_out_twins();
  for (const auto& [address, each] : nodes_)
    if (!each->is_none_of_ours)
      made.nodes.push_back(each->shown);
  for (auto& each : ended_) {
    each.shown.state_ms = whole_ms(now - each.since);
    made.nodes.push_back(each.shown);
  }
  guard.unlock();
  if (asked_.cluster)
    made.cluster = cluster();
  return made;
}

/// What the directory says, and why the nodes of members tell nothing.
viewed_cluster watched_nodes::cluster() const {
  auto made = asked_.cluster->now();
  const std::lock_guard guard{mutex_};
  for (const auto& [address, each] : nodes_) {
    if (each->at.member.empty() || each->shown.state == viewed_state::open || each->is_none_of_ours)
      continue;
    const auto found = std::ranges::find(made.members, each->at.member, &viewed_member::name);
    if (found != made.members.end())
      found->problem = each->shown.problem;
  }
  return made;
}

/// Copies, which are safe to read without the lock.
std::vector<watched_nodes::watched_pointer> watched_nodes::open_nodes() const {
  std::vector<watched_pointer> made;
  const std::lock_guard guard{mutex_};
  for (const auto& [address, each] : nodes_)
    if (each->over && each->shown.state == viewed_state::open && !each->is_none_of_ours)
      made.push_back(std::make_shared<watched>(*each));
  return made;
}

memory_summary watched_nodes::memory(std::chrono::milliseconds timeout) {
  const auto asked = open_nodes();
  std::vector<memory_summary> parts(asked.size());
  ask_each(asked.size(), [&](std::size_t i) {
    auto answer = asked[i]->over->memory_summary(timeout, {.objects_max = objects_max, .whole_store = false});
    if (answer)
      parts[i] = *std::move(answer);
    else
      parts[i].processes.push_back(
          {asked[i]->shown.report.process, asked[i]->shown.report.name, {}, answer.error().message()});
  });
  {
    const std::lock_guard guard{mutex_};
    for (const auto& [address, each] : nodes_)
      if (each->shown.state == viewed_state::silent && !each->is_none_of_ours)
        parts.emplace_back().processes.push_back(
            {each->shown.report.process, each->shown.report.name, {}, each->shown.problem});
  }
  if (!asked_.addresses.empty())
    return combined(std::move(parts));
  return with_stores(std::move(parts), "/dev/shm", objects_max);
}

std::vector<viewed_activity> watched_nodes::activity(std::chrono::milliseconds timeout) {
  const auto asked = open_nodes();
  std::vector<viewed_activity> made(asked.size());
  ask_each(asked.size(), [&](std::size_t i) {
    const auto& whom = *asked[i];
    made[i].key = whom.shown.key;
    auto answer = whom.over->activity(whom.after, timeout);
    if (!answer) {
      made[i].now.name = whom.shown.report.name;
      made[i].problem = answer.error().message();
      return;
    }
    told(whom, *answer);
    made[i].now = *std::move(answer);
  });
  return made;
}

/// So that it tells only the rest next time.
void watched_nodes::told(const watched& by, const node_activity& what) {
  const std::lock_guard guard{mutex_};
  const auto found = nodes_.find(by.shown.address);
  if (found == nodes_.end() || found->second->shown.key != by.shown.key)
    return; // Another node has its address now.
  auto& after = found->second->after;
  if (!what.letters.empty())
    after.letters_after = what.letters.back().number;
  if (!what.spans.empty())
    after.spans_after = what.spans.back().number;
}

std::expected<void, node_error> watched_nodes::act(const view_order& given, const std::string&,
                                                   std::chrono::milliseconds timeout) {
  std::optional<link> over;
  {
    const std::lock_guard guard{mutex_};
    for (const auto& [address, each] : nodes_)
      if (each->shown.key == given.node)
        over = each->over;
  }
  if (!over)
    return std::unexpected{node_error{node_errc::not_found, "view: the node has ended, or does not answer"}};
  return over->order(given.order, timeout);
}

} // namespace troupe::tools
