// Families that change on an open link, without a peer. The test acts as the peer.
#include <asio/io_context.hpp>

#include <troupe/framework/internal/link/family_changes.hpp>

#include <future>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

class families_that_change : public lone_link {
protected:
  families_that_change() {
    changes_.belong_to(owner_);
    changes_.accept_only({"typed"});
    {
      const auto held = mutex_.lock();
      changes_.open(held, {{"typed"}, {"typed"}}, {{"typed", "msgpack"}, {"typed", "msgpack"}}, {.spill_bytes = 7});
    }
    open();
  }

  using result = std::expected<void, node_error>;

  std::future<result> begin(link_changes what, std::chrono::milliseconds timeout = 5s) {
    return std::async(std::launch::async,
                      [this, what = std::move(what), timeout] { return changes_.reconfigure(what, timeout); });
  }
  /// Returns this end's change in the form in which the peer gets it.
  std::optional<family_change> next_change() {
    for (const auto until = std::chrono::steady_clock::now() + 5s; std::chrono::steady_clock::now() < until;) {
      io_.run_one_for(10ms);
      io_.restart();
      const auto told = admin_.hear<family_change>(admin_op::reconfigure);
      if (told)
        return told;
    }
    return std::nullopt;
  }
  static node_errc code_of(const result& done) { return done ? node_errc{} : done.error().code(); }
  std::size_t spill_bytes() {
    const auto held = mutex_.lock();
    return terms_now_.now(held)->spill_bytes;
  }

  type_registry types_;
  family_set families_;
  asio::io_context io_;
  std::shared_ptr<int> owner_ = std::make_shared<int>();
  current_terms terms_now_{common_, types_, families_, "near", 9};
  acceptance accepted_{types_, families_, limits{}, false, 0};
  received_dictionary known_{accepted_, nullptr};
  family_changes changes_{common_, {terms_now_, accepted_, known_, families_, io_}, {.name = "near"}};
};

TEST_F(families_that_change, are_told_the_peer_and_both_accepted_until_it_has_acknowledged) {
  auto done = begin({.serializers = {{"msgpack"}}, .deserializers = {{"msgpack"}}});
  const auto told = next_change();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->serializers, (std::vector<std::string>{"msgpack"}));
  EXPECT_EQ(terms_now_.families(), (std::vector<std::string>{"msgpack"})); // The peer already accepts it.
  EXPECT_EQ(accepted_.names(), (std::vector<std::string>{"msgpack", "typed"}));
  EXPECT_TRUE(changes_.on_reconfigured({.number = told->number, .refusal = {}}));
  EXPECT_EQ(accepted_.names(), (std::vector<std::string>{"msgpack"}));
  EXPECT_EQ(changes_.accepted(), (std::vector<std::string>{"msgpack"}));
  EXPECT_TRUE(done.get());
}

TEST_F(families_that_change, come_back_with_all_else_that_was_changed_where_the_peer_refuses) {
  auto done = begin({.serializers = {{"msgpack"}}, .spill_bytes = 8});
  const auto told = next_change();
  ASSERT_TRUE(told);
  EXPECT_EQ(spill_bytes(), 8u);
  EXPECT_TRUE(changes_.on_reconfigured({.number = told->number, .refusal = "no"}));
  EXPECT_EQ(code_of(done.get()), node_errc::nothing_in_common);
  EXPECT_EQ(spill_bytes(), 7u);
  EXPECT_EQ(terms_now_.families(), (std::vector<std::string>{"typed"}));
}

TEST_F(families_that_change, do_not_ask_the_peer_where_it_is_not_concerned) {
  EXPECT_TRUE(changes_.reconfigure({.spill_bytes = 8, .offload_bytes = 10}, 0ms));
  EXPECT_EQ(spill_bytes(), 8u);
  EXPECT_EQ(terms_now_.offload_bytes(), 10u);
  io_.poll();
  EXPECT_TRUE(admin_.is_silent());
}

