// Goal: the view follows the directory, also over losses of the watch.
#include <mutex>

#include <gtest/gtest.h>

#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/cluster/internal/membership/member_record.hpp>
#include <troupe/framework/cluster/internal/membership/view_follower.hpp>

#include "../../eventually.hpp"
#include "../memory_directory.hpp"

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;
using namespace membership;

class a_follower : public testing::Test {
protected:
  void put(const std::string& name) {
    world_->put(member_key(name),
                member_record({.name = name, .incarnation = "1", .addresses = {"tcp://127.0.0.1:1"}}));
  }
  std::unique_ptr<view_follower> follow() {
    return std::make_unique<view_follower>(std::make_shared<memory_directory>(world_),
                                           [this](const auto& events, const cluster_view&) {
                                             const std::lock_guard guard{mutex_};
                                             told_.insert(told_.end(), events.begin(), events.end());
                                           });
  }
  static std::size_t members(const view_follower& of) {
    return of.with_view([](const cluster_view& view) { return view.members().size(); });
  }
  std::size_t count(cluster_event::kind what) {
    const std::lock_guard guard{mutex_};
    return static_cast<std::size_t>(std::ranges::count(told_, what, &cluster_event::what));
  }

  const std::shared_ptr<memory_world> world_ = std::make_shared<memory_world>();
  std::mutex mutex_;
  cluster_view::events told_; // Guarded by mutex_.
};

TEST_F(a_follower, knows_what_was_there_and_what_comes) {
  put("a");
  const auto of = follow();
  ASSERT_TRUE(of->wait_until_read(std::chrono::steady_clock::now() + 10s));
  EXPECT_EQ(members(*of), 1u);
  put("b");
  EXPECT_TRUE(eventually([&] { return count(cluster_event::kind::member_up) == 2; }));
}

TEST_F(a_follower, says_why_the_directory_cannot_be_read) {
  world_->fail(directory_errc::refused);
  const auto of = follow();
  ASSERT_TRUE(eventually([&] {
    const auto read = of->wait_until_read(std::chrono::steady_clock::now() + 10ms);
    return !read && read.error().code() == directory_errc::refused;
  }));
}

TEST_F(a_follower, keeps_what_it_knows_and_catches_up_when_the_directory_answers_again) {
  put("a");
  const auto of = follow();
  ASSERT_TRUE(of->wait_until_read(std::chrono::steady_clock::now() + 10s));
  world_->fail(directory_errc::unavailable);
  ASSERT_TRUE(eventually([&] { return count(cluster_event::kind::directory_lost) == 1; }));
  EXPECT_EQ(members(*of), 1u);
  put("b");
  world_->fail(std::nullopt);
  ASSERT_TRUE(eventually([&] { return count(cluster_event::kind::directory_found) == 1; }));
  EXPECT_EQ(members(*of), 2u);
  EXPECT_EQ(count(cluster_event::kind::member_up), 2u);
  EXPECT_EQ(count(cluster_event::kind::member_down), 0u);
}

TEST_F(a_follower, tells_an_outage_that_only_others_have_seen_once) {
  put("a");
  const auto of = follow();
  ASSERT_TRUE(of->wait_until_read(std::chrono::steady_clock::now() + 10s));
  of->note_outage(directory_error{directory_errc::unavailable, "no answer"});
  of->note_outage(directory_error{directory_errc::unavailable, "no answer"});
  EXPECT_EQ(count(cluster_event::kind::directory_lost), 1u);
  ASSERT_TRUE(of->trouble());
  of->note_outage(std::nullopt);
  EXPECT_EQ(count(cluster_event::kind::directory_found), 1u);
  EXPECT_FALSE(of->trouble());
}

TEST_F(a_follower, reads_everything_again_when_the_changes_were_compacted) {
  put("a");
  const auto of = follow();
  ASSERT_TRUE(of->wait_until_read(std::chrono::steady_clock::now() + 10s));
  world_->fail(directory_errc::compacted);
  put("b");
  world_->compact();
  world_->fail(std::nullopt);
  ASSERT_TRUE(eventually([&] { return members(*of) == 2; }));
}

} // namespace
} // namespace troupe::tests
