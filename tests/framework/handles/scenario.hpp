// The vocabulary of the named tests of the handle protocol.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "world.hpp"

namespace troupe::simulation {

using namespace std::chrono_literals;

/// Starts with no hosts and no links. At the end everything is dropped, and nothing may be left. TROUPE_STORY=1 prints
/// each message and step.
class handle_protocol : public testing::Test {
protected:
  static constexpr auto far_off = std::chrono::hours(1);

  node_index node_on_new_host(bool liar = false) { return in_.add_node(in_.add_host(), liar); }
  node_index node_beside(node_index other) { return in_.add_node(in_.nodes[other].host); }
  link_index link(node_index one, node_index other) { return in_.connect(one, other); }

  void send(node_index from, node_index to, const std::vector<held>& what, bool kept = true) {
    ASSERT_TRUE(in_.send(from, in_.link_between(from, to).value(), what, kept));
  }
  void arrive() { in_.run_until_quiet(); }
  void send_and_arrive(node_index from, node_index to, const std::vector<held>& what) {
    send(from, to, what);
    arrive();
  }

  /// Returns the last reference that a node received.
  [[nodiscard]] held last_of(node_index at) const { return in_.nodes[at].application.back(); }

  /// Reads through the node's last reference, and returns the outcome. The world checks the bytes.
  [[nodiscard]] handles::handle_errc read(node_index at) {
    auto waiter = begin_reading(at);
    in_.run_until_quiet();
    return answer_to(waiter);
  }
  [[nodiscard]] handles::waiter_id begin_reading(node_index at) {
    return in_.fetch(at, in_.nodes[at].application.size() - 1, far_off);
  }
  /// Returns `violation` if there is no answer yet; no waiter ever gets that code.
  [[nodiscard]] handles::handle_errc answer_to(handles::waiter_id waiter) const {
    auto found = in_.answers.find(waiter);
    return found == in_.answers.end() ? handles::handle_errc::violation : found->second.code;
  }

  void break_link(node_index one, node_index other) { in_.cut(in_.link_between(one, other).value()); }
  void pass_grace() {
    in_.pass(world::grace + 1s);
    for (node_index at = 0; at < in_.nodes.size(); ++at)
      in_.tick(at);
    in_.run_until_quiet();
  }
  void kill(node_index which) {
    in_.kill(which);
    in_.reap(in_.nodes[which].host);
  }

  [[nodiscard]] handles::ledger_tables tables(node_index at) const { return in_.nodes[at].ledger->tables(); }
  [[nodiscard]] std::size_t objects_at(node_index at) { return in_.store_of(at).living().size(); }
  [[nodiscard]] bool is_linked(node_index one, node_index other) const {
    return in_.link_between(one, other).has_value();
  }

  void say(node_index from, node_index to, const packet_content& what) {
    auto over = in_.link_between(from, to).value();
    in_.forge(over, in_.end_of(over, from), {0, what, 0});
  }

  /// Sends an application message that claims to carry these handles.
  void forge(node_index from, node_index to, std::vector<handles::handle_descriptor> what) {
    auto over = in_.link_between(from, to).value();
    in_.forge(over, in_.end_of(over, from), {0, parcel{std::move(what), {}, true}, 0});
  }
  /// Delivers everything that is on its way to a node over one link, and nothing else.
  void arrive_over(link_index over, node_index at) {
    while (in_.deliver(over, in_.end_of(over, at)))
      continue;
  }

  void SetUp() override {
    if (std::getenv("TROUPE_STORY") != nullptr)
      in_.story = &std::cout;
  }

  void TearDown() override {
    if (HasFailure())
      return;
    try {
      in_.check_all();
      in_.wind_up();
    } catch (const broken& why) {
      FAIL() << why.what();
    }
  }

  world in_;
};

/// A puts objects, B receives them.
class two_nodes : public handle_protocol {
protected:
  two_nodes() : a(node_on_new_host()), b(node_on_new_host()), ab(link(a, b)) {}

  node_index a, b;
  link_index ab;
};

/// A puts objects, B receives them from A, C receives them from B.
class three_nodes : public handle_protocol {
protected:
  three_nodes() : a(node_on_new_host()), b(node_on_new_host()), c(node_on_new_host()), ab(link(a, b)), bc(link(b, c)) {}

  node_index a, b, c;
  link_index ab, bc;
};

} // namespace troupe::simulation
