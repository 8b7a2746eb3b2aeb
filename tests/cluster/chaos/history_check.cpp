#include "history_check.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

namespace troupe::tests {

namespace {

using kind = history_event::kind;
using time_point = history_event::clock::time_point;
using namespace std::chrono_literals;

/// An owner by what it owns and its number.
using tenure = std::pair<std::string, std::uint64_t>;

std::string shown(const tenure& of) {
  return of.first + " with the number " + std::to_string(of.second);
}

std::string milliseconds_between(time_point from, time_point to) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(to - from).count()) + " ms";
}

class history_checker {
public:
  history_checker(std::span<const history> all, const history_expectations& expected)
      : all_(all), expected_(expected) {}

  std::vector<std::string> check() {
    check_order();
    check_owners();
    check_sureness();
    check_acceptances();
    for (const auto& one : all_)
      check_requests(one);
    check_recovery();
    for (const auto& one : all_)
      check_counts(one);
    check_handling();
    check_states();
    return std::move(broken_);
  }

private:
  template <class Handler>
  void for_each(kind what, Handler handle) const {
    for (const auto& one : all_)
      for (const auto& event : one.events)
        if (event.what == what)
          handle(one, event);
  }

  void check_order() {
    for (const auto& one : all_) {
      std::map<std::string, std::uint64_t> highest;
      for (const auto& event : one.events) {
        if (event.what != kind::accepted)
          continue;
        auto& before = highest[event.name];
        if (event.fence < before)
          broken_.push_back(one.run + " accepted an act of " + shown({event.name, event.fence}) + " after one with "
                            + std::to_string(before));
        before = std::max(before, event.fence);
      }
    }
  }

  void check_owners() {
    std::map<tenure, std::string> owners;
    for_each(kind::owns, [&](const history& by, const history_event& event) {
      const tenure owned{event.name, event.fence};
      const auto [found, is_new] = owners.emplace(owned, by.run);
      if (!is_new)
        broken_.push_back(by.run + " became the owner of " + shown(owned) + ", as " + found->second + " did before");
    });
    for_each(kind::acted, [&](const history& by, const history_event& event) {
      const tenure owned{event.name, event.fence};
      if (const auto found = owners.find(owned); found == owners.end() || found->second != by.run)
        broken_.push_back(by.run + " acted as the owner of " + shown(owned) + ", but "
                          + (found == owners.end() ? "nobody" : found->second) + " was that");
    });
  }

  /// A next owner knows of its ownership at the earliest when the directory has committed it.
  void check_sureness() {
    std::map<std::string, std::map<std::uint64_t, time_point>> begins; // By name and number.
    for_each(kind::owns,
             [&](const history&, const history_event& event) { begins[event.name].emplace(event.fence, event.at); });
    for (auto& [name, of_name] : begins) { // The earliest of all later owners.
      time_point earliest = time_point::max();
      for (auto one = of_name.rbegin(); one != of_name.rend(); ++one)
        one->second = earliest = std::min(earliest, one->second);
    }
    for_each(kind::acted, [&](const history& by, const history_event& event) {
      if (!event.is_sure)
        return;
      const auto& of_name = begins[event.name];
      const auto next = of_name.upper_bound(event.fence);
      if (next != of_name.end() && event.begun > next->second)
        broken_.push_back(by.run + " was sure to own " + shown({event.name, event.fence}) + " "
                          + milliseconds_between(next->second, event.begun) + " after a later owner had begun");
    });
  }

  void check_acceptances() {
    using act = std::tuple<std::string, std::uint64_t, std::uint64_t>;
    std::set<act> done;
    std::set<act> accepted;
    for_each(kind::acted,
             [&](const history&, const history_event& event) { done.emplace(event.name, event.fence, event.number); });
    for_each(kind::accepted, [&](const history& by, const history_event& event) {
      const act one{event.name, event.fence, event.number};
      const auto text = "the act " + std::to_string(event.number) + " of " + shown({event.name, event.fence});
      if (!done.contains(one))
        broken_.push_back(by.run + " accepted " + text + ", which nobody did");
      if (!accepted.insert(one).second)
        broken_.push_back(by.run + " accepted " + text + " again");
    });
  }

