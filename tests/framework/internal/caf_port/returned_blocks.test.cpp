#include <troupe/framework/internal/caf_port/returned_blocks.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

constexpr std::size_t plenty = 1000;

std::vector<free_block*> list_of(free_block* chain) {
  std::vector<free_block*> blocks;
  for (; chain != nullptr; chain = chain->next)
    blocks.push_back(chain);
  return blocks;
}

TEST(returned_blocks_test, come_back_the_last_chain_first) {
  std::array<free_block, 3> memory{};
  memory[0].next = &memory[1];
  returned_blocks door;
  EXPECT_TRUE(door.push(&memory[0], &memory[1], 2, plenty));
  EXPECT_TRUE(door.push(&memory[2], &memory[2], 1, plenty));
  EXPECT_EQ(list_of(door.take_all()), (std::vector<free_block*>{&memory[2], &memory[0], &memory[1]}));
  EXPECT_EQ(door.take_all(), nullptr);
}

TEST(returned_blocks_test, are_refused_where_there_are_enough) {
  std::array<free_block, 3> memory{};
  returned_blocks door;
  EXPECT_TRUE(door.push(&memory[0], &memory[0], 1, 2));
  EXPECT_TRUE(door.push(&memory[1], &memory[1], 1, 2));
  EXPECT_FALSE(door.push(&memory[2], &memory[2], 1, 2));
  EXPECT_EQ(list_of(door.take_all()).size(), 2u);
  EXPECT_TRUE(door.push(&memory[2], &memory[2], 1, 2));
}

TEST(returned_blocks_test, are_refused_while_closed) {
  std::array<free_block, 2> memory{};
  returned_blocks door;
  EXPECT_TRUE(door.push(&memory[0], &memory[0], 1, plenty));
  EXPECT_EQ(list_of(door.close()), std::vector<free_block*>{&memory[0]});
  EXPECT_FALSE(door.push(&memory[1], &memory[1], 1, plenty));
  EXPECT_EQ(door.take_all(), nullptr);
  door.open();
  EXPECT_TRUE(door.push(&memory[1], &memory[1], 1, plenty));
  EXPECT_EQ(list_of(door.take_all()), std::vector<free_block*>{&memory[1]});
}

// Goal: each block is returned once, or stays with the thread that gives it.
// Method: three threads give chains of two blocks. The taker takes them, and closes at the end while the threads still
// give.
TEST(returned_blocks_test, come_back_once_from_many_threads) {
  constexpr std::size_t givers = 3, chains = 20'000;
  std::vector<std::array<free_block, 2>> memory(givers * chains);
  returned_blocks door;
  std::array<std::vector<free_block*>, givers> kept;
  std::atomic<std::size_t> given{0};
  std::vector<std::jthread> threads;
  for (std::size_t giver = 0; giver < givers; ++giver)
    threads.emplace_back([&, giver] {
      for (std::size_t i = 0; i < chains; ++i, ++given) {
        auto& chain = memory[giver * chains + i];
        chain[0].next = &chain[1];
        if (!door.push(&chain[0], &chain[1], 2, plenty))
          kept[giver].insert(kept[giver].end(), {&chain[0], &chain[1]});
      }
    });
  std::vector<free_block*> all;
  const auto add = [&all](const std::vector<free_block*>& more) { all.insert(all.end(), more.begin(), more.end()); };
  while (given < givers * chains / 2)
    add(list_of(door.take_all()));
  add(list_of(door.close()));
  threads.clear();
  for (const auto& each : kept)
    add(each);
  EXPECT_EQ(all.size(), memory.size() * 2);
  EXPECT_EQ((std::set<free_block*>{all.begin(), all.end()}).size(), all.size());
}

} // namespace
} // namespace troupe::internal
