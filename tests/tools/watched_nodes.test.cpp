// Goal: `troupe view` asks all nodes at once, and waits for none that does not answer.
#include "command_support.hpp"

#include "../eventually.hpp"
#include "view/call_pool.hpp"
#include "view/watched_nodes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <string>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace troupe::tests {

namespace {

using tools::watched_nodes;

std::string own_address(const std::string& name) {
  return "unix://@troupe-watched-" + name + '-' + std::to_string(::getpid());
}

/// Takes connections, as the system does for a stopped process, and never answers.
class frozen_process {
public:
  explicit frozen_process(const std::string& address) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto name = address.substr(address.find('@') + 1);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    name.copy(at.sun_path + 1, sizeof(at.sun_path) - 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(socket_, 100), 0);
  }
  frozen_process(const frozen_process&) = delete;
  frozen_process& operator=(const frozen_process&) = delete;
  ~frozen_process() { ::close(socket_); }

private:
  int socket_;
};

node_options options_for(const std::string& name) {
  node_options options{.name = name, .listen = {own_address(name)}, .store = std::nullopt, .local_queries = false};
  options.accepted_links.allow_report = true;
  return options;
}

const viewed_node* named(const view_snapshot& in, const std::string& name) {
  for (const auto& each : in.nodes)
    if (each.report.name == name)
      return &each;
  return nullptr;
}

// Method: dialing the frozen process takes 8 s until it fails. Each look must take far less, and have new figures of
// the node that answers.
TEST(watched_nodes, are_shown_without_waiting_for_one_that_is_frozen) {
  program hall{options_for("hall")};
  const frozen_process frozen{own_address("frozen")};
  tools::access by;
  by.timeout_seconds = 8;
  tools::client client{by};
  watched_nodes nodes{client, {.addresses = {own_address("hall"), own_address("frozen")}}};
  const auto begun = std::chrono::steady_clock::now();
  std::int64_t age_ms = -1;
  for (int look = 0; look < 4; ++look) {
    view_snapshot seen;
    ASSERT_TRUE(eventually([&] { // A loaded host may take longer than a look's patience.
      seen = nodes.look(1s);
      return named(seen, "hall") != nullptr && named(seen, "hall")->report.age_ms > age_ms;
    }));
    age_ms = named(seen, "hall")->report.age_ms;
    EXPECT_EQ(named(seen, "hall")->state, viewed_state::open);
    const auto* const silent = named(seen, "");
    ASSERT_NE(silent, nullptr);
    EXPECT_EQ(silent->state, viewed_state::silent);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 6s);
}

// Method: a process that is frozen later cannot be made in this process; a node whose thread is held cannot either. A
// link's end that is gone stands for it.
TEST(watched_nodes, keep_the_last_figures_of_one_that_does_not_answer_any_more) {
  auto hall = std::make_unique<program>(options_for("hall"));
  tools::access by;
  by.timeout_seconds = 1;
  tools::client client{by};
  watched_nodes nodes{client, {.addresses = {own_address("hall")}}};
  ASSERT_TRUE(eventually([&] { return named(nodes.look(1s), "hall") != nullptr; }));
  const auto key = named(nodes.look(1s), "hall")->key;
  hall.reset();
  view_snapshot seen;
  EXPECT_TRUE(eventually([&] {
    seen = nodes.look(1s);
    const auto* const silent = named(seen, "hall");
    return silent != nullptr && silent->state == viewed_state::silent && silent->state_ms > 0
           && silent->report_age_ms >= silent->state_ms && !silent->problem.empty();
  }));
  EXPECT_EQ(named(seen, "hall")->key, key);
  EXPECT_FALSE(nodes.act({.node = key, .order = {.what = order_kind::close_link, .number = 1}}, "boss", 1s));
}

TEST(call_pool, runs_many_calls_at_once_and_all_of_them) {
  std::atomic<int> done{0};
  tools::call_pool calls;
  std::latch together{20};
  for (int i = 0; i < 20; ++i)
    calls.run([&] {
      together.arrive_and_wait(); // Ends only if all of them run.
      ++done;
    });
  EXPECT_TRUE(eventually([&] { return done == 20; }));
  for (int i = 0; i < 500; ++i)
    calls.run([&] { ++done; });
  EXPECT_TRUE(eventually([&] { return done == 520; }));
}

} // namespace

} // namespace troupe::tests
