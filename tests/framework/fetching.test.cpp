// A caller that waits for an object gets its value, an error, or a timeout.
#include <troupe/framework/fetching.hpp>

#include <array>
#include <future>

#include "fake_object.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using doubles = array<double>;

class waiting : public testing::Test {
protected:
  template <class T>
  far_object<T> far_away(const T& value) {
    auto ref = home_.home->put(value);
    if (!ref)
      throw std::runtime_error(ref.error().message());
    return far_object<T>{*ref};
  }
  far_object<doubles> far_doubles(double first) { return far_away(doubles(std::vector{first, 2.0, 3.0})); }

  side home_{node_options{}};
};

TEST_F(waiting, get_never_waits_unless_it_is_told_to) {
  auto far = far_doubles(1);
  auto value = far.ref.get();
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), node_errc::fetch_timed_out);
  EXPECT_EQ(far.source->fetches(), 0);
}

// Goal: a caller never relies on an outdated check of whether the bytes are here.
// Method: the bytes arrive just before the n-th check, for each n that a call may reach.
TEST_F(waiting, bytes_that_come_between_two_questions_are_read_or_did_not_come_in_time) {
  const auto is_value_or_late = [](const auto& result) {
    return result.has_value()
           || (result.error().code() == node_errc::fetch_timed_out && !result.error().message().empty());
  };
  for (std::size_t asks = 0; asks < 8; ++asks) {
    SCOPED_TRACE(asks);
    const auto soon = [&] {
      auto far = far_doubles(1);
      far.source->arrive_after_asks(asks);
      return far;
    };
    auto here = far_doubles(1);
    here.source->arrive();
    EXPECT_TRUE(is_value_or_late(soon().ref.get()));
    EXPECT_TRUE(is_value_or_late(soon().ref.get(1ms)));
    EXPECT_TRUE(is_value_or_late(get_all(std::vector{soon().ref})));
    EXPECT_TRUE(is_value_or_late(get_all(std::vector{here.ref, soon().ref, soon().ref})));
    EXPECT_TRUE(is_value_or_late(get_all(std::vector{here.ref, soon().ref}, 1ms)));
    EXPECT_TRUE(is_value_or_late(internal::bytes_here(internal::state_of(soon().ref))));
    const auto waited = wait(std::vector{here.ref, soon().ref}, 2);
    ASSERT_TRUE(waited);
    EXPECT_GE(waited->here.size(), 1u);
    EXPECT_TRUE(waited->failed.empty());
  }
}

TEST_F(waiting, one_thread_reads_without_waiting_what_another_one_fetches) {
  for (int round = 0; round < 200; ++round) {
    auto far = far_doubles(1);
    auto fetched = std::async(std::launch::async, [&] { return far.ref.get(10s); });
    ASSERT_TRUE(far.source->is_fetched());
    auto arrival = std::async(std::launch::async, [&] { far.source->arrive(); });
    auto value = far.ref.get();
    while (!value) {
      auto all = get_all(std::vector{far.ref});
      ASSERT_TRUE(all || all.error().code() == node_errc::fetch_timed_out);
      if (all)
        value = all->front();
    }
    EXPECT_EQ((*value)[0], 1.0);
    arrival.get();
    EXPECT_TRUE(fetched.get());
  }
}

TEST_F(waiting, get_waits_until_the_bytes_are_here) {
  auto far = far_doubles(1);
  auto value = std::async(std::launch::async, [&] { return far.ref.get(10s); });
  ASSERT_TRUE(far.source->is_fetched());
  far.source->arrive();
  auto got = value.get();
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ((*got)[0], 1.0);
  EXPECT_EQ(static_cast<const void*>(got->data()), internal::state_of(far.ref)->source->here()->bytes().data());
}

TEST_F(waiting, get_says_what_it_has_waited_for_and_how_long) {
  auto far = far_doubles(1);
  auto value = far.ref.get(20ms);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), node_errc::fetch_timed_out);
  EXPECT_NE(value.error().message().find("24 bytes did not arrive within 20 ms"), std::string::npos)
      << value.error().message();
  EXPECT_EQ(far.source->cancelled(), 1);
}

TEST_F(waiting, get_fails_as_the_source_does) {
  auto far = far_doubles(1);
  far.source->fail({node_errc::object_lost, "its owner is gone"});
  auto value = far.ref.get(10s);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), node_errc::object_lost);
  EXPECT_EQ(value.error().message(), "its owner is gone");
}

TEST_F(waiting, get_of_bytes_that_are_no_value_says_so) {
  auto ref = home_.home->put(doubles(std::vector{1.0}));
  far_object<doubles> far(*ref, frame::copy_of(std::vector<std::byte>(5)));
  far.source->arrive();
  auto value = far.ref.get(10s);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), node_errc::undecodable);
}

TEST_F(waiting, an_empty_reference_is_lost_at_once) {
  EXPECT_EQ(object_ref<doubles>().get(10s).error().code(), node_errc::object_lost);
}

