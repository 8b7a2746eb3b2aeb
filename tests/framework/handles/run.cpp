#include "run.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <random>
#include <sstream>

#include "last_words.hpp"
#include "liar.hpp"

namespace troupe::simulation {

namespace {

using kind = step_choice::kind;

struct weighed {
  kind what;
  unsigned weight;
  const char* name;
};

// clang-format off
constexpr auto table = std::to_array<weighed>({
    {kind::put, 30, "put"}, {kind::put_capturing, 12, "put_capturing"}, {kind::send, 120, "send"},
    {kind::send_to_nobody, 10, "send_to_nobody"}, {kind::send_everywhere, 6, "send_everywhere"}, {kind::pack, 12, "pack"}, {kind::admit, 6, "admit"},
    {kind::leave, 12, "leave"}, {kind::give_up, 4, "give_up"}, {kind::copy, 10, "copy"},
    {kind::drop, 90, "drop"}, {kind::fetch, 50, "fetch"}, {kind::cancel, 8, "cancel"},
    {kind::deliver, 300, "deliver"}, {kind::deliver_in_order, 160, "deliver_in_order"},
    {kind::send_chunk, 240, "send_chunk"}, {kind::make_room, 90, "make_room"}, {kind::fail_room, 3, "fail_room"},
    {kind::connect, 6, "connect"}, {kind::connect_wanted, 20, "connect_wanted"}, {kind::reconnect, 8, "reconnect"},
    {kind::cut, 4, "cut"}, {kind::cut_all, 4, "cut_all"},
    {kind::notice, 20, "notice"}, {kind::kill, 1, "kill"}, {kind::kill_within, 1, "kill_within"}, {kind::dial, 4, "dial"}, {kind::accept, 12, "accept"}, {kind::restart, 4, "restart"},
    {kind::freeze, 4, "freeze"}, {kind::thaw, 12, "thaw"}, {kind::pass, 10, "pass"}, {kind::tick, 20, "tick"},
    {kind::reap, 4, "reap"}, {kind::spill, 10, "spill"}, {kind::hand_over_trouble, 1, "hand_over_trouble"},
    {kind::adopt_trouble, 1, "adopt_trouble"}, {kind::forge, 30, "forge"}, {kind::tamper, 6, "tamper"},
    {kind::call_late, 10, "call_late"},
});
// clang-format on

constexpr std::size_t nodes_max = 40; // One bit per node in a node_mask.
constexpr std::size_t application_max = 24;

/// Executes the steps of a run in a world.
class player {
public:
  player(world& in, const run_plan& plan) : in_(in), plan_(plan) {
    auto seed = plan.seed;
    auto hosts = 2 + seed / 3 % 2;
    for (std::size_t host = 0; host < hosts; ++host) {
      in_.add_host();
      for (std::size_t each = 0; each < 2; ++each)
        in_.add_node(host);
    }
    if (plan.has_liar())
      in_.add_node(plan.liar_shares_store() ? 0 : in_.add_host(), true);
    for (node_index one = 0; one < in_.nodes.size(); ++one)
      for (node_index other = one + 1; other < in_.nodes.size(); ++other)
        if ((seed / 8 >> (one * 5 + other) % 40 & 3) != 0)
          in_.connect(one, other, may_share(one + other));
  }

  void make(const step_choice& what) {
    ++in_.step;
    perform(what);
    in_.check_all();
  }

private:
  void perform(const step_choice& what) {
    auto at = what.first % in_.nodes.size();
    auto& node = in_.nodes[at];
    if (!in_.active(at) && what.what < kind::deliver)
      return;
    switch (what.what) {
    case kind::put:
    case kind::put_capturing:
      return put(at, what);
    case kind::send:
    case kind::send_to_nobody:
    case kind::send_everywhere:
    case kind::pack:
      return send(at, what);
    case kind::admit:
      if (!node.waiting.empty())
        in_.admit(at, what.second % node.waiting.size());
      return;
    case kind::leave:
      if (!node.waiting.empty())
        (void)in_.leave(at, what.second % node.waiting.size());
      return;
    case kind::give_up:
      if (!node.waiting.empty())
        in_.give_up(at, what.second % node.waiting.size());
      return;
    case kind::copy:
    case kind::drop:
    case kind::fetch:
      return use_reference(at, what);
    case kind::cancel:
      if (!node.waits.empty())
        in_.cancel(at, std::next(node.waits.begin(), what.second % node.waits.size())->first);
      return;
    case kind::restart:
      return restart(what);
    case kind::connect:
    case kind::connect_wanted:
    case kind::dial:
      return connect(at, what);
    case kind::accept:
      return accept(what);
    case kind::reconnect:
      return reconnect(what);
    case kind::deliver:
    case kind::deliver_in_order:
    case kind::send_chunk:
    case kind::cut:
    case kind::cut_all:
    case kind::notice:
      return use_link(what);
    default:
      return trouble(at, what);
    }
  }

