// The tables of a ledger without the ledger, to test one of its parts.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <troupe/framework/internal/handles/books.hpp>

namespace troupe::internal::handles {

/// A store whose objects are five bytes long and whose holds are counted.
class counted_objects final : public local_objects {
public:
  void hold(const object_id& place) override { ++holds[place]; }
  void drop(const object_id& place) override {
    if (--holds.at(place) == 0)
      holds.erase(place);
  }
  [[nodiscard]] std::uint64_t size_of(const object_id&) const override { return 5; }
  [[nodiscard]] std::vector<object_id> captured_by(const object_id& place) const override {
    const auto known = captured.find(place);
    return known != captured.end() ? known->second : std::vector<object_id>{};
  }
  [[nodiscard]] home_name home_of(const object_id& place) override { return {place, 77}; }
  [[nodiscard]] bool hold_at_home(const home_name& which, std::uint64_t) override {
    if (which.proof != 77 || !holds.contains(which.name))
      return false;
    hold(which.name);
    return true;
  }
  [[nodiscard]] bool hand_over(const object_id& place, link_number) override {
    if (!is_busy)
      handed_over.push_back(place);
    return !is_busy;
  }
  [[nodiscard]] adoption adopt(const object_id& place, link_number) override {
    if (is_busy)
      return adoption::busy;
    if (in_flight[place] == 0)
      return adoption::absent;
    --in_flight[place];
    hold(place);
    return adoption::done;
  }

  std::map<object_id, std::uint64_t> holds;
  std::map<object_id, std::uint64_t> in_flight; // To this process.
  std::map<object_id, std::vector<object_id>> captured;
  std::vector<object_id> handed_over;
  bool is_busy = false;
};

/// Runs parts of a ledger within one event and checks the actions that they request.
class part_of_a_ledger : public testing::Test, protected entry_changes {
protected:
  static constexpr node_name self{1, 1};
  static constexpr node_name b{2, 1};
  static constexpr node_name c{3, 1};
  static constexpr object_id x{1, 1, 1};
  static constexpr object_id y{1, 2, 1};
  static constexpr std::uint64_t proxies = 99;

  part_of_a_ledger() { books_.clock.begin_event(); }

  link_record& link(link_number number, const node_name& peer, bool shares_store = false) {
    return *books_.links.add(number, peer, shares_store);
  }
  void lose(link_record& which) {
    which.phase = link_phase::grace;
    which.grace_ends.set(time_ + std::chrono::seconds(30));
  }
  /// Imports an object from a peer. Returns a reference to it, the only one.
  reference import(link_record& from, const object_id& name, handle_mode mode = handle_mode::mine) {
    const auto what = books_.entries.make(entry_state::remote);
    auto& made = books_.entries.at(what);
    made.link = from.number;
    made.name = name;
    made.mode = mode;
    made.size_bytes = 5;
    made.count = 1;
    books_.entries.refer(what);
    from.imports.emplace(name, what);
    return what;
  }
  entry& at(reference what) { return books_.entries.at(what); }
  void pass(std::chrono::nanoseconds how_long) {
    time_ += how_long;
    books_.clock.end_event();
    books_.clock.begin_event();
  }

  /// Returns the actions requested since the last call, as text.
  std::vector<std::string> wanted() {
    std::vector<std::string> result;
    for (const auto& each : books_.actions.take())
      result.push_back(std::visit([](const auto& what) { return told(what); }, each));
    return result;
  }
  using words = std::vector<std::string>;

  // entry_changes
  void move_to(reference what, reference target) override {
    moves_.emplace_back(what, target);
    books_.entries.unrefer(target);
  }
  void has_come(reference what) override { came_.push_back(what); }

  static std::string number(std::uint64_t what) { return std::to_string(what); }
  static std::string told(const send_message& what) {
    return number(what.link) + ": " + std::visit([](const auto& each) { return told(each); }, what.what);
  }
  static std::string told(const release& what) {
    return "release " + number(what.name.index) + " x" + number(what.count);
  }
  static std::string told(const vouch& what) {
    return "vouch " + number(what.name.index) + " for " + number(what.beneficiary.node);
  }
  static std::string told(const adopt& what) { return "adopt " + number(what.request); }
  static std::string told(const reclaim& what) {
    return "reclaim " + number(what.request) + " of " + number(what.previous);
  }
  static std::string told(const pull& what) { return "pull " + number(what.request); }
  static std::string told(const cancel& what) { return "cancel " + number(what.request); }
  static std::string told(const adopted& what) { return "adopted " + number(what.request); }
  static std::string told(const reclaimed& what) { return "reclaimed " + number(what.request); }
  static std::string told(const pull_head& what) { return "head " + number(what.request); }
  static std::string told(const pull_here& what) { return "here " + number(what.request); }
  static std::string told(const refused& what) {
    return "refused " + number(what.request) + " " + std::string{to_string(what.reason)};
  }
  static std::string told(const lost& what) { return "lost " + number(what.name.index); }
  static std::string told(const bytes_wanted& what) { return "bytes wanted on " + number(what.link); }
  static std::string told(const close_link& what) { return "close " + number(what.link); }
  static std::string told(const connect_to& what) { return "dial " + number(what.node.node); }
  static std::string told(const answer_waiter& what) {
    return "answer " + number(what.waiter) + " " + std::string{to_string(what.error.code)};
  }
  static std::string told(const make_room& what) { return "make room " + number(what.room); }
  static std::string told(const seal_room& what) {
    return "seal room " + number(what.room) + " with " + number(what.captured.size());
  }
  static std::string told(const drop_room& what) { return "drop room " + number(what.room); }
  static std::string told(const forget_unfinished&) { return "forget unfinished"; }

  [[nodiscard]] static ledger_options options_of(part_of_a_ledger& test) {
    ledger_options result;
    result.self = self;
    result.proxy_number = proxies;
    result.fresh_token = [&test] { return ++test.last_token_; };
    result.clock = [&test] { return test.time_; };
    return result;
  }

  std::uint64_t last_token_ = 0;
  time_point time_{};
  counted_objects objects_;
  books books_{options_of(*this), objects_};
  std::vector<std::pair<reference, reference>> moves_; // Recorded, not performed.
  std::vector<reference> came_;
};

} // namespace troupe::internal::handles