TEST_F(waiting, a_handler_must_not_wait) {
  auto far = far_doubles(1);
  std::promise<node_error> refusal;
  home_.system.spawn([&] { refusal.set_value(far.ref.get(10s).error()); });
  auto error = refusal.get_future().get();
  EXPECT_EQ(error.code(), node_errc::unsupported);
  EXPECT_NE(error.message().find("node.fetch"), std::string::npos);
  EXPECT_EQ(far.source->fetches(), 0);
}

// Goal: a program fails in the same way whether the bytes are on its own host or on another one.
TEST_F(waiting, a_handler_may_get_what_is_here_but_not_with_a_timeout) {
  auto far = far_doubles(1);
  far.source->arrive();
  std::promise<std::array<bool, 4>> may;
  home_.system.spawn([&] {
    const std::vector refs{far.ref};
    may.set_value({far.ref.get().has_value(), far.ref.get(10s).has_value(), get_all(refs, 10s).has_value(),
                   wait(refs, 1, 10s).has_value()});
  });
  EXPECT_EQ(may.get_future().get(), (std::array{true, false, false, false}));
}

TEST_F(waiting, all_are_fetched_at_the_same_time) {
  auto one = far_doubles(1);
  auto two = far_doubles(2);
  auto values = std::async(std::launch::async, [&] { return get_all(std::vector{one.ref, two.ref}, 10s); });
  ASSERT_TRUE(two.source->is_fetched() && one.source->is_fetched());
  two.source->arrive();
  one.source->arrive();
  auto got = values.get();
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ((*got)[0][0], 1.0);
  EXPECT_EQ((*got)[1][0], 2.0);
}

TEST_F(waiting, when_one_fails_the_others_are_cancelled) {
  auto one = far_doubles(1);
  auto two = far_doubles(2);
  two.source->fail({node_errc::object_lost, "gone"});
  auto values = get_all(std::vector{one.ref, two.ref}, 10s);
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code(), node_errc::object_lost);
  EXPECT_EQ(values.error().message(), "object 2 of 2: gone");
  EXPECT_EQ(one.source->cancelled(), 1);
}

TEST_F(waiting, one_deadline_is_for_all) {
  auto one = far_doubles(1);
  auto two = far_doubles(2);
  one.source->arrive();
  auto values = get_all(std::vector{one.ref, two.ref}, 20ms);
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code(), node_errc::fetch_timed_out);
  EXPECT_NE(values.error().message().find("object 2 of 2"), std::string::npos);
}

TEST_F(waiting, wait_returns_when_enough_are_here_and_cancels_the_rest) {
  auto one = far_doubles(1);
  auto two = far_away(reading{"roof", 20, {}}); // The references have different types.
  auto three = far_doubles(3);
  const std::vector<any_object_ref> refs{one.ref, two.ref, three.ref};
  auto result = std::async(std::launch::async, [&] { return wait(refs, 2, 10s); });
  ASSERT_TRUE(three.source->is_fetched());
  three.source->arrive();
  ASSERT_TRUE(one.source->is_fetched());
  one.source->arrive();
  auto got = result.get();
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->here, (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(got->failed.empty());
  EXPECT_EQ(two.source->cancelled(), 1);
}

TEST_F(waiting, wait_fetches_nothing_when_enough_are_here) {
  auto one = far_doubles(1);
  auto two = far_doubles(2);
  two.source->arrive();
  auto result = wait(std::vector{one.ref, two.ref}, 1, 10s);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->here, std::vector<std::size_t>{1});
  EXPECT_EQ(one.source->fetches(), 0);
}

TEST_F(waiting, wait_ends_with_what_is_here_when_the_time_is_over) {
  auto one = far_doubles(1);
  auto two = far_doubles(2);
  two.source->arrive();
  auto result = wait(std::vector{one.ref, two.ref}, 2, 20ms);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->here, std::vector<std::size_t>{1});
  EXPECT_EQ(one.source->cancelled(), 1);
}

TEST_F(waiting, wait_ends_when_too_many_are_lost) {
  auto one = far_doubles(1);
  auto two = far_doubles(2);
  two.source->fail({node_errc::object_lost, "gone"});
  auto result = wait(std::vector{one.ref, two.ref}, 2, 10s);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->here.empty());
  ASSERT_EQ(result->failed.size(), 1u);
  EXPECT_EQ(result->failed[0].position, 1u);
  EXPECT_EQ(result->failed[0].reason.code(), node_errc::object_lost);
}

class fetching : public waiting {
protected:
  /// Spawns an actor that fetches the value and reports the result.
  caf::actor ask_for(const object_ref<doubles>& ref, std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    return home_.system.spawn([this, ref, timeout](caf::event_based_actor* self) -> caf::behavior {
      home_.home->fetch(self, ref, timeout)
          .then([this](doubles& value) { got_.set_value(value[0]); },
                [this](caf::error& error) { got_.set_value(std::unexpected{to_node_error(error)}); });
      return {[](caf::unit_t) {}};
    });
  }
  std::expected<double, node_error> got() { return got_.get_future().get(); }

