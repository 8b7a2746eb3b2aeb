// The whole path with two real processes. One of them dies at every bad moment.
#include <tuple>

#include <caf/all.hpp>
#include <gtest/gtest.h>

#include "messages.hpp"
#include "peer_process.hpp"

namespace troupe::tests {
namespace {

using array_ref = object_ref<array<double>>;

/// A family, and the number of I/O threads of both ends, which is one unless a test's name says otherwise.
class two_processes : public testing::TestWithParam<std::tuple<const char*, std::size_t>> {
protected:
  void SetUp() override {
    add_messages(types_);
    auto unique = std::to_string(::getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ranges::replace(unique, '/', '-');
    store_ = "sys-" + unique.substr(0, 50);
    address_ = "unix://@troupe-sys-" + unique;
    start_peer();
    node_options options{.name = "test", .io_threads = std::get<1>(GetParam())};
    options.store = store::options{.name = store_, .capacity_bytes = 64_MiB};
    auto opened = node::open(system_, types_, families_, options);
    ASSERT_TRUE(opened) << opened.error().message();
    home_.emplace(*std::move(opened));
    connect();
  }

  [[nodiscard]] static std::string family() { return std::get<0>(GetParam()); }
  void start_peer() {
    peer_ = std::make_unique<peer_process>(address_, store_, "typed,msgpack", std::get<1>(GetParam()));
  }
  void connect() {
    auto connected = home_->connect(address_, {.serializers = {family()}});
    ASSERT_TRUE(connected) << connected.error().message();
    link_.emplace(*std::move(connected));
    auto found = link_->find("keeper");
    ASSERT_TRUE(found) << found.error().message();
    keeper_ = *found;
  }

  template <class Result, class Question>
  std::expected<Result, std::string> ask(const Question& question) {
    caf::scoped_actor self{system_};
    std::expected<Result, std::string> result = std::unexpected{"nothing came"};
    self->request(keeper_, 10s, question)
        .receive([&](Result& value) { result = std::move(value); },
                 [&](const caf::error& error) { result = std::unexpected{troupe::text_of(error)}; });
    return result;
  }

  array_ref ones(std::size_t count) { return home_->put(array<double>(std::vector<double>(count, 1.0))).value(); }

  std::size_t objects() { return store::object_store{*home_->store()}.summary().value().objects; }
  bool link_ends() {
    return eventually([&] { return !link_->is_open(); });
  }

  std::string store_, address_;
  std::unique_ptr<peer_process> peer_;
  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  std::optional<node> home_;
  std::optional<link> link_;
  caf::actor keeper_;
};

INSTANTIATE_TEST_SUITE_P(each_family, two_processes,
                         testing::Values(std::tuple{"typed", 1}, std::tuple{"msgpack", 1}, std::tuple{"typed", 2},
                                         std::tuple{"typed", 4}),
                         [](const auto& which) {
                           const auto threads = std::get<1>(which.param);
                           return std::get<0>(which.param)
                                  + (threads == 1 ? std::string{} : "_" + std::to_string(threads));
                         });

TEST_P(two_processes, values_arrive_and_come_back) {
  measurement what{"cellar", -3.25, {1, -2, 3}};
  EXPECT_EQ(ask<measurement>(what), what);
  EXPECT_EQ(link_->serializers(), std::vector<std::string>{family()});
}

TEST_P(two_processes, a_large_array_is_read_in_place) {
  EXPECT_EQ(ask<double>(ones(1 << 20)), 1 << 20);
  EXPECT_EQ(link_->stats().handle_bytes_sent, 8u << 20);
  EXPECT_LT(link_->stats().socket_bytes_sent, 10'000u);
}

TEST_P(two_processes, a_reader_that_is_killed_holds_nothing_any_more) {
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(ask<double>(ones(100'000)), 100'000);
  EXPECT_EQ(objects(), 5u); // The peer keeps them; this end has dropped its references.
  peer_->kill();
  EXPECT_TRUE(eventually([&] { return objects() == 0; })) << objects();
}

TEST_P(two_processes, a_writer_that_is_killed_leaves_what_it_has_sent) {
  auto ref = ask<array_ref>(100'000);
  ASSERT_TRUE(ref) << ref.error();
  peer_->kill();
  ASSERT_TRUE(link_ends());
  auto values = ref->get();
  ASSERT_TRUE(values) << values.error().message();
  EXPECT_EQ(std::accumulate(values->begin(), values->end(), 0.0), 100'000);
  values = array<double>{};
  *ref = array_ref{};
  EXPECT_TRUE(eventually([&] { return objects() == 0; })) << objects();
}

TEST_P(two_processes, a_peer_that_dies_in_a_handler_fails_the_request_and_takes_its_proxies_down) {
  caf::scoped_actor self{system_};
  self->monitor(keeper_);
  auto answer = ask<int>(caf::atom("die"));
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().find("the link to peer is down"), std::string::npos) << answer.error();
  self->receive([](const caf::down_msg& down) { EXPECT_EQ(down.reason, caf::exit_reason::remote_link_unreachable); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
  EXPECT_EQ(peer_->ended(), processes::killed_by(SIGKILL));
}

TEST_P(two_processes, objects_on_their_way_to_a_peer_that_is_killed_are_let_go) {
  std::atomic<bool> stop{false};
  std::jthread flood{[&] {
    while (!stop && link_->is_open())
      caf::anon_send(keeper_, ones(20'000));
  }};
  ASSERT_TRUE(eventually([&] { return link_->stats().messages_sent > 20; }));
  peer_->kill();
  stop = true;
  flood.join();
  ASSERT_TRUE(link_ends());
  EXPECT_TRUE(eventually([&] { return objects() == 0; })) << objects();
}

TEST_P(two_processes, a_peer_that_comes_back_is_reached_by_a_new_link) {
  peer_->kill();
  ASSERT_TRUE(link_ends());
  EXPECT_FALSE(ask<double>(1.5));
  start_peer();
  connect();
  EXPECT_EQ(ask<double>(1.5), 1.5);
}

TEST_P(two_processes, families_that_the_peer_does_not_accept_are_refused_with_both_lists) {
  peer_.reset();
  ASSERT_TRUE(link_ends());
  std::string other = family() == "typed" ? "msgpack" : "typed";
  peer_ = std::make_unique<peer_process>(address_, store_, other);
  auto connected = home_->connect(address_, {.serializers = {family()}});
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::nothing_in_common);
  EXPECT_NE(connected.error().message().find("test sends with [" + family() + "], peer accepts [" + other + "]"),
            std::string::npos)
      << connected.error().message();
}

TEST_P(two_processes, a_node_that_ends_first_leaves_the_peer_in_peace) {
  keeper_ = nullptr;
  link_.reset();
  home_.reset();
  // The peer's destructor checks that it ends cleanly on its own.
}

} // namespace
} // namespace troupe::tests
