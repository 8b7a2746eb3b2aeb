#include <troupe/store/internal/files/capacity.hpp>

#include <gtest/gtest.h>

namespace troupe::store::internal {
namespace {

constexpr auto gib = std::uint64_t{1} << 30;

TEST(default_capacity, is_the_least_of_what_the_host_the_directory_and_the_container_have) {
  EXPECT_EQ(default_capacity({.total = 100 * gib, .free_in_directory = no_limit}), 30 * gib);
  EXPECT_EQ(default_capacity({.total = 100 * gib, .free_in_directory = 10 * gib}), 9 * gib);
  EXPECT_EQ(default_capacity({.total = 100 * gib, .free_in_directory = 50 * gib, .cgroup_limit = 8 * gib}), 4 * gib);
  EXPECT_EQ(default_capacity(
                {.total = 100 * gib, .free_in_directory = 50 * gib, .cgroup_limit = 8 * gib, .cgroup_used = 6 * gib}),
            gib);
}

TEST(default_capacity, is_whole_pages_and_at_least_one) {
  EXPECT_EQ(default_capacity({.total = 100 * gib, .free_in_directory = 10'000}), 8'192u);
  EXPECT_EQ(default_capacity({.total = 100 * gib, .free_in_directory = 0}), 4'096u);
  EXPECT_EQ(default_capacity({.total = gib, .free_in_directory = gib, .cgroup_limit = 1'000, .cgroup_used = 5'000}),
            4'096u);
}

TEST(memory_facts, of_this_host_are_plausible) {
  const auto facts = memory_facts_of("/dev/shm");
  EXPECT_GT(facts.total, 1u << 26);
  EXPECT_GT(facts.free_in_directory, 0u);
}

} // namespace
} // namespace troupe::store::internal