  void put(node_index at, const step_choice& what) {
    auto& application = in_.nodes[at].application;
    if (application.size() >= application_max)
      return;
    std::vector<held> captured;
    if (what.what == kind::put_capturing && !application.empty())
      for (std::uint32_t i = 0; i <= what.second % 3; ++i)
        captured.push_back(application[(what.second / 3 + i) % application.size()]);
    in_.put(at, 1 + what.third % 12, captured);
  }

  void send(node_index at, const step_choice& what) {
    auto& application = in_.nodes[at].application;
    std::vector<link_index> open;
    for (link_index each = 0; each < in_.links.size(); ++each)
      for (int end = 0; end < 2; ++end)
        if (in_.links[each].ends[end] == at && in_.links[each].up[end] && in_.links[each].has_ledger[end])
          open.push_back(each);
    if (open.empty() || application.empty())
      return;
    std::vector<held> content;
    for (std::uint32_t i = 0; i <= what.third % 4 / 2; ++i) // One handle or two; sometimes the same one twice.
      content.push_back(application[(what.third / 4 + i * (what.third % 2)) % application.size()]);
    auto over = open[what.second % open.size()];
    if (what.what == kind::send_everywhere)
      for (auto each : open)
        (void)in_.send(at, each, content);
    else if (what.what == kind::pack)
      (void)in_.pack(at, over, content);
    else
      (void)in_.send(at, over, content, what.what == kind::send);
  }

  void use_reference(node_index at, const step_choice& what) {
    auto& application = in_.nodes[at].application;
    if (application.empty())
      return;
    auto which = what.second % application.size();
    if (what.what == kind::drop)
      in_.drop(at, which);
    else if (what.what == kind::fetch)
      (void)in_.fetch(at, which, std::chrono::seconds(1 + what.third % 100));
    else if (application.size() < application_max)
      in_.copy(at, which);
  }

  void use_link(const step_choice& what) {
    if (in_.links.empty())
      return;
    auto over = what.first % in_.links.size();
    auto end = static_cast<int>(what.second % 2);
    for (std::size_t tried = 0; tried < in_.links.size(); ++tried) { // Looks for a link where something can happen.
      auto& link = in_.links[over];
      if (what.what == kind::notice ? link.is_cut && link.up[end]
          : what.what == kind::send_chunk || what.what == kind::cut || what.what == kind::cut_all
              ? !link.is_cut
              : !link.queues[end].empty() && link.up[end])
        break;
      end = 1 - end;
      if (tried % 2 == 1)
        over = (over + 1) % in_.links.size();
    }
    auto at = in_.links[over].ends[end];
    if (what.what == kind::cut)
      in_.cut(over);
    else if (what.what == kind::cut_all)
      while (auto still = in_.link_between(at, in_.links[over].ends[1 - end]))
        in_.cut(*still);
    else if (what.what == kind::notice)
      in_.notice(over, end);
    else if (what.what == kind::send_chunk)
      (void)in_.send_chunk(over, end);
    else
      (void)in_.deliver(over, end, what.what == kind::deliver_in_order);
    while (in_.nodes[at].application.size() > 2 * application_max)
      in_.drop(at, 0);
  }

  void connect(node_index at, const step_choice& what) {
    if (!in_.active(at))
      return;
    auto other = what.second % in_.nodes.size();
    if (what.what == kind::connect_wanted) {
      auto& wanted = in_.nodes[at].wanted_links;
      if (wanted.empty())
        return;
      auto chosen = wanted.begin() + static_cast<std::ptrdiff_t>(what.second % wanted.size());
      other = at;
      for (node_index each = 0; each < in_.nodes.size(); ++each)
        if (in_.nodes[each].name == *chosen)
          other = each;
      wanted.erase(chosen);
    }
    bool second_link = what.third % 4 == 0;
    if (other == at || !in_.active(other) || (!second_link && in_.link_between(at, other)))
      return;
    if (what.what == kind::dial)
      in_.dial(at, other, may_share(what.third));
    else
      in_.connect(at, other, may_share(what.third));
  }

