// Waiting for names, without a peer. The test answers.
#include <asio/io_context.hpp>

#include <troupe/framework/internal/link/lookups.hpp>

#include <optional>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

class names_waited_for : public lone_named_link {
protected:
  using answer = std::expected<caf::strong_actor_ptr, node_error>;

  names_waited_for() {
    open();
    lookups_.belong_to(owner_);
  }
  ~names_waited_for() override { lookups_.end({node_errc::link_down, "gone"}); }

  void begin(std::chrono::milliseconds timeout) {
    lookups_.begin("cup", {}, timeout, [this](answer what) { answered_ = std::move(what); });
    io_.poll();
    io_.restart();
  }
  /// Runs until the peer is asked or the answer is there, for 5 s at most.
  std::optional<find_query> next_question() {
    for (const auto until = std::chrono::steady_clock::now() + 5s;
         !answered_ && std::chrono::steady_clock::now() < until;) {
      if (auto asked = admin_.hear<find_query>(admin_op::find))
        return asked;
      io_.run_one_for(100ms);
      io_.restart();
    }
    return std::nullopt;
  }
  node_errc code() const { return answered_ && !*answered_ ? answered_->error().code() : node_errc{}; }

  asio::io_context io_;
  std::shared_ptr<int> owner_ = std::make_shared<int>();
  name_questions questions_{common_, system_, names_};
  lookups lookups_{common_, io_, system_, questions_};
  std::optional<answer> answered_;
};

TEST_F(names_waited_for, are_asked_for_again_until_they_are_there) {
  begin(1h);
  for (int i = 0; i < 3; ++i) {
    const auto asked = next_question();
    ASSERT_TRUE(asked);
    EXPECT_TRUE(questions_.on_found({.query = asked->query, .actor = 0, .interface = {}}));
    EXPECT_FALSE(answered_);
  }
  EXPECT_TRUE(questions_.on_found({.query = next_question()->query, .actor = 6, .interface = {}}));
  ASSERT_TRUE(answered_);
  EXPECT_TRUE(*answered_);
}

TEST_F(names_waited_for, are_asked_for_once_where_there_is_no_time) {
  begin(0ms);
  EXPECT_TRUE(questions_.on_found({.query = next_question()->query, .actor = 0, .interface = {}}));
  EXPECT_EQ(code(), node_errc::not_found);
}

TEST_F(names_waited_for, fail_when_the_time_is_over) {
  begin(1ms);
  EXPECT_TRUE(next_question());
  EXPECT_FALSE(next_question());
  EXPECT_EQ(code(), node_errc::timed_out); // The peer did not answer at all.
}

TEST_F(names_waited_for, are_bounded) {
  for (std::size_t i = 0; i < lookups::waiting_max; ++i)
    begin(1h);
  EXPECT_FALSE(answered_);
  begin(1h);
  EXPECT_EQ(code(), node_errc::link_busy);
}

TEST_F(names_waited_for, fail_where_the_link_is_down_or_ends) {
  begin(1h);
  lookups_.end({node_errc::link_down, "gone"});
  EXPECT_EQ(code(), node_errc::link_down);
  answered_.reset();
  enter(link_state::closed);
  begin(1h);
  EXPECT_EQ(code(), node_errc::link_down);
}

TEST_F(names_waited_for, are_settled_no_more_once_the_owner_is_gone) {
  begin(1h);
  const auto asked = next_question();
  owner_.reset();
  EXPECT_TRUE(questions_.on_found({.query = asked->query, .actor = 6, .interface = {}}));
  EXPECT_FALSE(answered_);
}

TEST_F(names_waited_for, end_a_ping_that_nobody_answers) {
  const auto done = lookups_.ping(1ms);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), node_errc::timed_out);
}

} // namespace
} // namespace troupe::internal
