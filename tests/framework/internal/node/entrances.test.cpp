// Goal: a node listens at all addresses or at none, and admits no peer after its end has begun.
#include <asio/io_context.hpp>

#include <troupe/framework/internal/node/entrances.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/internal/link/node_link.hpp>

namespace troupe::internal {
namespace {

class noting_owner final : public entrance_owner {
public:
  explicit noting_owner(asio::io_context& io) : io_(io) {}

  loop_seat seat_for_link() override { return {io_, nullptr}; }
  std::shared_ptr<node_link> make_link(const link_options&, const std::shared_ptr<const link_security>&,
                                       loop_seat) override {
    ++links_asked_for;
    return nullptr;
  }
  void has_more_addresses() override { ++times_told; }

  int links_asked_for = 0;
  int times_told = 0;

private:
  asio::io_context& io_;
};

class ways_in : public testing::Test {
protected:
  std::expected<void, node_error> listen(const std::vector<std::string>& addresses) {
    return entrances_->listen(addresses);
  }
  std::shared_ptr<entrances> make() { return std::make_shared<entrances>(io_, options_, families_, owner_); }
  /// Runs what is ready, like the I/O thread.
  void go_on() {
    io_.restart();
    io_.poll();
  }

  node_options options_{.name = "home", .listen = {"inproc://ways-in-first"}, .local_queries = false};
  family_set families_;
  asio::io_context io_;
  std::shared_ptr<noting_owner> owner_ = std::make_shared<noting_owner>(io_);
  std::shared_ptr<entrances> entrances_ = make();
};

TEST_F(ways_in, are_those_of_the_options_first) {
  ASSERT_TRUE(entrances_->open_first());
  EXPECT_EQ(entrances_->addresses(), (std::vector<std::string>{"inproc://ways-in-first"}));
  ASSERT_TRUE(listen({"inproc://ways-in-a", "inproc://ways-in-b"}));
  EXPECT_EQ(entrances_->addresses(),
            (std::vector<std::string>{"inproc://ways-in-first", "inproc://ways-in-a", "inproc://ways-in-b"}));
}

TEST_F(ways_in, are_told_of_on_the_io_thread) {
  ASSERT_TRUE(listen({"inproc://ways-in-a"}));
  EXPECT_EQ(owner_->times_told, 0);
  go_on();
  EXPECT_EQ(owner_->times_told, 1);
}

TEST_F(ways_in, are_all_or_none) {
  ASSERT_TRUE(listen({"inproc://ways-in-a"}));
  const auto taken = listen({"inproc://ways-in-b", "inproc://ways-in-a"});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), node_errc::cannot_connect);
  EXPECT_FALSE(listen({"inproc://ways-in-b"})) << "what peers may be using ends on the I/O thread";
  go_on();
  EXPECT_TRUE(listen({"inproc://ways-in-b"}));
  EXPECT_EQ(entrances_->addresses(), (std::vector<std::string>{"inproc://ways-in-a", "inproc://ways-in-b"}));
}

TEST_F(ways_in, lead_to_links_of_the_node) {
  ASSERT_TRUE(listen({"inproc://ways-in-a"}));
  {
    const auto dialed = dial_inproc(io_, "ways-in-a");
    ASSERT_TRUE(dialed);
    go_on();
  }
  EXPECT_EQ(owner_->links_asked_for, 1);
  go_on();
}

TEST_F(ways_in, are_closed_at_the_end) {
  ASSERT_TRUE(listen({"inproc://ways-in-a"}));
  go_on();
  entrances_->close();
  EXPECT_FALSE(dial_inproc(io_, "ways-in-a"));
}

TEST_F(ways_in, do_not_open_after_the_end) {
  entrances_->end();
  const auto late = listen({"inproc://ways-in-a"});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), node_errc::link_down);
  go_on();
  EXPECT_FALSE(dial_inproc(io_, "ways-in-a"));
  EXPECT_TRUE(entrances_->addresses().empty());
}

TEST_F(ways_in, that_were_opened_while_all_closed_end_on_the_io_thread) {
  ASSERT_TRUE(listen({"inproc://ways-in-a"}));
  entrances_->close();
  go_on();
  EXPECT_FALSE(dial_inproc(io_, "ways-in-a"));
  EXPECT_EQ(owner_->times_told, 0);
}

} // namespace
} // namespace troupe::internal