  /// Tells an end of a link that only the other end knows yet.
  void accept(const step_choice& what) {
    std::vector<link_index> half_up;
    for (link_index each = 0; each < in_.links.size(); ++each)
      if (const auto& link = in_.links[each]; link.up[1] && !link.has_ledger[1])
        half_up.push_back(each);
    if (!half_up.empty())
      (void)in_.bring_up(half_up[what.first % half_up.size()], 1);
  }

  [[nodiscard]] bool may_share(std::size_t choice) const { return !plan_.mixes_sharing() || choice % 3 != 0; }

  /// Gives two nodes whose link was cut another one, whether or not they have seen the end of the first.
  void reconnect(const step_choice& what) {
    std::vector<link_index> severed;
    for (link_index each = 0; each < in_.links.size(); ++each) {
      const auto& link = in_.links[each];
      bool both_run = in_.active(link.ends[0]) && in_.active(link.ends[1]);
      if (link.is_cut && both_run && !in_.link_between(link.ends[0], link.ends[1]))
        severed.push_back(each);
    }
    if (severed.empty())
      return;
    const auto& ends = in_.links[severed[what.first % severed.size()]].ends;
    if (what.second % 4 == 0)
      in_.dial(ends[0], ends[1], may_share(what.third));
    else
      in_.connect(ends[0], ends[1], may_share(what.third));
  }

  void restart(const step_choice& what) {
    std::vector<node_index> dead;
    for (node_index each = 0; each < in_.nodes.size(); ++each) {
      bool again = std::ranges::any_of(in_.nodes, [&](const node& other) {
        return other.name.node == in_.nodes[each].name.node && other.name > in_.nodes[each].name;
      });
      if (in_.nodes[each].is == condition::dead && !again)
        dead.push_back(each);
    }
    if (!dead.empty() && in_.nodes.size() < nodes_max)
      in_.restart(dead[what.first % dead.size()]);
  }

  void trouble(node_index at, const step_choice& what) {
    switch (what.what) {
    case kind::kill:
      return in_.kill(at);
    case kind::kill_within:
      if (in_.active(at))
        in_.nodes[at].last_actions = what.second % 12;
      return;
    case kind::freeze:
      return in_.freeze(at);
    case kind::thaw:
      return in_.thaw(at);
    case kind::pass:
      return in_.pass(std::chrono::seconds(1 + what.second % 20));
    case kind::tick:
      if (!plan_.has_sleeper() || at != plan_.seed / 4 % 4 || what.third % 64 == 0)
        in_.tick(at);
      return;
    case kind::reap:
      return in_.reap(what.first % in_.stores.size());
    case kind::spill: {
      auto& store = in_.stores[what.first % in_.stores.size()];
      if (auto living = store.living(); !living.empty())
        store.spill(living[what.second % living.size()]);
      return;
    }
    case kind::hand_over_trouble:
      in_.hand_over_fails = what.first % 4 == 0;
      return;
    case kind::adopt_trouble:
      in_.adopting_fails = what.first % 4 == 0;
      return;
    case kind::make_room:
    case kind::fail_room:
      for (std::size_t tried = 0; tried < in_.nodes.size() && in_.nodes[at].due.empty(); ++tried)
        at = (at + 1) % in_.nodes.size();
      (void)in_.finish_room(at, what.what == kind::make_room);
      return;
    case kind::forge:
      return forge(in_, what.second, what.third);
    case kind::tamper:
      return tamper(in_, what.second, what.third);
    case kind::call_late:
      return in_.call_late(at, what.second, what.third);
    default:
      return;
    }
  }