  void check_requests(const history& of) {
    using request = std::pair<std::string, std::uint64_t>;
    std::map<request, const history_event*> open;
    std::set<request> closed;
    const auto is_excused = expected_.disturbed.contains(of.run);
    for (const auto& event : of.events) {
      if (event.what == kind::asked)
        open.emplace(request{event.name, event.number}, &event);
      if (event.what != kind::answered && event.what != kind::failed)
        continue;
      const auto text = "the request " + std::to_string(event.number) + " of " + of.run + " to " + event.name;
      const request which{event.name, event.number};
      const auto found = open.find(which);
      if (found == open.end()) {
        broken_.push_back(text + (closed.contains(which) ? " was answered twice" : " was answered, not made"));
        continue;
      }
      if (event.at - found->second->at > expected_.answer_within && !is_excused)
        broken_.push_back(text + " was answered after " + milliseconds_between(found->second->at, event.at));
      if (event.what == kind::failed
          && std::ranges::none_of(expected_.errors, [&](const auto& one) { return event.text.starts_with(one); }))
        broken_.push_back(text + " failed after " + milliseconds_between(found->second->at, event.at)
                          + " with an error that has no name: " + event.text);
      open.erase(found);
      closed.insert(which);
    }
    if (!is_excused)
      for (const auto& [which, event] : open)
        broken_.push_back("the request " + std::to_string(which.second) + " of " + of.run + " to " + which.first
                          + " was not answered");
  }

  void check_recovery() {
    if (!expected_.healed)
      return;
    std::map<std::string, time_point> first;
    for_each(kind::answered, [&](const history&, const history_event& event) {
      if (event.at < *expected_.healed)
        return;
      const auto [found, is_new] = first.emplace(event.name, event.at);
      found->second = std::min(found->second, event.at);
    });
    for (const auto& name : expected_.answering)
      if (const auto found = first.find(name); found == first.end())
        broken_.push_back(name + " has not answered since the faults ended");
      else if (found->second - *expected_.healed > expected_.recovery)
        broken_.push_back(name + " answered " + milliseconds_between(*expected_.healed, found->second)
                          + " after the faults had ended, not within " + std::to_string(expected_.recovery.count())
                          + " ms");
  }

  /// The actors of one entity under one number come one after the other, and each counts on from its state.
  void check_counts(const history& of) {
    std::map<tenure, std::uint64_t> counts;
    for (const auto& event : of.events)
      if (event.what == kind::made)
        counts[{event.name, event.fence}] = event.number;
      else if (event.what == kind::handled)
        if (const auto expected = ++counts[{event.name, event.fence}]; event.text != std::to_string(expected))
          broken_.push_back(of.run + " handled a request as " + shown({event.name, event.fence}) + " as the one number "
                            + event.text + ", and it was the one number " + std::to_string(expected));
  }

  void check_handling() {
    using sender = std::pair<std::string, std::string>; // The entity and the process that sent.
    std::map<sender, std::set<std::uint64_t>> failed;
    for_each(kind::failed, [&](const history& of, const history_event& event) {
      failed[{event.name, of.run}].insert(event.number);
    });
    std::map<sender, std::vector<const history_event*>> handled;
    std::map<sender, std::set<std::uint64_t>> numbers; // Of those.
    std::set<std::string> entities;
    for_each(kind::made, [&](const history&, const history_event& event) { entities.insert(event.name); });
    for_each(kind::handled, [&](const history&, const history_event& event) {
      handled[{event.name, event.by}].push_back(&event);
    });
    for (auto& [from, requests] : handled) {
      std::ranges::stable_sort(requests, {}, [](const auto* each) { return std::pair{each->fence, each->at}; });
      auto& seen = numbers[from];
      std::uint64_t last = 0;
      for (const auto* const each : requests) {
        const auto text = from.first + " handled the request " + std::to_string(each->number) + " of " + from.second;
        if (!seen.insert(each->number).second)
          broken_.push_back(text + " twice");
        if (failed[from].contains(each->number))
          continue;
        if (each->number < last && expected_.keeps_order)
          broken_.push_back(text + " after " + std::to_string(last));
        last = std::max(last, each->number);
      }
    }
    for_each(kind::answered, [&](const history& of, const history_event& event) {
      if (!entities.contains(event.name))
        return;
      if (!numbers[{event.name, of.run}].contains(event.number))
        broken_.push_back("the request " + std::to_string(event.number) + " of " + of.run + " to " + event.name
                          + " was answered, and not handled");
    });
    if (expected_.is_orderly)
      for_each(kind::failed, [&](const history& of, const history_event& event) {
        if (entities.contains(event.name) && !expected_.disturbed.contains(of.run))
          broken_.push_back("the request " + std::to_string(event.number) + " of " + of.run + " to " + event.name
                            + " failed, although all members left in order: " + event.text);
      });
  }

