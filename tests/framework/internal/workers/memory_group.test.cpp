#include <troupe/framework/internal/workers/memory_group.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include <troupe/processes/process.hpp>

namespace troupe::internal {
namespace {

constexpr auto v1_mount = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
constexpr auto v2_mount = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

std::string folder(std::string_view groups, std::string_view mounts) {
  const auto found = own_memory_group(groups, mounts);
  return found ? (found->is_v2 ? "v2 " : "v1 ") + found->path : found.error();
}

TEST(a_memory_group, lies_below_this_processs_own) {
  EXPECT_EQ(folder("0::/user.slice/a.scope\n", v2_mount), "v2 /sys/fs/cgroup/user.slice/a.scope");
  EXPECT_EQ(folder("4:cpu,memory:/jobs/7\n0::/\n", v1_mount), "v1 /sys/fs/cgroup/memory/jobs/7");
  EXPECT_EQ(folder("0::/\n", v2_mount), "v2 /sys/fs/cgroup");
}

TEST(a_memory_group, is_found_in_a_container_that_shows_a_part_of_the_hierarchy) {
  EXPECT_EQ(folder("4:memory:/docker/abc/inner\n", "35 31 0:32 /docker/abc /cg/memory rw - cgroup cgroup rw,memory\n"),
            "v1 /cg/memory/inner");
  EXPECT_EQ(folder("4:memory:/docker/abcd\n", "35 31 0:32 /docker/abc /cg/memory rw - cgroup cgroup rw,memory\n"),
            "v1 /cg/memory"); // A group outside that part.
}

TEST(a_memory_group, is_refused_with_the_reason) {
  EXPECT_EQ(folder("", v2_mount), "this process is in no control group");
  EXPECT_EQ(folder("0::/a\n", v1_mount), "this process is in the control group /a, which is not mounted");
  EXPECT_EQ(folder("4:memory:/a\n", v2_mount),
            "this process is in the memory group /a (cgroup v1), which is not mounted");
  EXPECT_EQ(folder("rubbish\n::", "more rubbish - - -\n\n"), "this process is in no control group");
}

TEST(a_memory_group, of_a_dead_owner_is_removed_by_the_next_owner) {
  if (const auto probe = memory_group::make(1 << 26); !probe)
    GTEST_SKIP() << probe.error().message();
  auto owner = processes::process::fork([](processes::line_channel& parent) {
                 const auto made = memory_group::make(1 << 26);
                 parent.write_line(made->path());
                 ::_exit(0); // Without the destructor.
                 return 0;
               }).value();
  const auto left = owner.channel().read_line().value();
  owner.wait();
  const auto next = memory_group::make(1 << 26);
  ASSERT_TRUE(next);
  EXPECT_FALSE(std::filesystem::exists(left));
  const auto another = memory_group::make(1 << 26);
  EXPECT_TRUE(std::filesystem::exists(next->path())); // Its owner lives.
}

TEST(memory_groups, are_made_by_many_processes_at_once) {
  if (const auto probe = memory_group::make(1 << 26); !probe)
    GTEST_SKIP() << probe.error().message();
  std::vector<processes::process> makers;
  for (int i = 0; i < 4; ++i)
    makers.push_back(processes::process::fork([] {
                       for (int round = 0; round < 200; ++round)
                         if (const auto made = memory_group::make(1 << 26); !made)
                           return 1;
                       return 0;
                     }).value());
  for (auto& each : makers)
    EXPECT_EQ(each.wait(), processes::exited_with(0));
}

} // namespace
} // namespace troupe::internal