  world& in_;
  const run_plan& plan_;
};

} // namespace

std::ostream& operator<<(std::ostream& out, const step_choice& what) {
  auto row = std::ranges::find(table, what.what, &weighed::what);
  return out << row->name << ' ' << what.first << ' ' << what.second << ' ' << what.third;
}

run_report& run_report::operator+=(const run_report& more) {
  steps += more.steps;
  adoptions += more.adoptions;
  reclaims += more.reclaims;
  came_round += more.came_round;
  came_home += more.came_home;
  handed_over += more.handed_over;
  losses += more.losses;
  answers += more.answers;
  finds += more.finds;
  put_unfinished += more.put_unfinished;
  finished += more.finished;
  return *this;
}

std::vector<step_choice> steps_of(const run_plan& plan) {
  std::mt19937_64 random{plan.seed};
  unsigned total = 0;
  for (const auto& each : table)
    total += each.weight;
  std::vector<step_choice> steps;
  while (steps.size() < plan.steps) {
    auto at = static_cast<unsigned>(random() % total);
    auto row = table.begin();
    while (at >= row->weight)
      at -= row++->weight;
    auto first = static_cast<std::uint32_t>(random());
    auto second = static_cast<std::uint32_t>(random());
    auto third = static_cast<std::uint32_t>(random());
    bool failure = row->what == kind::cut || row->what == kind::cut_all || row->what == kind::kill
                   || row->what == kind::kill_within || row->what == kind::freeze;
    bool disturbance =
        row->what == kind::pass || row->what == kind::hand_over_trouble || row->what == kind::adopt_trouble;
    if (!(plan.is_calm() && failure) && !(plan.is_timeless() && disturbance))
      steps.push_back({row->what, first % 0xffff, second % 0xffff, third % 0xffff});
  }
  return steps;
}

std::optional<run_failure> replay(const run_plan& plan, const std::vector<step_choice>& steps, run_report* report,
                                  std::ostream* story) {
  world made{{plan.how, plan.has_small_limits(), plan.writes_late()}};
  made.story = story;
  run_in_progress progress{plan, steps};
  try {
    player play{made, plan};
    for (std::size_t next = 0; next < steps.size(); ++next) {
      if (story != nullptr)
        *story << steps[next] << '\n';
      progress.at(next);
      play.make(steps[next]);
    }
    progress.at(steps.size());
    if (story != nullptr)
      *story << "everything is read, then dropped\n";
    if (plan.is_timeless() && !plan.has_liar() && !plan.has_small_limits()) {
      made.run_until_quiet();
      made.check_adopted();
    }
    made.read_everything();
    made.wind_up();
  } catch (const std::exception& why) { // Either `broken`, or an exception that the ledger must not throw.
    return run_failure{why.what(), steps};
  }
  if (report != nullptr)
    *report += {.steps = steps.size(),
                .adoptions = made.adoptions,
                .reclaims = made.reclaims,
                .losses = made.losses,
                .answers = made.answers.size(),
                .finds = made.finds,
                .came_round = made.came_round,
                .came_home = made.came_home,
                .handed_over = made.handed_over,
                .put_unfinished = made.put_unfinished,
                .finished = made.finished};
  return std::nullopt;
}

run_failure shrink(const run_plan& plan, run_failure failure) {
  std::int64_t steps_left = 5'000'000; // About ten seconds.
  const auto still_fails = [&](const std::vector<step_choice>& steps) {
    if (steps_left <= 0)
      return false;
    steps_left -= static_cast<std::int64_t>(steps.size()) + 100;
    auto again = replay(plan, steps);
    if (again)
      failure = *std::move(again);
    return again.has_value();
  };
  for (bool better = true; better;) {
    better = false;
    for (auto piece = failure.steps.size(); piece > 0; piece /= 2) {
      for (std::size_t at = 0; at < failure.steps.size();) {
        auto fewer = failure.steps;
        auto first = fewer.begin() + static_cast<std::ptrdiff_t>(at);
        fewer.erase(first, first + static_cast<std::ptrdiff_t>(std::min(piece, fewer.size() - at)));
        if (still_fails(fewer))
          better = true;
        else
          at += piece;
      }
    }
    for (std::size_t at = 0; at < failure.steps.size(); ++at) {
      for (auto choice : {&step_choice::first, &step_choice::second, &step_choice::third}) {
        auto simpler = failure.steps;
        if (std::exchange(simpler[at].*choice, 0) != 0 && still_fails(simpler))
          better = true;
      }
    }
  }
  return failure;
}

std::string story_of(const run_plan& plan, const run_failure& failure) {
  std::ostringstream out;
  out << failure.what << "\nrepeat it with TROUPE_SEED=" << plan.seed << "; " << failure.steps.size() << " steps:\n";
  (void)replay(plan, failure.steps, nullptr, &out);
  out << "broken: " << failure.what << '\n';
  return out.str();
}

} // namespace troupe::simulation
