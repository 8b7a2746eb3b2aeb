// Goal: the newest state of each entity is saved, and none is given up while its entity may still save another one.
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <troupe/framework/cluster/internal/entities/state_saver.hpp>

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;
using membership::state_saver;

class a_state_saver : public testing::Test {
protected:
  /// Calls the functions that are to run, on this thread.
  void run_all() {
    while (!jobs_.empty()) {
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      job();
    }
  }
  void retry_later() {
    saver_.retry(state_saver::clock::now() + 1h);
    run_all();
  }

  std::deque<std::function<void()>> jobs_;
  std::vector<std::string> saved_;
  std::vector<std::string> done_;
  std::string problem_;
  bool fails_ = false;
  state_saver saver_{
      {.save = [this](const std::string& key, const std::string& state) -> std::expected<void, std::string> {
         if (fails_)
           return std::unexpected{std::string{"the disk is full"}};
         saved_.push_back(key + '=' + state);
         return {};
       },
       .run = [this](std::function<void()> job) { jobs_.push_back(std::move(job)); },
       .patience = 1h,
       .on_done = [this](const std::string& key) { done_.push_back(key); },
       .problem = [this](std::string text) { problem_ = std::move(text); }}};
};

TEST_F(a_state_saver, saves_the_newest_state) {
  saver_.save("a", "1");
  saver_.save("a", "2");
  saver_.save("b", "3");
  EXPECT_TRUE(saver_.has("a"));
  run_all();
  EXPECT_EQ(saved_, (std::vector<std::string>{"a=2", "b=3"}));
  EXPECT_EQ(done_, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(saver_.has("a"));
  EXPECT_FALSE(saver_.end("a"));
}

TEST_F(a_state_saver, tries_again_what_has_failed) {
  fails_ = true;
  saver_.save("a", "1");
  run_all();
  EXPECT_EQ(problem_, "a: its state could not be saved: the disk is full");
  EXPECT_TRUE(saver_.end("a")); // Also after the entity has ended.
  retry_later();
  EXPECT_TRUE(saver_.has("a"));
  fails_ = false;
  retry_later();
  EXPECT_EQ(saved_, (std::vector<std::string>{"a=1"}));
  EXPECT_EQ(done_, (std::vector<std::string>{"a"}));
  EXPECT_EQ(problem_, "");
}

TEST_F(a_state_saver, gives_up_what_fails_if_the_shard_is_lost_and_the_entity_has_ended) {
  fails_ = true;
  saver_.save("a", "1");
  saver_.save("b", "2");
  EXPECT_TRUE(saver_.end("a"));
  saver_.lose();
  run_all();
  EXPECT_EQ(done_, (std::vector<std::string>{"a"}));
  EXPECT_FALSE(saver_.has("a"));
  EXPECT_TRUE(saver_.has("b"));
}

} // namespace
} // namespace troupe::tests
