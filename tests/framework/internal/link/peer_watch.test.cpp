// Watching a peer. The test acts as the peer.
#include <asio/io_context.hpp>

#include <troupe/framework/internal/link/peer_watch.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

class a_watch_of_the_peer : public lone_link {
protected:
  struct seen {
    signs_of_life signs;
    std::optional<node_error> given_up;
    int looks = 0;
  };
  class shown_peer final : public watched_peer {
  public:
    explicit shown_peer(seen& of) : of_(of) {}
    signs_of_life signs() const override {
      ++of_.looks;
      return of_.signs;
    }
    void give_up(const node_error& reason) override { of_.given_up = reason; }

  private:
    seen& of_;
  };

  class counted_chores final : public link_chores {
  public:
    bool run() override { return ++runs, go_on; }
    std::chrono::milliseconds pause() const noexcept override { return next; }

    int runs = 0;
    bool go_on = true;
    std::chrono::milliseconds next = std::chrono::milliseconds::max();
  };

  void start() {
    open();
    watch_.start(std::make_unique<shown_peer>(seen_), due_, owner_);
  }
  template <class Condition>
  void run_until(Condition condition) {
    for (const auto until = std::chrono::steady_clock::now() + 5s;
         !condition() && std::chrono::steady_clock::now() < until;) {
      io_.restart();
      io_.run_one_for(10ms);
    }
    EXPECT_TRUE(condition());
  }

  asio::io_context io_;
  seen seen_;
  counted_chores due_;
  std::shared_ptr<int> owner_ = std::make_shared<int>();
  peer_delay delay_;
  peer_watch watch_{common_, delay_, io_, 1ms, 20ms};
};

TEST_F(a_watch_of_the_peer, asks_a_silent_peer_and_gives_it_up) {
  start();
  run_until([this] { return seen_.given_up.has_value(); });
  EXPECT_EQ(seen_.given_up->code(), node_errc::link_down);
  EXPECT_TRUE(admin_.hear<ping>(admin_op::ping));
  EXPECT_GT(due_.runs, 0);
}

TEST_F(a_watch_of_the_peer, goes_on_while_something_comes) {
  start();
  const auto until = std::chrono::steady_clock::now() + 60ms;
  run_until([&] { return ++seen_.signs.bytes_read, std::chrono::steady_clock::now() > until; });
  EXPECT_FALSE(seen_.given_up);
}

TEST_F(a_watch_of_the_peer, ends_where_a_chore_ends_the_link) {
  due_.go_on = false;
  start();
  run_until([this] { return due_.runs > 0; });
  io_.restart();
  EXPECT_EQ(io_.run_for(50ms), 0u); // The watch has stopped.
  EXPECT_EQ(due_.runs, 1);
}

TEST_F(a_watch_of_the_peer, looks_again_as_soon_as_chores_are_due) {
  peer_watch unhurried{common_, delay_, io_, 1h, 3h};
  due_.next = 1ms;
  open();
  unhurried.start(std::make_unique<shown_peer>(seen_), due_, owner_);
  run_until([this] { return due_.runs > 2; });
  unhurried.stop();
}

TEST_F(a_watch_of_the_peer, measures_the_delay_at_the_first_look) {
  peer_watch unhurried{common_, delay_, io_, 1h, 3h};
  due_.next = 1ms;
  open();
  unhurried.start(std::make_unique<shown_peer>(seen_), due_, owner_);
  run_until([this] { return due_.runs > 2; });
  EXPECT_TRUE(admin_.hear<ping>(admin_op::ping)) << "although the peer is not silent for long";
  EXPECT_TRUE(admin_.is_silent()) << "it is asked once";
  EXPECT_EQ(delay_.now(), 0s);
  unhurried.on_pong({});
  EXPECT_GT(delay_.now(), 0s);
  unhurried.stop();
}

TEST_F(a_watch_of_the_peer, ends_with_the_link) {
  start();
  enter(link_state::closing);
  io_.restart();
  io_.run_for(50ms);
  EXPECT_EQ(due_.runs, 0);
  watch_.stop();
}

TEST_F(a_watch_of_the_peer, does_nothing_once_its_owner_is_gone) {
  start();
  owner_.reset();
  io_.restart();
  io_.run_for(50ms);
  EXPECT_EQ(due_.runs, 0);
}

TEST_F(a_watch_of_the_peer, answers_the_peers_own) {
  watch_.on_ping({});
  EXPECT_TRUE(admin_.hear<ping>(admin_op::pong));
  watch_.on_pong({});
  EXPECT_TRUE(admin_.is_silent());
}

} // namespace
} // namespace troupe::internal