TEST_F(families_that_change, are_refused_here_where_they_cannot_be) {
  EXPECT_EQ(code_of(changes_.reconfigure({.serializers = std::vector<std::string>{}}, 0ms)), node_errc::bad_option);
  EXPECT_FALSE(changes_.reconfigure({.serializers = {{"nowhere"}}}, 0ms));
  EXPECT_EQ(code_of(changes_.reconfigure({.serializers = {{"json"}}}, 0ms)), node_errc::nothing_in_common);
  enter(link_state::closing);
  EXPECT_EQ(code_of(changes_.reconfigure({.serializers = {{"msgpack"}}}, 0ms)), node_errc::link_down);
}

TEST_F(families_that_change, wait_for_the_change_before_and_end_with_the_link) {
  auto first = begin({.serializers = {{"msgpack"}}});
  ASSERT_TRUE(next_change());
  EXPECT_EQ(code_of(changes_.reconfigure({.spill_bytes = 8}, 1ms)), node_errc::timed_out);
  EXPECT_EQ(spill_bytes(), 7u);
  auto second = begin({.spill_bytes = 8});
  enter(link_state::closed);
  changes_.end({node_errc::link_down, "gone"});
  EXPECT_EQ(code_of(first.get()), node_errc::link_down);
  EXPECT_EQ(code_of(second.get()), node_errc::link_down);
}

TEST_F(families_that_change, must_have_been_told_to_be_answered) {
  EXPECT_EQ(code_of(changes_.on_reconfigured({.number = 1, .refusal = {}})), node_errc::protocol_violation);
}

TEST_F(families_that_change, at_the_peer_are_acknowledged_once_nothing_older_waits) {
  {
    const auto held = mutex_.lock();
    changes_.lists().add_waiting(changes_.peer_epoch(held));
  }
  EXPECT_TRUE(changes_.on_reconfigure({.number = 1, .serializers = {"typed"}, .deserializers = {"typed"}}));
  EXPECT_TRUE(admin_.is_silent());
  const auto held = mutex_.lock();
  EXPECT_EQ(changes_.peer_epoch(held), 1u);
  changes_.lists().remove_waiting(0);
  outbox out;
  changes_.acknowledge_if_due(held, &out);
  ASSERT_EQ(packets_in(out).size(), 1u);
  EXPECT_EQ(decode_admin<reconfigured>(packets_in(out)[0].body, limits{})->number, 1u);
  changes_.acknowledge_if_due(held, nullptr); // Acknowledged once.
  EXPECT_TRUE(admin_.is_silent());
}

TEST_F(families_that_change, at_the_peer_are_refused_where_nothing_would_be_in_common) {
  EXPECT_TRUE(changes_.on_reconfigure({.number = 1, .serializers = {"json"}, .deserializers = {"typed"}}));
  const auto refused = admin_.hear<reconfigured>(admin_op::reconfigured);
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->refusal.empty());
  EXPECT_TRUE(changes_.on_reconfigure({.number = 2, .serializers = {"typed"}, .deserializers = {"typed"}}));
  EXPECT_TRUE(admin_.hear<reconfigured>(admin_op::reconfigured)->refusal.empty());
}

TEST_F(families_that_change, at_the_peer_come_in_turn_and_bounded) {
  EXPECT_EQ(code_of(changes_.on_reconfigure({.number = 2, .serializers = {"typed"}, .deserializers = {"typed"}})),
            node_errc::protocol_violation);
  EXPECT_EQ(code_of(changes_.on_reconfigure(
                {.number = 1, .serializers = std::vector<std::string>(65, "typed"), .deserializers = {"typed"}})),
            node_errc::protocol_violation);
  EXPECT_EQ(code_of(changes_.on_reconfigure(
                {.number = 1, .serializers = {"typed"}, .deserializers = {std::string(1025, 'x')}})),
            node_errc::protocol_violation);
}

} // namespace
} // namespace troupe::internal
