// Many links and many actors, of which nothing is left when they are gone.
#include <atomic>

#include <sys/resource.h>

#include "three_nodes.hpp"

namespace troupe::tests {
namespace {

using actors = std::vector<caf::actor>;

/// Spawns the requested number of actors and returns their handles.
caf::behavior factory(caf::event_based_actor* self) {
  return {[self](int count) {
    actors made;
    for (int i = 0; i < count; ++i)
      made.push_back(
          self->spawn<caf::lazy_init>([]() -> caf::behavior { return {[](int value) { return value + 1; }}; }));
    return made;
  }};
}

/// Raises the limit of open files as far as the system allows.
void raise_file_limit() {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

class scale : public three_nodes {
protected:
  [[nodiscard]] bool nothing_is_left(link& of, std::uint64_t exported, std::uint64_t imported) {
    return eventually([&] {
      auto stats = of.stats();
      return stats.actors_exported == exported && stats.actors_imported == imported;
    });
  }
};

TEST_F(scale, a_thousand_links_at_one_node) {
  raise_file_limit();
  constexpr int count = 1'000;
  publish("factory", far().system.spawn(factory));
  std::vector<link> links;
  for (int i = 0; i < count; ++i) {
    auto connected = near().home->connect(address_);
    ASSERT_TRUE(connected) << "link " << i << ": " << connected.error().message();
    links.push_back(*std::move(connected));
  }
  EXPECT_EQ(far().home->links().size(), static_cast<std::size_t>(count));
  std::vector<caf::actor> found;
  for (auto& each : links) {
    auto made = each.find("factory");
    ASSERT_TRUE(made) << made.error().message();
    found.push_back(*made);
  }
  caf::scoped_actor self{near().system};
  for (const auto& each : found)
    self->send(each, 1);
  int answered = 0;
  for (const auto& each : found)
    self->request(each, 10s, 1)
        .receive([&](const actors& made) { answered += made.size() == 1 ? 1 : 0; },
                 [](caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  EXPECT_EQ(answered, count);
  found.clear();
  for (auto& each : links)
    each.close();
  EXPECT_TRUE(eventually([&] { return near().home->links().empty() && far().home->links().empty(); }));
}

TEST_F(scale, a_hundred_thousand_actors_named_and_gone_leave_nothing) {
  constexpr int rounds = 100;
  constexpr int each_round = 1'000;
  publish("factory", far().system.spawn(factory));
  connect();
  auto remote = find("factory");
  auto before = link_->stats();
  auto far_before = far().home->links().front().stats();
  auto running = far().system.registry().running();
  {
    actors all;
    for (int i = 0; i < rounds; ++i) {
      auto made = ask<actors>(near().system, remote, each_round);
      ASSERT_TRUE(made) << text_of(made);
      std::ranges::move(*made, std::back_inserter(all));
    }
    EXPECT_EQ(link_->stats().actors_imported, before.actors_imported + rounds * each_round);
    EXPECT_EQ(ask<int>(near().system, all.front(), 1), 2);
    EXPECT_EQ(ask<int>(near().system, all.back(), 2), 3);
  }
  EXPECT_TRUE(nothing_is_left(*link_, before.actors_exported, before.actors_imported));
  auto back = far().home->links().front();
  EXPECT_TRUE(nothing_is_left(back, far_before.actors_exported, far_before.actors_imported));
  EXPECT_TRUE(eventually([&] { return far().system.registry().running() <= running; }));
}

TEST_F(scale, monitored_actors_that_end_leave_nothing) {
  constexpr int count = 10'000;
  far_options_.accepted_links.allow_exit = true;
  publish("factory", far().system.spawn(factory));
  connect();
  auto remote = find("factory");
  auto before = link_->stats();
  auto made = ask<actors>(near().system, remote, count);
  ASSERT_TRUE(made) << text_of(made);
  caf::scoped_actor self{near().system};
  for (const auto& each : *made) {
    self->monitor(each);
    caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
  }
  for (int i = 0; i < count; ++i)
    self->receive([](const caf::down_msg&) {}, caf::after(10s) >> [] { FAIL() << "no down message"; });
  made->clear();
  EXPECT_TRUE(nothing_is_left(*link_, before.actors_exported, before.actors_imported));
}

TEST_F(scale, actors_of_third_nodes_that_are_gone_leave_nothing) {
  constexpr int count = 10'000;
  connect_all();
  auto remote = find_beyond("factory", third().system.spawn(factory));
  auto before = link_->stats();
  auto beyond_before = beyond_->stats();
  {
    auto made = ask<actors>(near().system, remote, count);
    ASSERT_TRUE(made) << text_of(made);
    EXPECT_EQ(ask<int>(near().system, made->back(), 2), 3);
  }
  EXPECT_TRUE(nothing_is_left(*link_, before.actors_exported, before.actors_imported));
  EXPECT_TRUE(nothing_is_left(*beyond_, beyond_before.actors_exported, beyond_before.actors_imported));
}

} // namespace
} // namespace troupe::tests
