// Goal: events are watched from the first question until some time after the last one, and not otherwise.
#include <asio/io_context.hpp>

#include <troupe/framework/internal/watch/asked_watch.hpp>
#include <troupe/framework/internal/watch/watched_events.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

class watching : public testing::Test {
protected:
  using watch = asked_watch<watched_letters>;

  std::shared_ptr<watch> make(watch::clock::duration lease) {
    return std::make_shared<watch>(
        io_, [this](std::shared_ptr<watched_letters> watcher) { seen_by_ = std::move(watcher); }, lease);
  }

  const std::shared_ptr<asio::io_context> io_ = std::make_shared<asio::io_context>();
  std::shared_ptr<watched_letters> seen_by_;
};

TEST_F(watching, begins_with_the_first_question) {
  const auto one = make(std::chrono::hours{1});
  EXPECT_FALSE(one->is_watching());
  EXPECT_EQ(seen_by_, nullptr);
  EXPECT_TRUE(one->ask(0).values.empty());
  ASSERT_NE(seen_by_, nullptr);
  seen_by_->see({.peer = "far", .reason = node_errc::link_down, .reason_text = "gone", .types = {"i32"}});
  const auto letters = one->ask(0).values;
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].number, 1u);
  EXPECT_EQ(letters[0].peer, "far");
  EXPECT_EQ(letters[0].reason, "link_down");
  EXPECT_EQ(letters[0].types, std::vector<std::string>{"i32"});
}

TEST_F(watching, ends_when_nobody_asks_any_more) {
  const auto one = make(std::chrono::milliseconds{1});
  static_cast<void>(one->ask(0));
  seen_by_->see({});
  io_->run(); // Returns when no timer is left.
  EXPECT_EQ(seen_by_, nullptr);
  EXPECT_FALSE(one->is_watching());
  EXPECT_TRUE(one->ask(0).values.empty());
  EXPECT_NE(seen_by_, nullptr) << "it begins again";
}

TEST_F(watching, ends_with_the_node) {
  const auto one = make(std::chrono::hours{1});
  static_cast<void>(one->ask(0));
  one->end();
  EXPECT_EQ(seen_by_, nullptr);
  io_->run(); // Returns when no timer is left.
  static_cast<void>(one->ask(0));
  EXPECT_EQ(seen_by_, nullptr);
}

TEST_F(watching, cuts_long_texts_and_lists_of_types) {
  const auto one = make(std::chrono::hours{1});
  static_cast<void>(one->ask(0));
  seen_by_->see({.peer = std::string(10'000, 'x'),
                 .reason_text = "two\nlines",
                 .types = std::vector<std::string>(1'000, std::string(1'000, 't'))});
  const auto letter = one->ask(0).values.at(0);
  EXPECT_EQ(letter.peer.size(), 256u);
  EXPECT_EQ(letter.text, "two?lines");
  EXPECT_EQ(letter.types.size(), 16u);
  EXPECT_EQ(letter.types[0].size(), 256u);
}

} // namespace
} // namespace troupe::internal
