// Kills a node at each single step of an exchange: before each call of the store, and before each action that its core
// requests (a write, a room, an answer). The exchange is replayed once per step, and the node dies one step later each
// time.
#include <gtest/gtest.h>

#include "world.hpp"

namespace troupe::simulation {
namespace {

constexpr unsigned steps_max = 500; // More than any exchange has.

/// Replays the exchange for each victim until the victim survives. `build` makes the nodes and returns the number of
/// nodes that may die; `play` runs the exchange.
template <class Build, class Play>
void expect_whole_whoever_dies(bool writes_late, Build build, Play play) {
  std::size_t victims = 1;
  for (std::size_t victim = 0; victim < victims; ++victim)
    for (unsigned steps = 0;; ++steps) {
      SCOPED_TRACE("node " + std::to_string(victim) + " dies after " + std::to_string(steps) + " steps");
      ASSERT_LT(steps, steps_max);
      bool has_died = false;
      try {
        world in{{.writes_late = writes_late}};
        victims = build(in);
        in.run_until_quiet();
        in.nodes[victim].last_actions = steps;
        play(in);
        has_died = !in.active(victim);
        in.nodes[victim].last_actions.reset();
        in.check_all();
        in.read_everything();
        in.wind_up();
      } catch (const broken& why) {
        FAIL() << why.what();
      }
      if (!has_died)
        break;
    }
}

void send_last(world& in, node_index from, node_index to) {
  if (const auto over = in.link_between(from, to); in.active(from) && over && !in.nodes[from].application.empty())
    (void)in.send(from, *over, {in.nodes[from].application.back()});
  in.run_until_quiet();
}

void begin_reading(world& in, node_index at) {
  if (in.active(at) && !in.nodes[at].application.empty())
    (void)in.fetch(at, in.nodes[at].application.size() - 1, std::chrono::hours(1));
}

void read_last(world& in, node_index at) {
  begin_reading(in, at);
  in.run_until_quiet();
}

void drop_all(world& in, node_index at) {
  if (in.active(at))
    in.drop_all(at);
  in.run_until_quiet();
}

class each_step : public testing::TestWithParam<bool> {};

TEST_P(each_step, of_a_pull_from_another_host_may_be_the_last) {
  expect_whole_whoever_dies(
      GetParam(),
      [](world& in) {
        in.connect(in.add_node(in.add_host()), in.add_node(in.add_host()));
        return 2;
      },
      [](world& in) {
        (void)in.put(0, 10);
        send_last(in, 0, 1);
        drop_all(in, 0);
        read_last(in, 1);
        drop_all(in, 1);
      });
}

TEST_P(each_step, of_a_hand_over_in_a_shared_store_may_be_the_last) {
  expect_whole_whoever_dies(
      GetParam(),
      [](world& in) {
        const auto host = in.add_host();
        in.connect(in.add_node(host), in.add_node(host));
        return 2;
      },
      [](world& in) {
        (void)in.put(0, 10);
        send_last(in, 0, 1);
        drop_all(in, 0);
        read_last(in, 1);
        send_last(in, 1, 0); // Back to its home.
        drop_all(in, 1);
      });
}

TEST_P(each_step, of_an_adoption_may_be_the_last) {
  expect_whole_whoever_dies(
      GetParam(),
      [](world& in) {
        for (int i = 0; i < 3; ++i)
          in.add_node(in.add_host());
        in.connect(0, 1);
        in.connect(1, 2);
        return 3;
      },
      [](world& in) {
        (void)in.put(0, 10);
        send_last(in, 0, 1);
        send_last(in, 1, 2); // This makes node 2 connect to node 0.
        drop_all(in, 1);
        read_last(in, 2);
      });
}

TEST_P(each_step, of_a_pull_that_two_nodes_of_a_host_share_may_be_the_last) {
  expect_whole_whoever_dies(
      GetParam(),
      [](world& in) {
        in.add_node(in.add_host());
        const auto host = in.add_host();
        in.connect(0, in.add_node(host));
        in.connect(0, in.add_node(host));
        return 3;
      },
      [](world& in) {
        (void)in.put(0, 10);
        send_last(in, 0, 1);
        send_last(in, 0, 2);
        begin_reading(in, 1);
        read_last(in, 2);
      });
}

TEST_P(each_step, of_an_object_that_waits_for_its_part_may_be_the_last) {
  expect_whole_whoever_dies(
      GetParam(),
      [](world& in) {
        for (int i = 0; i < 3; ++i)
          in.add_node(in.add_host());
        in.connect(0, 1);
        in.connect(1, 2);
        return 3;
      },
      [](world& in) {
        (void)in.put(0, 10);
        send_last(in, 0, 1);
        if (in.active(1) && !in.nodes[1].application.empty())
          (void)in.put(1, 5, {in.nodes[1].application.back()});
        send_last(in, 1, 2);
        read_last(in, 2);
      });
}

TEST_P(each_step, of_a_link_that_comes_again_may_be_the_last) {
  expect_whole_whoever_dies(
      GetParam(),
      [](world& in) {
        in.connect(in.add_node(in.add_host()), in.add_node(in.add_host()));
        return 2;
      },
      [](world& in) {
        (void)in.put(0, 10);
        send_last(in, 0, 1);
        drop_all(in, 0);
        in.cut(0);
        if (in.active(0) && in.active(1))
          in.connect(1, 0);
        in.run_until_quiet();
        read_last(in, 1);
      });
}

INSTANTIATE_TEST_SUITE_P(written, each_step, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& each) { return each.param ? "late" : "at_once"; });

} // namespace
} // namespace troupe::simulation