  void check_states() {
    struct life {
      std::uint64_t fence;
      time_point begun;
      time_point at;
      std::uint64_t first; // What it has begun with.
      std::uint64_t last;
      std::string run;
    };
    std::map<std::string, std::vector<life>> lives;
    std::map<std::string, std::vector<const history_event*>> saves;
    for (const auto& one : all_) {
      std::map<tenure, std::size_t> present; // In lives.
      for (const auto& event : one.events)
        if (event.what == kind::made) {
          auto& of_name = lives[event.name];
          present[{event.name, event.fence}] = of_name.size();
          of_name.push_back({event.fence, event.begun, event.at, event.number, event.number, one.run});
        } else if (event.what == kind::handled) {
          if (const auto of = present.find({event.name, event.fence}); of != present.end())
            ++lives[event.name][of->second].last;
        } else if (event.what == kind::saved) {
          saves[event.name].push_back(&event);
        }
    }
    for (auto& [name, of_name] : lives) {
      std::ranges::stable_sort(of_name, {}, [](const auto& each) { return std::pair{each.fence, each.at}; });
      for (const auto& each : of_name)
        if (const auto* const save = last_save(saves[name], each.begun); save != nullptr && save->number > each.first)
          broken_.push_back(each.run + " began " + shown({name, each.fence}) + " with " + std::to_string(each.first)
                            + " requests, and " + std::to_string(save->number) + " had been saved");
      if (expected_.is_orderly)
        for (std::size_t i = 0; i < of_name.size(); ++i)
          if (const auto before = i == 0 ? 0 : of_name[i - 1].last; of_name[i].first != before)
            broken_.push_back(of_name[i].run + " began " + shown({name, of_name[i].fence}) + " with "
                              + std::to_string(of_name[i].first) + " requests, and " + std::to_string(before)
                              + " had been handled before");
    }
    for (const auto& [name, of_name] : saves) {
      const history_event* last = nullptr;
      for (const auto* const now : of_name) {
        if (last != nullptr && last->number > now->number) {
          const auto loaded = std::ranges::find(lives[name], now->fence, &life::fence);
          if (last->fence == now->fence || loaded == lives[name].end() || last->at < loaded->begun)
            broken_.push_back(shown({name, now->fence}) + " was saved with " + std::to_string(now->number)
                              + " requests after " + std::to_string(last->number));
        }
        last = now;
      }
    }
  }

  /// Before that time.
  static const history_event* last_save(const std::vector<const history_event*>& all, time_point before) {
    const auto end = std::ranges::lower_bound(all, before, {}, &history_event::at);
    return end == all.begin() ? nullptr : *std::prev(end);
  }

  const std::span<const history> all_;
  const history_expectations& expected_;
  std::vector<std::string> broken_;
};

} // namespace

std::vector<std::string> broken_promises(std::span<const history> all, const history_expectations& expected) {
  return history_checker{all, expected}.check();
}

history_totals totals_of(std::span<const history> all) {
  history_totals totals;
  for (const auto& one : all)
    for (const auto& event : one.events) {
      totals.owners += event.what == kind::owns ? 1 : 0;
      totals.acts += event.what == kind::acted ? 1 : 0;
      totals.accepted += event.what == kind::accepted ? 1 : 0;
      totals.refused += event.what == kind::refused ? 1 : 0;
      totals.asked += event.what == kind::asked ? 1 : 0;
      totals.answered += event.what == kind::answered ? 1 : 0;
      totals.failed += event.what == kind::failed ? 1 : 0;
      totals.made += event.what == kind::made ? 1 : 0;
      totals.handled += event.what == kind::handled ? 1 : 0;
      totals.saved += event.what == kind::saved ? 1 : 0;
    }
  return totals;
}

std::string to_string(const history_totals& totals) {
  std::ostringstream text;
  text << totals.owners << " owners, " << totals.acts << " acts, " << totals.accepted << " accepted, " << totals.refused
       << " refused; " << totals.asked << " requests, " << totals.answered << " answered, " << totals.failed
       << " failed; " << totals.made << " entities made, " << totals.handled << " requests handled, " << totals.saved
       << " states saved";
  return text.str();
}

} // namespace troupe::tests
