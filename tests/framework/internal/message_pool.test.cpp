// Memory of small messages, which threads keep for reuse.
#include <troupe/framework/internal/caf_port/message_pool.hpp>

#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>

namespace troupe::internal {
namespace {

constexpr std::size_t block_bytes = 256;
constexpr std::size_t many = 4000;

std::vector<void*> taken(std::size_t count) {
  std::vector<void*> blocks(count);
  for (auto& each : blocks)
    each = take_block(block_bytes);
  return blocks;
}

void give(const std::vector<void*>& blocks) {
  for (auto* each : blocks)
    give_block(each, block_bytes);
}

std::size_t bytes_in_use() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

TEST(message_pool_test, what_a_thread_takes_and_gives_is_used_again) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "nothing is kept under sanitizers";
#endif
  const auto first = taken(many);
  give(first);
  const auto second = taken(many);
  EXPECT_EQ((std::set<void*>{first.begin(), first.end()}), (std::set<void*>{second.begin(), second.end()}));
  give(second);
}

// Goal: if one thread makes a message and another thread drops it, the message uses no memory of the general allocator.
// Method: one thread takes 4,000 blocks and another gives them back, as I/O threads and CAF's scheduler threads do.
TEST(message_pool_test, what_another_thread_gives_comes_back_to_the_thread_that_took_it) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "nothing is kept under sanitizers";
#endif
  const auto first = taken(many);
  std::jthread{[&] { give(first); }}.join();
  const auto second = taken(many);
  EXPECT_EQ((std::set<void*>{first.begin(), first.end()}), (std::set<void*>{second.begin(), second.end()}));
  give(second);
}

// Goal: the memory of a burst does not wait for a thread that takes no more memory.
TEST(message_pool_test, no_more_waits_for_a_thread_than_it_would_keep) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "nothing is kept under sanitizers";
#endif
  const auto before = bytes_in_use();
  const auto burst = taken(20 * many);
  std::jthread{[&] { give(burst); }}.join();
  EXPECT_LT(bytes_in_use(), before + 2 * many * block_bytes + burst.size() * sizeof(void*));
}

TEST(message_pool_test, blocks_may_outlive_the_thread_that_took_them) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "nothing is kept under sanitizers";
#endif
  std::vector<void*> blocks;
  blocks.reserve(many);
  const auto before = bytes_in_use();
  std::jthread{[&] { blocks = taken(many); }}.join();
  EXPECT_GE(bytes_in_use(), before + many * block_bytes);
  give(blocks);
  EXPECT_LT(bytes_in_use(), before + many * block_bytes / 10 + many * sizeof(void*));
}

// Goal: memory that was needed once is not kept for ever.
TEST(message_pool_test, a_bursts_memory_is_given_back_when_it_is_not_needed_again) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "nothing is kept under sanitizers";
#endif
  std::jthread{[] {
    const auto before = bytes_in_use();
    give(taken(many));
    EXPECT_GE(bytes_in_use(), before + many * block_bytes);
    for (int i = 0; i < 200'000; ++i)
      give(taken(1));
    EXPECT_LT(bytes_in_use(), before + many * block_bytes / 10);
  }};
}

} // namespace
} // namespace troupe::internal
