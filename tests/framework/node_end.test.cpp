// A node ends in any state: while a handler does not return, within one of its own handlers, and within its own I/O.
#include "two_nodes.hpp"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <tuple>

#include <sys/resource.h>
#include <unistd.h>

#include <troupe/framework/log.hpp>

namespace troupe::tests {
namespace {

std::size_t threads_of_process() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, std::filesystem::directory_iterator{}));
}

/// Where a handler reports that it has entered, and waits.
struct gate {
  std::promise<void> entered;
  std::promise<void> open;
  std::shared_future<void> opened = open.get_future().share();
};

/// Runs with several numbers of I/O threads.
class node_end : public two_nodes, public testing::WithParamInterface<std::size_t> {
protected:
  node_end() { far_options_.io_threads = near_options_.io_threads = GetParam(); }

  /// Enters the gate at the far end, in a handler that the far end's I/O thread executes.
  void enter(const std::shared_ptr<gate>& gate) {
    publish("gatekeeper", far().system.spawn([gate]() -> caf::behavior {
      return {[gate](int) {
        gate->entered.set_value();
        gate->opened.wait_for(20s);
        return 0;
      }};
    }));
    connect();
    caf::anon_send(find("gatekeeper"), 1);
    ASSERT_EQ(gate->entered.get_future().wait_for(10s), std::future_status::ready);
  }

  bool link_goes_down() {
    return eventually([this] { return !link_->is_open(); });
  }
};

TEST_P(node_end, does_not_wait_for_a_handler_that_runs_on_its_thread) {
  auto held = std::make_shared<gate>();
  enter(held);
  auto ended = std::async(std::launch::async, [this] { far_->home.reset(); });
  EXPECT_EQ(ended.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(link_goes_down());
  held->open.set_value();
}

TEST_P(node_end, a_handler_that_outlives_its_node_goes_on) {
  auto held = std::make_shared<gate>();
  auto done = std::make_shared<std::promise<int>>();
  enter(held);
  auto next = far().system.spawn([done]() -> caf::behavior { return {[done](int value) { done->set_value(value); }}; });
  publish("next", next);
  far_->home.reset();
  caf::anon_send(next, 7); // The system's own threads execute it.
  EXPECT_EQ(done->get_future().wait_for(10s), std::future_status::ready);
  held->open.set_value();
}

// Goal: if a program declares node and system in the wrong order, an error names the node at once, not after a minute.
TEST(node_that_outlives_its_system, is_named_before_the_process_ends) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_DEATH(
      {
        set_log_threshold(log_level::warning);
        type_registry types;
        family_set families;
        system_config config;
        std::optional<node> open;
        caf::actor_system system{config};
        open.emplace(*node::open(system, types, families, {.name = "kitchen", .store = std::nullopt}));
      },
      "an actor system ends while its node kitchen is open.* unless the node does");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 30s);
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) // They need threads of their own.

/// Opens a node with `options` while at most `further` more threads can be created. Prints the result and ends the
/// process.
[[noreturn]] void open_without_threads(node_options options, std::size_t further = 0) {
  {
    type_registry types;
    family_set families;
    system_config config;
    caf::actor_system system{config};
    const rlim_t most = further == 0 ? 1 : threads_of_process() + further;
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_NPROC, &limit);
    if (::geteuid() == 0) // Root is exempt from the limit.
      std::ignore = ::setresuid(64'999, 64'999, 64'999);
    const auto opened = node::open(system, types, families, std::move(options));
    std::cerr << (opened ? "open" : to_string(opened.error().code()) + ": " + opened.error().message()) << '\n';
  }
  std::cerr << "the system has ended\n";
  std::_Exit(0);
}

// Goal: the error names the limit, and the actor system ends as if there had been no node.
TEST(node_without_threads, is_refused_and_leaves_nothing_behind) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  for (const bool dispatch : {true, false})
    EXPECT_EXIT(
        open_without_threads({.name = "kitchen", .store = std::nullopt, .local_queries = false, .dispatch = dispatch}),
        testing::ExitedWithCode(0),
        "bad_option: node kitchen needs .*RLIMIT_NPROC, is 1.*pids\\.max.*\n(.*\n)*the system has ended");
}