  std::promise<std::expected<double, node_error>> got_;
};

TEST_F(fetching, an_actor_gets_the_value_as_an_answer) {
  auto far = far_doubles(4);
  auto asker = ask_for(far.ref);
  ASSERT_TRUE(far.source->is_fetched());
  far.source->arrive();
  EXPECT_EQ(got(), 4.0);
  caf::anon_send_exit(asker, caf::exit_reason::user_shutdown);
}

TEST_F(fetching, what_is_here_is_not_fetched) {
  auto far = far_doubles(4);
  far.source->arrive();
  auto asker = ask_for(far.ref);
  EXPECT_EQ(got(), 4.0);
  EXPECT_EQ(far.source->fetches(), 0);
  caf::anon_send_exit(asker, caf::exit_reason::user_shutdown);
}

TEST_F(fetching, an_actor_gets_the_reason_why_not) {
  auto far = far_doubles(4);
  far.source->fail({node_errc::store_full, "no room"});
  auto asker = ask_for(far.ref);
  auto answer = got();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), node_errc::store_full);
  EXPECT_EQ(answer.error().message(), "no room");
  caf::anon_send_exit(asker, caf::exit_reason::user_shutdown);
}

TEST_F(fetching, an_actor_is_told_what_did_not_come_in_time) {
  auto far = far_doubles(4);
  auto asker = ask_for(far.ref, 5000ms);
  ASSERT_TRUE(far.source->is_fetched());
  far.source->run_out_of_time();
  auto answer = got();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), node_errc::fetch_timed_out);
  EXPECT_EQ(answer.error().message(), "still on its way"); // The source's own text.
  caf::anon_send_exit(asker, caf::exit_reason::user_shutdown);
}

TEST_F(fetching, an_actor_that_nobody_refers_to_is_told_what_did_not_come_in_time) {
  auto far = far_doubles(4);
  ask_for(far.ref, 5000ms);
  ASSERT_TRUE(far.source->is_fetched());
  far.source->run_out_of_time();
  auto answered = got_.get_future();
  ASSERT_EQ(answered.wait_for(10s), std::future_status::ready);
  const auto answer = answered.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), node_errc::fetch_timed_out);
  EXPECT_EQ(far.source->cancelled(), 0);
}

TEST_F(fetching, a_value_that_does_not_decode_is_an_error) {
  auto ref = home_.home->put(doubles(std::vector{1.0}));
  far_object<doubles> far(*ref, frame::copy_of(std::vector<std::byte>(5)));
  auto asker = ask_for(far.ref);
  ASSERT_TRUE(far.source->is_fetched());
  far.source->arrive();
  EXPECT_EQ(got().error().code(), node_errc::undecodable);
  caf::anon_send_exit(asker, caf::exit_reason::user_shutdown);
}

TEST_F(fetching, the_end_of_the_actor_cancels_its_fetch) {
  auto far = far_doubles(4);
  auto asker = ask_for(far.ref);
  ASSERT_TRUE(far.source->is_fetched());
  caf::anon_send_exit(asker, caf::exit_reason::user_shutdown);
  EXPECT_TRUE(far.source->is_left_alone());
  EXPECT_EQ(far.source->cancelled(), 1);
}

TEST_F(fetching, an_actor_may_await_the_value) {
  auto far = far_doubles(4);
  auto actor = home_.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    home_.home->fetch(self, far.ref)
        .await([this](const doubles& value) { got_.set_value(value[0]); },
               [this](caf::error& error) { got_.set_value(std::unexpected{to_node_error(error)}); });
    return {[](caf::unit_t) { return true; }};
  });
  ASSERT_TRUE(far.source->is_fetched());
  far.source->arrive();
  EXPECT_EQ(got(), 4.0);
  EXPECT_EQ(ask<bool>(home_.system, actor, caf::unit), true);
}

TEST_F(fetching, blocking_and_typed_actors_fetch_too) {
  auto far = far_doubles(4);
  caf::scoped_actor self{home_.system};
  auto handle = home_.home->fetch(self, far.ref, 10s);
  far.source->arrive();
  double first = 0;
  handle.receive([&](const doubles& value) { first = value[0]; }, [](const caf::error&) {});
  EXPECT_EQ(first, 4.0);

  using typed = caf::typed_actor<caf::replies_to<caf::unit_t>::with<double>>;
  auto actor = home_.system.spawn([&](typed::pointer me) -> typed::behavior_type {
    return {[&, me](caf::unit_t) -> caf::result<double> {
      auto promise = me->make_response_promise<double>();
      home_.home->fetch(me, far.ref, 10s).then([promise](const doubles& value) mutable { promise.deliver(value[0]); });
      return promise;
    }};
  });
  EXPECT_EQ(ask<double>(home_.system, caf::actor_cast<caf::actor>(actor), caf::unit), 4.0);
}

} // namespace
} // namespace troupe::tests
