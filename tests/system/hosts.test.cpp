// The simulated hosts themselves: isolated, connected, cut off, and removed completely.
#include <algorithm>
#include <csignal>
#include <filesystem>

#include <unistd.h>

#include "hosted.hpp"

namespace troupe::tests {
namespace {

class simulated_hosts : public three_hosts {};

TEST_F(simulated_hosts, have_a_dev_shm_and_a_tmp_of_their_own) {
  const auto name = "troupe-test-" + std::to_string(::getpid());
  for (const std::string folder : {"/dev/shm/", "/tmp/"}) {
    hosts_->at("a").run({"touch", folder + name});
    EXPECT_NO_THROW(hosts_->at("a").run({"test", "-e", folder + name}));
    EXPECT_THROW(hosts_->at("b").run({"test", "-e", folder + name}), std::runtime_error);
    EXPECT_FALSE(std::filesystem::exists(folder + name));
  }
}

TEST_F(simulated_hosts, have_two_processes_that_share_a_store_and_links_between_them) {
  auto& peers = make();
  EXPECT_EQ(peers.told("a1", "put x 1000 5"), "ok");
  EXPECT_EQ(peers.store_at("a2").objects, 1u);
  EXPECT_EQ(peers.store_at("b1").objects, 0u);
  EXPECT_EQ(peers.told("a1", "send x a2:keep"), "ok arrived");
  EXPECT_EQ(peers.told("a2", "get x 1000"), sum_of(1000, 5));
  EXPECT_EQ(peers.told("a1", "send x b1:keep"), "ok arrived");
  EXPECT_EQ(peers.told("b1", "get x 10000"), sum_of(1000, 5));
  EXPECT_TRUE(peers.nothing_is_left());
}

TEST_F(simulated_hosts, find_who_has_what_another_one_passes_on_and_keep_it_when_that_one_dies) {
  auto& peers = make({.grace = 2s, .silence = 2s, .is_row = true});
  ASSERT_EQ(peers.told("a1", "put x 100000 5"), "ok");
  ASSERT_EQ(peers.told("a1", "send x b1:pass c1:keep"), "ok arrived");
  const auto finds = [&] { return (" " + peers.told("c1", "links") + " ").find(" a1 ") != std::string::npos; };
  EXPECT_TRUE(comes_true(finds));
  for (const auto* each : {"y", "z"}) { // After these, a1 has answered what c1 asked.
    ASSERT_EQ(peers.told("c1", std::string{"put "} + each + " 1 1"), "ok");
    ASSERT_EQ(peers.told("c1", std::string{"send "} + each + " a1:keep"), "ok arrived");
  }
  peers.kill("b1");
  EXPECT_EQ(peers.told("c1", "get x 20000"), sum_of(100'000, 5));
  EXPECT_TRUE(peers.nothing_is_left());
}

TEST_F(simulated_hosts, hear_nothing_over_a_cut_cable_and_meet_again_when_it_is_mended) {
  auto& peers = make({.silence = 1s});
  hosts_->cut("a", "b");
  EXPECT_TRUE(peers.is_cut_off("a", "b"));
  EXPECT_TRUE(peers.told("a1", "traffic c1").starts_with("ok "));
  hosts_->mend("a", "b");
  EXPECT_TRUE(peers.is_linked());
}

TEST_F(simulated_hosts, end_with_their_processes_when_the_test_is_killed) {
  // Another process acts as the test: it makes a host and a process there, and reports their numbers.
  auto test = processes::process::fork([](processes::line_channel& parent) {
                const host made{"killed"};
                const auto process = made.start({"sleep", "1000"});
                parent.write_line(std::to_string(made.holder()));
                parent.write_line(std::to_string(process.number()));
                return ::pause();
              }).value();
  pid_t both[2] = {};
  for (auto& each : both)
    each = std::stoi(test.channel().read_line().value());
  for (const auto each : both)
    EXPECT_EQ(::kill(each, 0), 0);
  const auto space = std::filesystem::read_symlink("/proc/" + std::to_string(both[0]) + "/ns/mnt");
  test.kill();
  const auto is_in_it = [&](const std::filesystem::path& process) {
    std::error_code failed;
    return std::filesystem::read_symlink(process / "ns/mnt", failed) == space;
  };
  EXPECT_TRUE(comes_true([&] {
    return std::ranges::none_of(std::filesystem::directory_iterator("/proc"),
                                [&](const auto& each) { return is_in_it(each.path()); });
  }));
}

} // namespace
} // namespace troupe::tests