// Goal: the I/O threads that could be created end as well.
TEST(node_without_threads, is_refused_where_not_all_can_be_made) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "other processes of this user would count";
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      open_without_threads({.name = "kitchen", .store = std::nullopt, .local_queries = false, .io_threads = 3}, 3),
      testing::ExitedWithCode(0), "bad_option: node kitchen needs two threads .*\n(.*\n)*the system has ended");
}

TEST(node_without_threads, says_so_of_its_store) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto store = "threads" + std::to_string(::getpid());
  EXPECT_EXIT(open_without_threads({.name = "kitchen", .store = store::options{.name = store}, .local_queries = false}),
              testing::ExitedWithCode(0),
              "bad_option: node kitchen needs .*for its store.*\n(.*\n)*the system has ended");
}

#endif

TEST_P(node_end, in_a_handler_of_its_own) {
  for (bool dispatch : {true, false}) {
    far_options_.dispatch = dispatch;
    auto ended = std::make_shared<std::promise<void>>();
    publish("breaker", far().system.spawn([this, ended]() -> caf::behavior {
      return {[this, ended](int) {
        far_->home.reset();
        ended->set_value();
      }};
    }));
    connect();
    caf::anon_send(find("breaker"), 1);
    EXPECT_EQ(ended->get_future().wait_for(10s), std::future_status::ready);
    EXPECT_TRUE(link_goes_down());
    link_.reset();
    far_.reset();
  }
}

TEST_P(node_end, by_the_last_reference_to_the_actor_that_has_it) {
  // The peer releases the actor on the I/O thread, which ends the node that the link belongs to.
  for (bool dispatch : {true, false}) {
    far_options_.dispatch = dispatch;
    auto owned = std::make_shared<std::promise<void>>();
    publish("lender", far().system.spawn([this, owned](caf::event_based_actor* self) -> caf::behavior {
      return {[this, owned, self](int) {
        auto home = std::make_shared<std::optional<node>>(std::move(far_->home));
        far_->home.reset();
        (*home)->unpublish("lender");
        return caf::actor{self->spawn<caf::lazy_init>([home]() -> caf::behavior { return {[home](int) {}}; })};
      }};
    }));
    connect();
    {
      auto owner = ask<caf::actor>(near().system, find("lender"), 1);
      ASSERT_TRUE(owner) << text_of(owner);
      EXPECT_TRUE(link_->is_open());
    }
    EXPECT_TRUE(link_goes_down());
    link_.reset();
    far_.reset();
  }
}

/// Makes an actor end slowly after it counts as gone.
struct slow_end {
  ~slow_end() { std::this_thread::sleep_for(300ms); }
};

class slow_owner : public caf::event_based_actor {
public:
  slow_owner(caf::actor_config& config, std::optional<troupe::node>&& home)
      : caf::event_based_actor(config), home_(std::move(home)) {
    home.reset();
  }
  caf::behavior make_behavior() override {
    return {[](int) {}};
  }

private:
  std::optional<troupe::node> home_; // Destroyed after slow_.
  slow_end slow_;
};

TEST_P(node_end, comes_while_the_actor_system_ends_by_the_io_thread) {
  publish("lender", far().system.spawn([this](caf::event_based_actor* self) -> caf::behavior {
    return {[this, self](int) {
      far_->home->unpublish("lender");
      auto owner = self->spawn<slow_owner>(std::move(far_->home));
      far_->home.reset();
      self->quit(); // Otherwise the system's end waits for this actor.
      return caf::actor{owner};
    }};
  }));
  connect();
  {
    auto owner = ask<caf::actor>(near().system, find("lender"), 1);
    ASSERT_TRUE(owner) << text_of(owner);
  }
  far_.reset(); // All actors count as gone, but the node does not.
  EXPECT_TRUE(link_goes_down());
}

TEST_P(node_end, comes_while_the_actor_system_ends_by_a_worker) {
  connect();
  auto owner = far().system.spawn<slow_owner>(std::move(far_->home));
  far_->home.reset();
  caf::anon_send_exit(owner, caf::exit_reason::user_shutdown);
  owner = nullptr;
  far_.reset();
  EXPECT_TRUE(link_goes_down());
}

/// Ends its node when it is destroyed, after waiting up to 2 s until the other crossing is being destroyed as well.
class crossing {
public:
  crossing(std::shared_ptr<std::optional<node>> home, std::shared_ptr<std::promise<void>> here,
           std::shared_future<void> there)
      : home_(std::move(home)), here_(std::move(here)), there_(std::move(there)) {}
  crossing(const crossing&) = delete;
  crossing& operator=(const crossing&) = delete;
  ~crossing() {
    here_->set_value();
    there_.wait_for(2s);
    home_->reset();
  }

private:
  std::shared_ptr<std::optional<node>> home_;
  std::shared_ptr<std::promise<void>> here_; // May outlive the waiting test.
  std::shared_future<void> there_;
};

/// Gives away one actor, which owns `what`.
caf::behavior lender(caf::event_based_actor* self, std::shared_ptr<crossing> what) {
  return {[self, owned = std::move(what)](int) mutable {
    return caf::actor{
        self->spawn([taken = std::exchange(owned, nullptr)]() -> caf::behavior { return {[taken](int) {}}; })};
  }};
}

// Method: each system has an actor that owns the other system's node; when the peer releases that actor, the node ends.
TEST_P(node_end, of_two_at_once_by_each_others_io_threads) {
  connect();
  auto near_ends = std::make_shared<std::promise<void>>();
  auto far_ends = std::make_shared<std::promise<void>>();
  auto near_home = std::make_shared<std::optional<node>>(std::move(near_->home));
  auto far_home = std::make_shared<std::optional<node>>(std::move(far_->home));
  near_->home.reset();
  far_->home.reset();
  auto in_far =
      far_->system.spawn(lender, std::make_shared<crossing>(near_home, near_ends, far_ends->get_future().share()));
  auto in_near =
      near_->system.spawn(lender, std::make_shared<crossing>(far_home, far_ends, near_ends->get_future().share()));
  ASSERT_TRUE((*far_home)->publish("lender", in_far));
  ASSERT_TRUE((*near_home)->publish("lender", in_near));
  {
    auto of_far = link_->find("lender");
    auto of_near = (*far_home)->links().front().find("lender");
    ASSERT_TRUE(of_far && of_near);
    auto owner_of_near = ask<caf::actor>(near_->system, *of_far, 1);
    auto owner_of_far = ask<caf::actor>(far_->system, *of_near, 1);
    ASSERT_TRUE(owner_of_near && owner_of_far);
    (*far_home)->unpublish("lender");
    (*near_home)->unpublish("lender");
    in_far = in_near = nullptr;
    near_home.reset();
    far_home.reset();
  }
  EXPECT_TRUE(link_goes_down());
  link_.reset();
}

TEST_P(node_end, in_handlers_of_its_own_again_and_again_leaves_no_threads) {
  far().home.reset(); // Only its actor system is used.
  near();
  auto& system = far().system;
  std::size_t after_some = 0;
  for (int round = 0; round < 20; ++round) {
    auto address = "unix://@" + unique_name("troupe-again");
    auto opened = node::open(system, far().types, far().families,
                             {.listen = {address}, .store = std::nullopt, .io_threads = GetParam()});
    ASSERT_TRUE(opened) << opened.error().message();
    auto home = std::make_shared<std::optional<node>>(*std::move(opened));
    auto ended = std::make_shared<std::promise<void>>();
    ASSERT_TRUE((*home)->publish("breaker", system.spawn([home, ended](caf::event_based_actor* self) -> caf::behavior {
      return {[home, ended, self](int) {
        home->reset();
        ended->set_value();
        self->quit();
      }};
    })));
    // The previous node had the same id, and near may not have noticed yet that it is gone.
    auto connected = near().home->connect(address);
    EXPECT_TRUE(eventually([&] { return connected || (connected = near().home->connect(address)); }))
        << connected.error().message();
    if (!connected) {
      home->reset(); // Breaks the cycle of actor and node.
      return;
    }
    caf::anon_send(*connected->find("breaker"), 1);
    ASSERT_EQ(ended->get_future().wait_for(10s), std::future_status::ready);
    if (round == 5)
      after_some = threads_of_process();
  }
  EXPECT_LE(threads_of_process(), after_some + 2 * GetParam()); // The last node's threads may still be ending.
}

INSTANTIATE_TEST_SUITE_P(with, node_end, testing::Values(1, 2, 4),
                         [](const auto& which) { return std::to_string(which.param) + "_io_threads"; });

} // namespace
} // namespace troupe::tests
